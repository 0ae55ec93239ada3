# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What PX4 reads and leaves. Oracle: a shell that runs the scripts with commands of its own."""

import subprocess
from math import inf, nan

import pytest

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.process import external_vision_parameters
from aerotwin_px4_bridge.px4_files import (
    LINKS,
    collect_ulogs,
    mavlink_script,
    offboard_port,
    parameter_script,
)


def _run(script: str, instance: int) -> list[list[str]]:
    """Return the commands that a script gives, as PX4's start-up would."""
    commands = "mavlink() { echo mavlink $@; }\nparam() { echo param $@; }\n"
    text = f"{commands}px4_instance={instance}\n{script}"
    done = subprocess.run(["sh", "-eu", "-c", text], capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def _ports(script: str, instance: int) -> dict[str, str | None]:
    """Return local port -> remote port of the links that are started."""
    started = [tokens for tokens in _run(script, instance) if tokens[:2] == ["mavlink", "start"]]
    return {
        tokens[tokens.index("-u") + 1]: tokens[tokens.index("-o") + 1] if "-o" in tokens else None
        for tokens in started
    }


@pytest.mark.parametrize(
    ("instance", "ports"),
    [
        (0, {"14280": "14030", "18570": None, "14580": "14540", "13030": "13280"}),
        (9, {"14289": "14039", "18579": None, "14589": "14549", "13039": "13289"}),
        (10, {"14290": "14040", "18580": None, "14590": "24550", "13040": "13290"}),
        (25, {"14305": "14055", "18595": None, "14605": "24565", "13055": "13305"}),
    ],
)
def test_every_vehicle_has_ports_of_its_own(instance, ports):
    assert _ports(mavlink_script(list(LINKS)), instance) == ports


def test_no_two_of_200_vehicles_share_a_port():
    used = [14550]
    for i in range(200):
        used += [4560 + i, 14280 + i, 14030 + i, 18570 + i, 14580 + i, offboard_port(i)]
        used += [13030 + i, 13280 + i]
    assert len(used) == len(set(used))


def test_without_more_links_only_the_onboard_one_is_opened():
    assert _ports(mavlink_script([]), 3) == {"14283": "14033"}
    assert _ports(mavlink_script(["offboard"]), 3) == {"14283": "14033", "14583": "14543"}


def test_the_offboard_port_of_the_script_is_the_one_that_is_reported():
    for instance in (0, 9, 10, 120):
        ports = _ports(mavlink_script(["offboard"]), instance)
        assert ports[str(14580 + instance)] == str(offboard_port(instance))


def test_a_link_that_does_not_exist_is_reported():
    with pytest.raises(UserError, match="expected some of ground, offboard, gimbal, found tcp"):
        mavlink_script(["tcp"])


def test_parameters_are_set_by_name_and_value():
    script = parameter_script({"EKF2_EV_CTRL": 15, "MPC_THR_HOVER": 0.70251, "A_BIG_ONE": 1048577})
    assert _run(script, 0) == [
        ["param", "set", "EKF2_EV_CTRL", "15"],
        ["param", "set", "MPC_THR_HOVER", "0.70251"],
        ["param", "set", "A_BIG_ONE", "1048577"],
    ]


@pytest.mark.parametrize("name", ["A B", "A;B", "", "$(x)", "A" * 17])
def test_a_name_that_is_none_is_reported(name):
    with pytest.raises(UserError, match="PX4 parameter"):
        parameter_script({name: 1.0})


@pytest.mark.parametrize("value", [nan, inf])
def test_a_value_that_is_no_number_is_reported(value):
    with pytest.raises(UserError, match="MPC_XY_VEL_MAX: expected a number"):
        parameter_script({"MPC_XY_VEL_MAX": value})


def test_external_vision_alone_replaces_gnss_and_height():
    alone = external_vision_parameters(delay_s=0.05)
    assert (alone["EKF2_EV_CTRL"], alone["EKF2_EV_DELAY"]) == (15, 50.0)
    assert (alone["EKF2_GPS_CTRL"], alone["EKF2_HGT_REF"]) == (0, 3)
    assert "EKF2_GPS_CTRL" not in external_vision_parameters(with_gnss=True)


def test_every_log_is_copied_into_the_run_folder_in_order(tmp_path):
    """PX4 begins a log at each arming; an empty one is none."""
    folder = tmp_path / "px4_3" / "log"
    for n, name in enumerate(["1970-01-01/00_00_01.ulg", "1970-01-02/00_00_00.ulg"]):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"ULog" + bytes([n]))
    (folder / "empty.ulg").touch()
    copied = collect_ulogs(tmp_path, 3)
    assert copied == [tmp_path / "px4_3.ulg", tmp_path / "px4_3_2.ulg"]
    assert [path.read_bytes() for path in copied] == [b"ULog\x00", b"ULog\x01"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["px4_3", "px4_3.ulg", "px4_3_2.ulg"]


def test_no_log_is_no_file(tmp_path):
    assert collect_ulogs(tmp_path, 0) == []
