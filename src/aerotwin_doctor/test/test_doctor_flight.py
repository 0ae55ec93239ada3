# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The doctor beside a running autopilot whose sensors are withheld, frozen or wrong."""

import json
import os
import socket
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_doctor import doctor_command
from aerotwin_px4_bridge import (
    AutopilotLost,
    HilLink,
    embedded_process,
    hil_port,
    pack_hil_gps,
    pack_hil_sensor,
    px4_process,
    rotor_parameters,
)

pytestmark = [pytest.mark.ros, pytest.mark.slow]
PX4_DIR = os.environ.get("PX4_DIR")
needs_px4 = pytest.mark.skipif(
    PX4_DIR is None, reason="real PX4 not present: set PX4_DIR to a built PX4-Autopilot"
)
INSTANCE = 36
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
PRESSURE_PA = 95597.0  # standard atmosphere at 488 m
FIELD_TESLA = np.array([0.7e-6, 21.5e-6, -43.0e-6])  # Zurich, nose east
STEP_US = 4000
GNSS_STEPS = 25
FASTER = 3.0  # than real time: the tests take a third
EMBEDDED_READY_S, PX4_READY_S = 8.0, 24.0
PATIENCE_S = 60.0
LISTEN_S = 2.0


@dataclass
class Faults:
    """What is wrong with the sensors; may change while they are fed."""

    has_field: bool = True
    has_pressure: bool = True
    has_gnss: bool = True
    field_noise: float = 1e-7
    pressure_noise: float = 2.0
    gravity: float = 9.81


class Feeder:
    """A vehicle at rest, as its autopilot sees it."""

    def __init__(self, link: HilLink, faults: Faults) -> None:
        self.faults = faults
        self.time_us = 0
        self._link, self._rng = link, np.random.default_rng(1000)
        self._is_over = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Feeder":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._thread.join()

    def run_until(self, time_s: float) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.time_us * 1e-6 < time_s:
            assert self._thread.is_alive() and time.monotonic() < deadline
            time.sleep(0.02)

    def _run(self) -> None:
        start = time.monotonic()
        try:
            while not self._is_over:
                self.time_us += STEP_US
                self._link.exchange(self.time_us, self._frames())
                time.sleep(max(0.0, self.time_us * 1e-6 / FASTER - (time.monotonic() - start)))
        except AutopilotLost:
            return

    def _frames(self) -> list[bytes]:
        f, n = self.faults, self._rng.standard_normal(10)
        frames = []
        if f.has_gnss and self.time_us // STEP_US % GNSS_STEPS == 0:
            place = (HOME.latitude_deg, HOME.longitude_deg, HOME.altitude_m + 0.1 * n[9])
            frames.append(pack_hil_gps(self.time_us, *place, 0.03 * n[:3]))
        frames.append(
            pack_hil_sensor(
                self.time_us,
                np.array([0.0, 0.0, f.gravity]) + 0.05 * n[:3],
                0.003 * n[3:6],
                FIELD_TESLA + f.field_noise * n[6:9] if f.has_field else None,
                PRESSURE_PA + f.pressure_noise * n[9] if f.has_pressure else None,
                285.0 if f.has_pressure else None,
            )
        )
        return frames


def doctor(tmp_path: Path, *tokens: str) -> tuple[int, dict[str, dict]]:
    """Run the command; return its exit code and its checks by name."""
    parser = ArgumentParser()
    doctor_command.configure(parser)
    file = tmp_path / "doctor.json"
    tokens = ("--only", "link", "--instance", str(INSTANCE), *tokens, "--json", str(file))
    code = doctor_command.run(parser.parse_args(tokens))
    checks = json.loads(file.read_text())["checks"]
    assert all({"name", "ok", "message"} <= set(check) for check in checks)
    return code, {check["name"]: check for check in checks}


