# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where ArduCopter is looked for, and with what it is started."""

import math

import pytest

from aerotwin_ardupilot_bridge import ArduPilotHome, ardupilot_process, find_ardupilot
from aerotwin_ardupilot_bridge.frames import find_frame
from aerotwin_ardupilot_bridge.process import frame_parameters, parameter_text
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import load_airframe

POINT = GeodeticPoint(latitude_deg=-33.123456789, longitude_deg=151.2, altitude_m=12.345)
HOME = ArduPilotHome(POINT, LocalTangentPlane(POINT))


@pytest.fixture
def tree(tmp_path):
    program = tmp_path / "ardupilot" / "build" / "sitl" / "bin" / "arducopter"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    return tmp_path / "ardupilot"


@pytest.mark.parametrize("inside", ["", "build/sitl/bin", "build/sitl/bin/arducopter"])
def test_a_tree_a_folder_and_a_program_are_found(tree, inside):
    program = tree / "build/sitl/bin/arducopter"
    assert find_ardupilot(str(tree / inside)).program == program
    from_environment = find_ardupilot("", {"ARDUPILOT_DIR": str(tree / inside)})
    assert (from_environment.program, from_environment.origin) == (program, "ARDUPILOT_DIR")


def test_what_is_not_there_is_said_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UserError, match=r"ardupilot: looked for .*waf configure --board sitl"):
        find_ardupilot(str(tmp_path))
    with pytest.raises(UserError, match="ARDUPILOT_DIR: looked for"):
        find_ardupilot("", {"ARDUPILOT_DIR": str(tmp_path)})
    with pytest.raises(UserError, match="ardupilot: found none in ardupilot, "):
        find_ardupilot("", {})


def test_its_command_opens_no_port_for_others(tree, tmp_path):
    process = ardupilot_process(
        str(tree), 3, tmp_path / "run", home=HOME, client_port=14033, parameters={"FRAME_CLASS": 1}
    )
    command = " ".join(process.command)
    assert "-I 3 --sysid 4" in command and "--serial0 udpclient:127.0.0.1:14033" in command
    assert "--home -33.1234568,151.2000000,12.35,0.00" in command or "12.34," in command
    assert "tcp" not in command and "--serial1 none:" in command and "--serial2 none:" in command
    assert process.cwd == (tmp_path / "run" / "ardupilot_3").resolve()
    assert (process.cwd / "parameters.parm").read_text() == "FRAME_CLASS 1\n"


def test_a_ground_station_is_sent_to_where_asked(tree, tmp_path):
    process = ardupilot_process(
        str(tree), 0, tmp_path, home=HOME, client_port=14030, parameters={},
        ground_station_port=14550,
    )  # fmt: skip
    assert "udpclient:127.0.0.1:14550" in process.command


def test_the_curve_of_thrust_is_that_of_the_rotors():
    airframe = load_airframe("iris")
    offset = airframe.motor.armed_speed_rad_s / (
        airframe.motor.armed_speed_rad_s + airframe.motor.speed_per_command_rad_s
    )
    frame = find_frame([(rotor.position_m, rotor.spin) for rotor in airframe.rotors])
    found = frame_parameters(frame, hover_thrust=0.5, speed_offset=offset)
    e = found["MOT_THST_EXPO"]
    for u in (0.0, 0.25, 0.5, 1.0):
        speed = offset + (1.0 - offset) * u
        thrust = (speed**2 - offset**2) / (1.0 - offset**2)
        assert (1.0 - e) * u + e * u**2 == pytest.approx(thrust, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "value"), [("A" * 17, 1.0), ("FRAME CLASS", 1.0), ("X\nY", 1.0), ("RATE", math.inf)]
)
def test_what_can_be_no_parameter_is_refused(name, value):
    with pytest.raises(UserError, match="ArduPilot parameter"):
        parameter_text({name: value})
