# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The launch files of MAVROS and of px4_msgs: started where installed, said what is missing.

Neither MAVROS nor the agent installs from PyPI. MAVROS is played by a MAVLink client that binds and
sends on exactly the ports, and to the system, that it is started with; the agent by a program that
opens its port.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.companions import (
    AgentParameters,
    MavrosParameters,
    agent_program,
    mavros_programs,
    missing_messages,
)

INSTANCE = 66
LIMIT_S = 300.0  # of a loaded machine; no test waits for it to pass
AEROTWIN = [sys.executable, "-m", "aerotwin_core.cli"]
ROOT = Path(__file__).resolve().parents[1]

MAVROS = """#!PYTHON
import re, sys, time
from pathlib import Path
from pymavlink import mavutil

arguments = " ".join(sys.argv[1:])
(namespace,) = re.findall(r"__ns:=(\\S+)", arguments)
(bind, host, port) = re.findall(r"fcu_url:=udp://127.0.0.1:(\\d+)@([\\d.]+):(\\d+)", arguments)[0]
system = int(re.findall(r"tgt_system:=(\\d+)", arguments)[0])
link = mavutil.mavlink_connection(f"udpin:127.0.0.1:{bind}", source_system=1, source_component=240)
nan = float("nan")
due = 0.0
while True:
    if time.monotonic() > due:
        due = time.monotonic() + 1.0
        there = host, int(port)
        link.port.sendto(link.mav.heartbeat_encode(18, 8, 0, 0, 4).pack(link.mav), there)
        for number, first in ((22, nan), (400, 1.0)):
            command = link.mav.command_long_encode(
                system, 1, number, 0, first, 0, 0, nan, nan, nan, nan)
            link.port.sendto(command.pack(link.mav), there)
    message = link.recv_match(type="GLOBAL_POSITION_INT", blocking=True, timeout=0.5)
    if message is not None and message.relative_alt > 500:
        seen = f"{namespace} system {message.get_srcSystem()} of {system}"
        Path("OUT", f"{bind}.txt").write_text(seen)
        time.sleep(3600.0)
"""


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An installed MAVROS, as far as it is looked at; its program is a MAVLink client."""
    root = tmp_path / "ros"
    marker = root / "share/ament_index/resource_index/packages/mavros"
    program = root / "lib/mavros/mavros_node"
    settings = root / "share/mavros/launch/px4_config.yaml"
    for path in (marker, program, settings, tmp_path / "geoids/egm96-5.pgm"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    settings.write_text("/mavros/**/conn:\n  ros__parameters:\n    timeout: 10.0\n")
    program.write_text(MAVROS.replace("PYTHON", sys.executable).replace("OUT", str(tmp_path)))
    program.chmod(0o755)
    return root


def environment_of(prefix: Path) -> dict[str, str]:
    prefixes = f"{prefix}:{os.environ.get('AMENT_PREFIX_PATH', '')}"
    return {
        **os.environ,
        "AMENT_PREFIX_PATH": prefixes,
        "GEOGRAPHICLIB_GEOID_PATH": str(prefix.parent / "geoids"),
    }


def launch(name: str, folder: Path, environment: dict[str, str], *tokens: str) -> subprocess.Popen:
    command = [*AEROTWIN, "launch", str(ROOT / "launch" / name)]
    command += [f"instance:={INSTANCE}", f"runs_dir:={folder}/runs", f"log_folder:={folder}/logs"]
    with (folder / "launch.txt").open("w") as output:
        return subprocess.Popen(
            [*command, *tokens],
            env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip


def wait_for(process: subprocess.Popen, files: list[Path], folder: Path) -> None:
    end = time.monotonic() + LIMIT_S
    while not all(path.is_file() and path.read_text() for path in files):
        text = (folder / "launch.txt").read_text()
        assert process.poll() is None, text
        assert time.monotonic() < end, text
        time.sleep(0.2)


def stop(process: subprocess.Popen) -> int:
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(LIMIT_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2])
def test_each_vehicle_is_commanded_by_its_own_mavros(n, prefix, tmp_path, coarse_world):
    tokens = [f"world:={coarse_world}", f"instances:={n}"]
    process = launch("mavros.launch.yaml", tmp_path, environment_of(prefix), *tokens)
    ports = [24540 + INSTANCE + k for k in range(n)]
    seen = [tmp_path / f"{port}.txt" for port in ports]
    try:
        wait_for(process, seen, tmp_path)
    finally:
        code = stop(process)
    names = ["/mavros"] if n == 1 else [f"/uav{k}/mavros" for k in range(n)]
    systems = [INSTANCE + 1 + k for k in range(n)]
    expected = [f"{name} system {s} of {s}" for name, s in zip(names, systems, strict=True)]
    assert [path.read_text() for path in seen] == expected
    assert code == 130, (tmp_path / "launch.txt").read_text()


def is_mavros_installed() -> bool:
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return any((Path(prefix) / "lib/mavros/mavros_node").is_file() for prefix in prefixes)


@pytest.mark.ros
@pytest.mark.skipif(is_mavros_installed(), reason="MAVROS is installed here")
def test_without_mavros_the_launch_ends_and_says_how_to_install_it(tmp_path, coarse_world):
    tokens = [f"world:={coarse_world}"]
    process = launch("mavros.launch.yaml", tmp_path, dict(os.environ), *tokens)
    code = process.wait(LIMIT_S)
    text = (tmp_path / "launch.txt").read_text()
    assert code not in (0, 130), text
    assert "package 'mavros'" in text
    assert "sudo apt install ros-" in text


def test_what_is_missing_of_mavros_is_named(prefix, tmp_path):
    parameters = MavrosParameters(log_folder=str(tmp_path / "logs"))
    with pytest.raises(UserError, match=r"package 'mavros'.*apt install ros-kilted-mavros"):
        mavros_programs(parameters, {"ROS_DISTRO": "kilted"})
    environment = {
        "AMENT_PREFIX_PATH": str(prefix), "GEOGRAPHICLIB_GEOID_PATH": str(tmp_path / "none"),
    }  # fmt: skip
    with pytest.raises(UserError, match=r"egm96-5\.pgm is in none of .*none.*install_geographic"):
        mavros_programs(parameters, environment)


def test_ports_of_vehicles_and_settings_in_every_namespace(prefix, tmp_path):
    parameters = MavrosParameters(instance=9, instances=2, log_folder=str(tmp_path / "logs"))
    first, second = mavros_programs(parameters, environment_of(prefix))
    assert "fcu_url:=udp://127.0.0.1:14549@127.0.0.1:14589" in first.command
    assert "fcu_url:=udp://127.0.0.1:24550@127.0.0.1:14590" in second.command
    assert "__ns:=/uav1/mavros" in second.command
    assert "tgt_system:=11" in second.command
    settings = (tmp_path / "logs/px4_config.yaml").read_text()
    assert settings.startswith("/**/conn:")


@pytest.fixture
def px4(tmp_path: Path) -> Path:
    """A build of PX4, as far as it is looked at."""
    build = tmp_path / "px4"
    for name in ("bin/px4", "bin/px4-uxrce_dds_client", "etc/init.d-posix/rcS"):
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_text("#!/bin/sh\n")
        (build / name).chmod(0o755)
    return build


def test_what_is_missing_of_the_agent_is_named(px4, tmp_path):
    parameters = AgentParameters(px4_dir=str(px4))
    with pytest.raises(UserError, match=r"none of MicroXRCEAgent.*snap install"):
        agent_program(parameters, {"PATH": str(tmp_path)})
    (px4 / "bin/px4-uxrce_dds_client").unlink()
    with pytest.raises(UserError, match=r"built without the module uxrce_dds_client; build"):
        agent_program(parameters, {"PATH": str(tmp_path)})
    assert "build PX4/px4_msgs" in missing_messages({})


@pytest.mark.parametrize("name", ["MicroXRCEAgent", "micro-xrce-dds-agent", "micro_ros_agent"])
def test_an_agent_is_found_however_it_was_installed(name, px4, tmp_path):
    folder = tmp_path / ("lib/micro_ros_agent" if name == "micro_ros_agent" else "bin")
    folder.mkdir(parents=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    environment = {"PATH": str(tmp_path / "bin"), "AMENT_PREFIX_PATH": str(tmp_path)}
    program = agent_program(AgentParameters(px4_dir=str(px4), port=8899), environment)
    assert program.command == [str(folder / name), "udp4", "--port", "8899"]