@pytest.fixture
def fed(tmp_path, request) -> Iterator[Feeder]:
    """An embedded autopilot that is ready, or would be but for the faults."""
    command = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
    process = embedded_process(INSTANCE, tmp_path, command=command)
    with HilLink(hil_port(INSTANCE), free_run=False) as link, process:
        link.accept(PATIENCE_S, lambda _: process.check())
        with Feeder(link, getattr(request, "param", Faults())) as feeder:
            feeder.run_until(EMBEDDED_READY_S)
            yield feeder


def test_one_flight_is_well_then_loses_one_sensor_after_the_other(tmp_path, fed, capsys):
    short = ("--duration-s", str(LISTEN_S))
    code, checks = doctor(tmp_path, *short)
    assert code == 0, checks
    assert "would arm now" in checks["arming"]["message"]
    assert checks["link.hil"]["ok"]
    assert "none failed" in capsys.readouterr().out

    fed.faults = Faults(field_noise=0.0)
    fed.run_until(fed.time_us * 1e-6 + 0.5)
    code, checks = doctor(tmp_path, *short)
    assert code == 1
    assert "the same to the last digit" in checks["sensors.magnetometer"]["message"]
    assert checks["sensors.barometer"]["ok"]

    fed.faults = Faults(has_pressure=False, gravity=-9.81)
    fed.run_until(fed.time_us * 1e-6 + 0.5)
    _, checks = doctor(tmp_path, *short)
    assert not checks["sensors.barometer"]["ok"]
    assert "on its head" in checks["sensors.accelerometer"]["message"]


@pytest.mark.parametrize("fed", [Faults(has_gnss=False)], indirect=True)
def test_an_autopilot_without_gnss_will_not_arm_and_the_doctor_says_why(tmp_path, fed):
    code, checks = doctor(tmp_path, "--duration-s", str(LISTEN_S))
    assert code == 1
    assert "no GNSS reading" in checks["sensors.gnss"]["message"]
    assert not checks["arming"]["ok"]
    assert "Preflight fail: waiting for GNSS" in checks["arming"]["message"]
    assert not checks["estimator.state"]["ok"]


def test_a_simulator_without_autopilot_and_silence_are_distinguished(tmp_path):
    code, checks = doctor(tmp_path)
    assert code == 1
    assert "nothing flies as vehicle" in checks["link"]["message"]
    with HilLink(hil_port(INSTANCE)):
        code, checks = doctor(tmp_path)
    assert code == 1
    assert "no autopilot is connected" in checks["link.hil"]["message"]
    assert not checks["link.heartbeat"]["ok"]


def test_a_port_that_a_client_holds_is_reported_with_its_holder(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.1", 0))
        port = client.getsockname()[1]
        code, checks = doctor(tmp_path, "--port", str(port))
    assert code == 0
    assert f"UDP {port} cannot be listened to" in checks["link.port"]["message"]
    assert f"pid {os.getpid()}" in checks["link.port"]["message"]


@needs_px4
@pytest.mark.parametrize("is_observable", [False, True], ids=["own-rotors", "our-rotors"])
def test_the_real_px4_without_magnetometer_says_why_and_where_its_rotors_are(
    tmp_path, is_observable
):
    from aerotwin_multirotor_dynamics import load_airframe

    iris = load_airframe("iris")
    rotors = [(rotor.position_m, rotor.spin) for rotor in iris.rotors]
    reported = rotor_parameters(rotors, iris.propeller.torque_per_thrust_m) if is_observable else {}
    process = px4_process(Path(PX4_DIR), INSTANCE, tmp_path, home=HOME, parameters=reported)
    with HilLink(hil_port(INSTANCE)) as link, process:
        link.accept(PATIENCE_S, lambda _: process.check())
        with Feeder(link, Faults(has_field=False)) as feeder:
            feeder.run_until(PX4_READY_S)
            code, checks = doctor(tmp_path, "--duration-s", "4")
    assert code == 1
    assert "PX4 1.1" in checks["link.heartbeat"]["message"]
    assert "absent: magnetometer" in checks["sensors.health"]["message"]
    assert "no magnetometer data" in checks["arming"]["message"]
    assert checks["geometry.rotors"]["status"] == ("ok" if is_observable else "warn")
