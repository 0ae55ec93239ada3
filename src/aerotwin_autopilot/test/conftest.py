# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A vehicle to fly in the tests: dynamics and sensors of the sibling packages, flat ground."""

import math
import subprocess
import sys
from collections import deque
from dataclasses import dataclass, field

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import Multirotor, load_airframe, standing_pose
from aerotwin_px4_bridge.link import HIL_PORT, HilLink
from aerotwin_px4_bridge.messages import HilGps, HilSensor, pack_hil_gps, pack_hil_sensor
from aerotwin_sensor_models import (
    Barometer,
    Gnss,
    Imu,
    Magnetometer,
    load_preset,
    magnetic_field_enu_tesla,
    seed_sequence,
)

STEP_US = 4000
STEP_S = STEP_US * 1e-6
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
YEAR = 2026.0
COMPILATION_S = 120.0
"""The first start compiles the kernels."""
EXIT_S = 10.0


@dataclass
class SimulatedVehicle:
    """An iris with sensors; `step` flies it, `sensor` and `fix` are what the link would carry."""

    seed: int
    gnss_preset: str = "gnss_default"
    yaw: float = math.pi / 2
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    time_us: int = 0
    sensor: HilSensor | None = None
    fix: HilGps | None = None
    _past: deque = field(default_factory=lambda: deque(maxlen=64))

    def __post_init__(self) -> None:
        airframe = load_airframe("iris")
        p, q = standing_pose(airframe, ground_point=(3.0, -2.0, 0.0), yaw_rad=self.yaw)
        self.body = Multirotor(airframe, p_map_body=p, q_map_body=q)
        self.plane = LocalTangentPlane(HOME)
        generators = [seed_sequence(self.seed, 0, name) for name in ("imu", "baro", "mag", "gnss")]
        self.imu = Imu(load_preset("imu", "adis16448"), generators[0])
        self.barometer = Barometer(load_preset("barometer", "default"), generators[1])
        self.magnetometer = Magnetometer(load_preset("magnetometer", "default"), generators[2])
        self.gnss = Gnss(load_preset("gnss", self.gnss_preset), generators[3], self.plane)
        self.field = magnetic_field_enu_tesla(HOME, YEAR)
        self._gnss_steps = round(1.0 / self.gnss.parameters.rate_hz / STEP_S)
        self._delay_steps = round(self.gnss.parameters.delay_s / STEP_S)

    def step(self, commands: list[float] | tuple[float, ...], *, is_armed: bool) -> None:
        """Advance 4 ms and sample the sensors at the end of the step."""
        self.body.step(list(commands)[:4], STEP_S, wind_map=self.wind, is_armed=is_armed)
        self.time_us += STEP_US
        state = self.body.state
        self._past.append((state.p_map_body, state.v_map_body))
        imu = self.imu.sample(STEP_S, state.specific_force_in_body, state.omega_map_body_in_body)
        air = self.barometer.sample(STEP_S, HOME.altitude_m + state.p_map_body[2])
        self.sensor = HilSensor(
            self.time_us,
            tuple(imu.specific_force.tolist()),
            tuple(imu.angular_velocity.tolist()),
            tuple(self.magnetometer.sample(STEP_S, state.R_map_body, self.field).tolist()),
            air.pressure_pa,
            air.temperature_k,
        )
        self.fix = self._sample_gnss()

    def _sample_gnss(self) -> HilGps | None:
        if self.time_us // STEP_US % self._gnss_steps:
            return None
        p, v = self._past[max(0, len(self._past) - 1 - self._delay_steps)]
        sample = self.gnss.sample(self._gnss_steps * STEP_S, p, v)
        return HilGps(
            self.time_us,
            round(sample.latitude_deg * 1e7) * 1e-7,
            round(sample.longitude_deg * 1e7) * 1e-7,
            round(sample.altitude_m * 1e3) * 1e-3,
            tuple((np.round(sample.v_map, 2)).tolist()),
            float(sample.position_std_m[0]),
            float(sample.position_std_m[2]),
            3,
            10,
        )

    def frames(self) -> list[bytes]:
        """Return the step as MAVLink frames, GNSS first, as the simulator sends them."""
        frames = []
        if self.fix is not None:
            f = self.fix
            frames.append(
                pack_hil_gps(
                    f.time_us, f.latitude_deg, f.longitude_deg, f.altitude_m, f.v_map,
                    eph_m=f.eph_m, epv_m=f.epv_m,
                )
            )  # fmt: skip
        s = self.sensor
        assert s is not None
        frames.append(
            pack_hil_sensor(
                s.time_us, s.specific_force_body, s.angular_velocity_body,
                s.magnetic_field_body_tesla, s.pressure_pa, s.temperature_k,
            )
        )  # fmt: skip
        return frames


@pytest.fixture
def simulated_vehicle() -> type[SimulatedVehicle]:
    """Return the class; a test makes vehicles of its own seeds."""
    return SimulatedVehicle


@pytest.fixture
def autopilot():
    """Return a function that starts the autopilot process of an instance and gives its link.

    The processes end with the test; one that does not is an error.
    """
    started: list[tuple[HilLink, subprocess.Popen]] = []

    def start(instance: int, *arguments: str) -> HilLink:
        link = HilLink(HIL_PORT + instance, free_run=False)
        command = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
        process = subprocess.Popen([*command, "--instance", str(instance), *arguments])
        started.append((link, process))
        link.accept(COMPILATION_S)
        return link

    yield start
    for link, process in started:
        link.close()
        try:
            assert process.wait(EXIT_S) == 0
        finally:
            process.kill()
            process.wait()
