# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Diagnoses of an ArduPilot, on messages made by pymavlink and on a real one."""

import json
import os
import threading
import time
from argparse import ArgumentParser
from itertools import count

import numpy as np
import pytest
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from aerotwin_ardupilot_bridge import (
    ArduPilotHome,
    JsonLink,
    ardupilot_process,
    find_frame,
    json_port,
)
from aerotwin_ardupilot_bridge.process import frame_parameters
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_doctor import ardupilot_checks, doctor_command, installation
from aerotwin_doctor.check import FAIL, OK, WARN
from aerotwin_doctor.link_checks import link_checks
from aerotwin_doctor.link_record import LinkRecord
from aerotwin_multirotor_dynamics import load_airframe

SYSTEM, INSTANCE = 3, 33
POINT = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
FASTER = 4.0
VALID = (
    mavlink.EKF_ATTITUDE | mavlink.EKF_VELOCITY_HORIZ | mavlink.EKF_POS_HORIZ_ABS
    | mavlink.EKF_POS_VERT_ABS
)  # fmt: skip
GUIDED = 4


def received(*messages) -> LinkRecord:
    record = LinkRecord(SYSTEM)
    sender, receiver = mavlink.MAVLink(None, SYSTEM, 1), mavlink.MAVLink(None)
    for message in messages:
        for parsed in receiver.parse_buffer(message.pack(sender)) or []:
            record.on_message(parsed)
    return record


def heartbeat():
    return mavlink.MAVLink_heartbeat_message(
        2, mavlink.MAV_AUTOPILOT_ARDUPILOTMEGA, 1, GUIDED, 3, 3
    )


def report(flags=VALID, height=0.1):
    return mavlink.MAVLink_ekf_status_report_message(flags, 0.1, 0.2, height, 0.1, 0.0)


def parameters(**values):
    return [
        mavlink.MAVLink_param_value_message(name.encode(), value, 9, 1, 0)
        for name, value in values.items()
    ]


def test_its_modes_have_its_own_names():
    checks = {c.name: c for c in link_checks(received(heartbeat()), [14550], is_connected=False)}
    assert "(ArduPilot)" in checks["link.heartbeat"].message
    assert "mode GUIDED, disarmed" in checks["link.state"].message


@pytest.mark.parametrize(
    ("messages", "state", "innovations"),
    [
        ([report()], OK, OK),
        ([report(flags=mavlink.EKF_ATTITUDE)], FAIL, OK),
        ([report(height=1.3)], OK, FAIL),
        ([], FAIL, None),
    ],
)
def test_its_filter_is_judged_by_its_own_report(messages, state, innovations):
    checks = ardupilot_checks.ekf3_checks(received(heartbeat(), *messages))
    assert [check.status for check in checks] == [one for one in (state, innovations) if one]


def test_the_sensors_that_it_makes_itself_are_named_with_their_parameters():
    record = received(heartbeat(), *parameters(SIM_BARO_RND=0.25, SIM_GPS1_LAG_MS=110))
    message = ardupilot_checks.own_sensors_check(record).message
    assert "barometer, magnetometer and GNSS itself (SIM_BARO_RND 0.25, SIM_GPS1_LAG_MS 110)" in (
        message
    )


@pytest.mark.parametrize(
    ("found", "airframe", "status"),
    [
        ({"FRAME_CLASS": 1, "FRAME_TYPE": 1}, "iris", OK),
        ({"FRAME_CLASS": 1, "FRAME_TYPE": 0}, "iris", FAIL),
        ({}, "iris", WARN),
        ({"FRAME_CLASS": 2, "FRAME_TYPE": 1}, "firefly", FAIL),
    ],
)
def test_its_frame_is_compared_with_the_airframe(found, airframe, status):
    record = received(heartbeat(), *parameters(**found))
    assert ardupilot_checks.frame_check(record, airframe).status == status


def test_an_arducopter_that_is_named_must_be_there(tmp_path, monkeypatch):
    monkeypatch.delenv("ARDUPILOT_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert installation.ardupilot_check().status == OK
    failed = installation.ardupilot_check(str(tmp_path))
    assert failed.status == FAIL and "looked for" in failed.message
    program = tmp_path / "arducopter"
    program.write_text("")
    program.chmod(0o755)
    assert str(program) in installation.ardupilot_check(str(tmp_path)).message


class AtRest:
    """A vehicle at rest, fed to a real ArduCopter by a thread, at four times real time."""

    def __init__(self, folder) -> None:
        self._is_over = threading.Event()
        self._folder, self._thread = folder, threading.Thread(target=self._run)
        self.error = None

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join(30.0)
        assert self.error is None

    def _run(self):
        try:
            self._feed()
        except Exception as error:
            self.error = error

    def _feed(self):
        home = ArduPilotHome(POINT, LocalTangentPlane(POINT))
        airframe = load_airframe("iris")
        frame = find_frame([(rotor.position_m, rotor.spin) for rotor in airframe.rotors])
        process = ardupilot_process(
            "", INSTANCE, self._folder, home=home, client_port=14980,
            parameters=frame_parameters(frame, hover_thrust=0.3, speed_offset=0.1),
            ground_station_port=14550 + 10 * INSTANCE,
        )  # fmt: skip
        motion = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        imu = np.array([0.0, 0.0, 9.80665, 0.0, 0.0, 0.0])
        with JsonLink(json_port(INSTANCE), home) as link, process:
            link.accept(30.0, lambda _: process.check())
            begin = time.monotonic()
            for step in count(1):
                if self._is_over.is_set():
                    return
                link.send(0.001 * step, motion, imu)
                link.answer(process.check)
                if step % 100 == 0:
                    time.sleep(max(0.0, begin + 0.001 * step / FASTER - time.monotonic()))


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.skipif(
    not os.environ.get("ARDUPILOT_DIR"), reason="real ArduPilot not present: set ARDUPILOT_DIR"
)
def test_a_real_one_is_heard_where_a_ground_station_would_hear_it(tmp_path):
    checks = {}
    with AtRest(tmp_path):
        end_s = time.monotonic() + 60.0
        while checks.get("geometry.frame", {}).get("status") != OK:
            assert time.monotonic() < end_s, checks
            checks = listen(tmp_path / "checks.json")
    assert "(ArduPilot 4." in checks["link.heartbeat"]["message"]
    assert "SIM_BARO_RND" in checks["sensors.own"]["message"]
    assert {checks[f"sensors.{name}"]["status"] for name in ("accelerometer", "gyroscope")} <= {
        OK, WARN,
    }  # fmt: skip
    assert "sensors.magnetometer" not in checks
    assert checks["link.pace"]["status"] == OK


def listen(path):
    parser = ArgumentParser()
    doctor_command.configure(parser)
    tokens = ["--only", "link", "--instance", str(INSTANCE), "--json", str(path)]
    doctor_command.run(parser.parse_args(tokens))
    return {check["name"]: check for check in json.loads(path.read_text())["checks"]}
