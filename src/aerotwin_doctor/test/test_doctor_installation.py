# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os
import socket
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from aerotwin_doctor import installation, machine, ports
from aerotwin_doctor.check import FAIL, OK, WARN
from aerotwin_px4_bridge import px4_install

ROOT = Path(__file__).resolve().parents[3]
PIN = {"numpy": ("==", "2.4.6")}


@pytest.mark.parametrize(
    ("version", "status"), [((3, 10), FAIL), ((3, 11), OK), ((3, 12), OK), ((3, 13), FAIL)]
)
def test_only_a_tested_python_is_well(version, status):
    assert installation.python_check(version).status == status


def test_the_requirements_of_the_workspace_are_read():
    pins = installation.pinned_versions((ROOT / "requirements.txt").read_text())
    assert pins["ros-rclpy"][0] == "=="
    assert pins["setuptools"] == ("==", "79.0.1")
    ros = installation.pinned_versions((ROOT / "requirements-ros.txt").read_text())
    assert ros["numpy"] == ("<", "2")


@pytest.mark.parametrize(
    ("pins", "found", "status"),
    [
        (PIN, "2.4.6", OK),
        (PIN, "2.4.6+local", OK),
        (PIN, "2.4.5", WARN),
        (PIN, None, FAIL),
        ({"numpy": ("<", "2")}, "1.26.4", OK),
        ({"numpy": ("<", "2")}, "2.0.0", WARN),
    ],
)
def test_another_version_is_reported_and_a_missing_one_fails(pins, found, status):
    check = installation.version_check(pins, lambda _: found)
    assert check.status == status
    assert status == OK or "numpy" in check.message


@pytest.mark.parametrize(("found", "status"), [("79.0.1", OK), ("80.0.0", FAIL), (None, WARN)])
def test_setuptools_from_80_on_fails(found, status):
    assert installation.setuptools_check(found).status == status


def test_what_does_not_load_is_named_with_its_reason():
    def load(name):
        if name == "rclpy":
            raise ImportError("librcl.so: cannot open shared object file")

    check = installation.import_check(["numpy", "rclpy"], load)
    assert check.status == FAIL
    assert "rclpy (librcl.so" in check.message and "numpy" not in check.message


def test_a_missing_library_is_named_by_its_debian_package():
    def load(library):
        if library.startswith("libEGL"):
            raise OSError

    check = installation.library_check(load)
    assert check.status == FAIL
    assert "libegl1" in check.way_out and "libgl1" not in check.way_out


def test_the_modules_come_from_the_manifests(tmp_path):
    share = tmp_path / "share/aerotwin_x"
    share.mkdir(parents=True)
    (share / "package.xml").write_text(
        "<package><exec_depend>python3-opencv</exec_depend><exec_depend>rclpy</exec_depend>"
        "<export><aerotwin_python>numba</aerotwin_python></export></package>"
    )
    assert installation.needed_modules(str(tmp_path)) == ["cv2", "numba", "rclpy"]


def test_a_verb_that_cannot_be_loaded_fails():
    good = EntryPoint("a", "aerotwin_core.cli", "aerotwin.commands")
    bad = EntryPoint("b", "aerotwin_core.no_such_module", "aerotwin.commands")
    assert installation.commands_check([good]).status == OK
    assert "b (" in installation.commands_check([good, bad]).message
    assert installation.commands_check([]).status == FAIL


def test_a_node_that_is_declared_and_not_installed_fails(tmp_path):
    check = installation.nodes_check(str(tmp_path))
    assert check.status == FAIL
    assert "aerotwin_bringup/sitl_flight" in check.message


def test_kernels_that_are_not_compiled_yet_are_a_warning(tmp_path):
    check = installation.kernels_check(tmp_path)
    assert check.status == WARN and "no kernel" in check.message
    (tmp_path / "package/__pycache__").mkdir(parents=True)
    (tmp_path / "package/__pycache__/kernel.nbc").touch()
    check = installation.kernels_check(tmp_path)
    assert check.status == OK and "1 compiled" in check.message


def test_one_processor_is_a_warning():
    assert machine.processor_check({3}).status == WARN
    assert machine.processor_check({0, 1}).status == OK


@pytest.mark.parametrize(("free", "status"), [(10**8, FAIL), (2 * 10**9, WARN), (10**11, OK)])
def test_a_full_disk_fails(tmp_path, free, status):
    assert machine.disk_check(tmp_path, free).status == status


def test_little_shared_memory_fails_and_left_overs_are_reported(tmp_path):
    assert machine.shared_memory_check(tmp_path, 64 * machine.MIB).status == FAIL
    with (tmp_path / "fastdds_left").open("wb") as left:
        left.truncate(300 * machine.MIB)
    check = machine.shared_memory_check(tmp_path, machine.GIB)
    assert check.status == WARN and "shm clean" in check.way_out


