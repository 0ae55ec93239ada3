# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVSDK's examples on the embedded autopilot and on a real PX4: like verdicts, or a known other.

One flight per autopilot; a client process goes through all examples in it. PX4 flies where PX4_DIR
names a folder in which v1.14 was built.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_multirotor_dynamics import hover_command, load_airframe
from aerotwin_px4_bridge import offboard_port, px4_process, rotor_parameters
from aerotwin_px4_bridge.link import HIL_PORT, HilLink
from aerotwin_px4_bridge.process import embedded_process

PX4 = pytest.mark.skipif(
    "PX4_DIR" not in os.environ,
    reason="real PX4 not present: set PX4_DIR to a built PX4-Autopilot",
)
both = pytest.mark.parametrize(
    "verdicts", ["embedded", pytest.param("px4", marks=PX4)], indirect=True
)
pytestmark = pytest.mark.slow

HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
INSTANCE = {"embedded": 5, "px4": 6}
"""Below ten: PX4 gives all vehicles from there on one offboard port."""
SPEED = 5.0
"""Times real time: MAVSDK's timeouts run on the wall clock, so not as fast as possible."""
LIMIT_S = 600.0
CONNECT_S = 120.0

EXPECTED = {
    "telemetry": {
        "streams": [
            "altitude", "armed", "attitude_angular_velocity_body", "attitude_euler",
            "attitude_quaternion", "battery", "fixedwing_metrics", "flight_mode", "gps_info",
            "heading", "health", "health_all_ok", "home", "imu", "in_air", "landed_state",
            "odometry", "position", "position_velocity_ned", "raw_gps", "rc_status",
            "scaled_pressure", "unix_epoch_time", "velocity_ned", "vtol_state",
        ],
        "this century": True,
    },
    "info": {"version": [1, 14, 3], "product": "SUCCESS", "identification": "SUCCESS"},
    "params": {
        "set": "SUCCESS", "kept": True, "restored": "SUCCESS", "integer": "SUCCESS",
        "unknown": "DOES_NOT_EXIST", "all": True,
    },
    "ftp": {
        "list": "SUCCESS", "no such folder": "FILE_DOES_NOT_EXIST",
        "remove": "FILE_DOES_NOT_EXIST",
    },
    "geofence": {
        "upload": "SUCCESS", "polygons": [4], "circles": [80], "two corners": "INVALID_ARGUMENT",
        "clear": "SUCCESS",
    },
    "offboard_refused": {"without set-point": "NO_SETPOINT_SET"},
    "takeoff_and_land": {"in air": [False, True, False], "goto": "SUCCESS"},
    "offboard_position": {"start": "SUCCESS", "mode": "OFFBOARD", "stop": "SUCCESS"},
    "offboard_velocity": {"start": "SUCCESS", "stop": "SUCCESS"},
    "offboard_attitude": {"start": "SUCCESS", "stop": "SUCCESS"},
    "orbit": {"result": "SUCCESS", "clockwise": True, "mode": "POSCTL", "hold": "SUCCESS"},
    "mission": {
        "upload": "SUCCESS", "download": 4, "loiter": 3.0, "start": "SUCCESS",
        "progress": [4, 4], "clear": "SUCCESS",
    },
    "survey": {
        "upload": "SUCCESS", "start": "SUCCESS", "progress": [14, 14], "download": 14,
        "unknown item": "UNSUPPORTED",
    },
    "follow_me": {"start": "COMMAND_DENIED", "stop": "SUCCESS"},
    "geofence_breach": {"upload": "SUCCESS", "mode": "HOLD"},
    "return_to_launch": {"result": "SUCCESS", "at home": True},
    "logs": {"logs": True, "comes": True},
}  # fmt: skip
"""What MAVSDK says of the embedded autopilot."""

OTHERWISE_ON_PX4 = {
    "params": {"unknown": "TIMEOUT"},  # v1.14 does not answer
    "follow_me": {"start": "SUCCESS"},  # not there in the embedded autopilot: refused
}
"""Where PX4 v1.14.3 differs; docs/reference/autopilot.md says the same."""


def start(kind: str, folder: Path):
    """Return the process of an autopilot, to be started."""
    instance = INSTANCE[kind]
    if kind == "embedded":
        command = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
        return embedded_process(instance, folder, command=command)
    iris = load_airframe("iris")
    parameters = rotor_parameters(
        [(rotor.position_m, rotor.spin) for rotor in iris.rotors],
        iris.propeller.torque_per_thrust_m,
    )
    parameters["MPC_THR_HOVER"] = hover_command(iris)
    return px4_process(
        Path(os.environ["PX4_DIR"]), instance, folder, home=HOME, speed_factor=SPEED,
        parameters=parameters, gnss_delay_s=0.11, links=("offboard",),
    )  # fmt: skip


def lockstep(vehicle, link: HilLink, stop: threading.Event) -> None:
    """Step the vehicle at SPEED times real time until told to stop."""
    commands, is_armed = (0.0,) * 4, False
    began = time.monotonic()
    while not stop.is_set():
        vehicle.step(commands, is_armed=is_armed)
        link.send(vehicle.time_us, vehicle.frames())
        answer = link.answer()
        if answer is not None:
            commands, is_armed = answer.controls[:4], answer.is_armed
        if vehicle.time_us % 100_000 == 0:
            ahead = vehicle.time_us * 1e-6 / SPEED - (time.monotonic() - began)
            if ahead > 0.0:
                time.sleep(ahead)


@pytest.fixture(scope="module")
def verdicts(request, tmp_path_factory, simulated_vehicle) -> dict[str, dict]:
    """Fly all examples; return what the client said of each."""
    pytest.importorskip("mavsdk")
    kind = request.param
    link = HilLink(HIL_PORT + INSTANCE[kind], free_run=kind == "px4")
    process = start(kind, tmp_path_factory.mktemp(kind))
    vehicle, stop = simulated_vehicle(seed=3), threading.Event()
    simulation = threading.Thread(target=lockstep, args=(vehicle, link, stop))
    with link, process:
        link.accept(CONNECT_S, lambda _: process.check())
        simulation.start()
        try:
            client = subprocess.run(
                [sys.executable, str(Path(__file__).with_name("mavsdk_examples.py")),
                 str(offboard_port(INSTANCE[kind]))],
                capture_output=True, text=True, timeout=LIMIT_S, check=False,
            )  # fmt: skip
        finally:
            stop.set()
            simulation.join()
    assert client.returncode == 0, client.stdout + client.stderr
    assert not vehicle.body.is_crashed
    found = [json.loads(line) for line in client.stdout.splitlines() if line.startswith("{")]
    return {"kind": kind, **{line["name"]: line["verdict"] for line in found}}


@both
@pytest.mark.parametrize("name", list(EXPECTED))
def test_an_example_ends_as_it_does_on_px4(verdicts, name):
    expected = EXPECTED[name]
    if verdicts["kind"] == "px4":
        expected = {**expected, **OTHERWISE_ON_PX4.get(name, {})}
    assert verdicts[name] == expected
