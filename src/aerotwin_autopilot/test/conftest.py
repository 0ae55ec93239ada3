# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A vehicle to fly in the tests: dynamics and sensors of the sibling packages, flat ground."""

import math
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from aerotwin_autopilot import AirframeParameters, Autopilot, AutopilotParameters
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import (
    Multirotor,
    RotorVibration,
    Wind,
    WindParameters,
    load_airframe,
    standing_pose,
)
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
EXIT_S = 120.0  # of a loaded machine; no test waits for it to pass


@dataclass
class SimulatedVehicle:
    """An iris with sensors; `step` flies it, `sensor` and `fix` are what the link would carry."""

    seed: int
    airframe: str = "iris"
    gnss_preset: str = "gnss_default"
    yaw: float = math.pi / 2
    wind: WindParameters | None = None
    time_us: int = 0
    sensor: HilSensor | None = None
    fix: HilGps | None = None
    _last_us: dict = field(default_factory=dict)
    _past: deque = field(default_factory=lambda: deque(maxlen=64))

    def __post_init__(self) -> None:
        airframe = load_airframe(self.airframe)
        p, q = standing_pose(airframe, ground_point=(3.0, -2.0, 0.0), yaw_rad=self.yaw)
        self.body = Multirotor(
            airframe, p_map_body=p, q_map_body=q, origin_altitude_m=HOME.altitude_m
        )
        self.vibration = RotorVibration(airframe, seed_sequence(self.seed, 0, "vibration"))
        self.plane = LocalTangentPlane(HOME)
        generators = [seed_sequence(self.seed, 0, name) for name in ("imu", "baro", "mag", "gnss")]
        self.imu = Imu(load_preset("imu", "adis16448"), generators[0])
        self.barometer = Barometer(load_preset("barometer", "default"), generators[1])
        self.magnetometer = Magnetometer(load_preset("magnetometer", "default"), generators[2])
        self.gnss = Gnss(load_preset("gnss", self.gnss_preset), generators[3], self.plane)
        self.field = magnetic_field_enu_tesla(HOME, YEAR)
        self._gnss_steps = round(1.0 / self.gnss.parameters.rate_hz / STEP_S)
        gusts = seed_sequence(self.seed, 0, "wind")
        self._gusts = Wind(self.wind, gusts) if self.wind is not None else None
        self._delay_steps = round(self.gnss.parameters.delay_s / STEP_S)

    def step(self, commands: list[float] | tuple[float, ...], *, is_armed: bool) -> None:
        """Advance 4 ms and sample the sensors at the end of the step."""
        n, wind = len(self.body.airframe.rotors), (0.0, 0.0, 0.0)
        if self._gusts is not None:
            state = self.body.state
            speed = float(np.linalg.norm(state.v_map_body))
            wind = self._gusts.sample(STEP_S, max(0.1, float(state.p_map_body[2])), speed)
        self.body.step([*commands, *[0.0] * n][:n], STEP_S, wind_map=wind, is_armed=is_armed)
        self.time_us += STEP_US
        state = self.body.state
        self._past.append((state.p_map_body, state.v_map_body))
        force, rate, turning = self.vibration.felt(STEP_S, self.body.state_vector).reshape(3, 3)
        imu = self.imu.sample(STEP_S, force, rate, alpha_body=turning)
        self.sensor = HilSensor(
            self.time_us,
            tuple(imu.specific_force.tolist()),
            tuple(imu.angular_velocity.tolist()),
            self._sample_field(),
            *self._sample_air(),
        )
        self.fix = self._sample_gnss()

    def _elapsed_s(self, sensor) -> float | None:
        """Time since the last sample of a sensor, None before its next one is due."""
        elapsed = (self.time_us - self._last_us.get(sensor, 0)) * 1e-6
        if elapsed * sensor.parameters.rate_hz < 1.0 - 1e-6:
            return None
        self._last_us[sensor] = self.time_us
        return elapsed

    def _sample_field(self) -> tuple[float, ...] | None:
        elapsed = self._elapsed_s(self.magnetometer)
        if elapsed is None:
            return None
        sample = self.magnetometer.sample(elapsed, self.body.R_map_body, self.field)
        return tuple(sample.tolist())

    def _sample_air(self) -> tuple[float | None, float | None]:
        elapsed = self._elapsed_s(self.barometer)
        if elapsed is None:
            return None, None
        height = float(self.body.state_vector[2])
        return tuple(self.barometer.sample(elapsed, HOME.altitude_m + height))

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


def parameters_of(name: str) -> AutopilotParameters:
    """What an autopilot believes of a packaged airframe, as a launcher tells it."""
    a = load_airframe(name)
    believed = AirframeParameters(
        name=name,
        mass_kg=a.mass_kg,
        inertia_kg_m2=a.inertia_kg_m2,
        rotor_x_m=tuple(rotor.position_m[0] for rotor in a.rotors),
        rotor_y_m=tuple(rotor.position_m[1] for rotor in a.rotors),
        rotor_is_ccw=tuple(float(rotor.spin) for rotor in a.rotors),
        thrust_coefficient=a.propeller.thrust_coefficient_n_s2,
        moment_ratio_m=a.propeller.torque_per_thrust_m,
        command_offset_rad_s=a.motor.armed_speed_rad_s,
        command_scale_rad_s=a.motor.speed_per_command_rad_s,
    )
    return replace(load_autopilot_parameters(), airframe=believed)


class Flight:
    """A vehicle and its autopilot, stepped together.

    Without fixes the receiver is silent; with a vision function, poses come as it says.
    """

    def __init__(self, vehicle: SimulatedVehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = Autopilot(parameters_of(vehicle.airframe))
        self.modes = self.autopilot.modes
        self.said: list[str] = []
        self.has_fixes = True
        self.each: Callable[[], None] | None = None
        self._commands: Sequence[float] = (0.0,) * 4

    @property
    def time_s(self) -> float:
        return self.vehicle.time_us * 1e-6

    @property
    def height(self) -> float:
        return float(self.vehicle.body.state.p_map_body[2])

    def step(self) -> None:
        self.vehicle.step(self._commands, is_armed=self.modes.is_armed)
        if self.vehicle.fix is not None and self.has_fixes:
            self.autopilot.on_gnss_fix(self.vehicle.fix)
        if self.each is not None:
            self.each()
        self._commands = self.autopilot.on_imu_sample(self.vehicle.sensor)
        while self.autopilot.texts:
            self.said.append(self.autopilot.texts.popleft().text)

    def run(self, condition: Callable[[], bool], limit_s: float = 30.0) -> None:
        end = self.time_s + limit_s
        while not condition():
            assert self.time_s < end, f"nothing within {limit_s} s; said: {self.said}"
            self.step()

    def wait(self, seconds: float) -> None:
        end = self.time_s + seconds
        self.run(lambda: self.time_s >= end, seconds + 1.0)

    def make_ready(self) -> None:
        self.run(lambda: self.time_s > 0.5 and not self.modes.refusals(), 10.0)

    def take_off(self) -> None:
        self.make_ready()
        assert self.modes.take_off(None) == ""
        assert self.modes.arm() == ""
        self.run(lambda: self.modes.mode is Mode.HOLD, 15.0)


@pytest.fixture
def flight_of():
    """Return the class of flights; a test makes its own."""
    return Flight


@pytest.fixture
def flight() -> Flight:
    return Flight(SimulatedVehicle(seed=1))


@pytest.fixture(scope="session")
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