@pytest.mark.parametrize(
    ("environment", "status"),
    [
        ({}, OK),
        ({"FASTDDS_DEFAULT_PROFILES_FILE": "nowhere.xml"}, FAIL),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}, FAIL),
        ({"ROS_LOCALHOST_ONLY": "1"}, WARN),
        ({"AEROTWIN_NETWORK": "loopback"}, OK),
        ({"AEROTWIN_NETWORK": "lan"}, WARN),
        ({"AEROTWIN_NETWORK": "moon"}, FAIL),
    ],
)
def test_settings_of_dds(environment, status):
    assert machine.dds_settings_check(environment).status == status


@pytest.mark.parametrize(
    ("domain", "status"),
    [("0", OK), ("25", OK), ("27", FAIL), ("28", FAIL), ("44", FAIL), ("x", FAIL), ("150", WARN)],
)
def test_a_domain_whose_ports_are_those_of_mavlink_fails(domain, status):
    mavlink = set(ports.udp_ports(0).values())
    check = machine.domain_check(mavlink, {"ROS_DOMAIN_ID": domain})
    assert check.status == status
    if domain.isdecimal() and int(domain) < 100:  # oracle: every port of the domain, one by one
        of_domain = {7400 + 250 * int(domain) + offset for offset in range(250)}
        assert (status == FAIL) == bool(of_domain & mavlink)


def test_a_held_port_is_reported_with_its_holder():
    instance = 187
    assert ports.ports_check([], instance).status == OK  # a flight beside may hold 14550
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
        endpoint.bind(("127.0.0.1", ports.AUTOPILOT_PORTS["onboard"] + instance))
        check = ports.ports_check(ports.endpoints(), instance)
    assert check.status == WARN
    assert f"UDP {14280 + instance} (onboard)" in check.message
    assert f"pid {os.getpid()}" in check.message


def test_a_simulator_without_autopilot_fails_and_one_with_it_is_well():
    instance = 188
    assert ports.hil_check(ports.endpoints(), instance) is None
    with socket.socket() as simulator:
        simulator.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        simulator.bind(("127.0.0.1", ports.HIL_PORT + instance))
        simulator.listen(1)
        assert ports.hil_check(ports.endpoints(), instance).status == FAIL
        with socket.create_connection(simulator.getsockname()):
            check = ports.hil_check(ports.endpoints(), instance)
    assert check.status == OK and str(ports.HIL_PORT + instance) in check.message


def make_px4(build: Path, tag: str = "v1.14.3") -> Path:
    """Make a build with lockstep, as far as files show it."""
    for path in ("bin/px4", "etc/init.d-posix/rcS", "etc/init.d-posix/airframes/10016_none_iris"):
        (build / path).parent.mkdir(parents=True, exist_ok=True)
        (build / path).write_bytes(b"LockstepScheduler::set_absolute_time")
        (build / path).chmod(0o755)
    header = build / "src/lib/version/build_git_version.h"
    header.parent.mkdir(parents=True)
    header.write_text(f'#define PX4_GIT_TAG_STR "{tag}"\n')
    return build


@pytest.fixture
def no_px4(monkeypatch, tmp_path):
    """Hide the PX4 of this machine."""
    monkeypatch.delenv(px4_install.VARIABLE, raising=False)
    monkeypatch.setattr(px4_install, "USUAL_PLACES", (str(tmp_path / "usual"),))
    return tmp_path


@pytest.mark.parametrize(
    ("tag", "status"), [("v1.14.3-dirty", OK), ("v1.15.0", OK), ("v1.13.2", FAIL), ("?", WARN)]
)
def test_a_px4_build_is_judged_by_its_version(tmp_path, tag, status):
    make_px4(tmp_path / px4_install.PX4_BUILD, tag)
    assert installation.px4_check(str(tmp_path)).status == status


def test_a_source_tree_a_build_folder_and_a_prefix_are_found_and_named(no_px4):
    assert "none found" in installation.px4_check().message
    build = make_px4(no_px4 / "usual" / px4_install.PX4_BUILD)
    check = installation.px4_check()
    assert f"source tree {build} (found in a usual place" in check.message
    assert "with lockstep" in check.message
    prefix = make_px4(no_px4 / "px4")
    assert f"installed {prefix} (px4_dir)" in installation.px4_check(str(prefix)).message
    (build / "CMakeCache.txt").touch()
    assert f"build folder {build}" in installation.px4_check(str(build)).message


def test_a_px4_that_would_not_wait_for_the_simulator_fails(no_px4):
    build = make_px4(no_px4 / "px4")
    (build / "boardconfig").write_text("CONFIG_BOARD_NOLOCKSTEP=y\n")
    check = installation.px4_check(str(build))
    assert (check.status, "built without lockstep" in check.message) == (FAIL, True)


def test_a_folder_without_px4_fails(tmp_path, monkeypatch):
    assert "make px4_sitl_default" in installation.px4_check(str(tmp_path)).way_out
    monkeypatch.setenv(px4_install.VARIABLE, str(tmp_path))
    assert "PX4_DIR: looked for" in installation.px4_check().message


@pytest.mark.skipif("PX4_DIR" not in os.environ, reason="real PX4 not present: set PX4_DIR")
def test_the_real_px4_build_is_well():
    assert installation.px4_check(os.environ["PX4_DIR"]).status == OK
