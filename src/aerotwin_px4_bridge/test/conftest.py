# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A vehicle to fly, and autopilots to fly it: embedded, embedded on a serial line, real PX4."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import (
    Airframe,
    Multirotor,
    hover_command,
    load_airframe,
    standing_pose,
)
from aerotwin_px4_bridge import (
    AutopilotProcess,
    HilLink,
    HilTimeouts,
    MissionClient,
    embedded_process,
    hil_port,
    pack_hil_gps,
    pack_hil_sensor,
    px4_process,
    rotor_parameters,
)
from aerotwin_px4_bridge.external_vision import VisionPose
from aerotwin_sensor_models import (
    Barometer,
    Gnss,
    Imu,
    Magnetometer,
    load_preset,
    magnetic_field_enu_tesla,
    seed_sequence,
    specific_force,
)

PX4_DIR = os.environ.get("PX4_DIR")
EMBEDDED = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
INSTANCE = 20  # beside other simulators on this machine
STEP_NS = 4_000_000
GNSS_STEPS, MAG_STEPS, BARO_STEPS = 25, 3, 5
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
PLANE = LocalTangentPlane(HOME)
IRIS = load_airframe("iris")
CPU = max(os.sched_getaffinity(0))
CONNECT_S = 120.0  # the first start of the embedded autopilot compiles its kernels
VISION_STD_M, VISION_STD_YAW = 0.02, 0.01


def px4_parameters(airframe: Airframe) -> dict[str, float]:
    """What PX4 must know of an airframe: none_iris has another geometry and thrust than any."""
    rotors = [(rotor.position_m, rotor.spin) for rotor in airframe.rotors]
    values = rotor_parameters(rotors, airframe.propeller.torque_per_thrust_m)
    return {**values, "MPC_THR_HOVER": hover_command(airframe)}


class HilVehicle:
    """A multirotor on level ground whose sensors go over a HIL link, one 4 ms step at a time."""

    def __init__(
        self,
        *,
        seed: int = 1000,
        start: tuple[float, float, float] = (0.0, 0.0, 0.0),
        has_gnss: bool = True,
        wind: Callable[[float], tuple[float, float, float]] = lambda t: (0.0, 0.0, 0.0),
        airframe: Airframe = IRIS,
    ) -> None:
        p, q = standing_pose(airframe, ground_point=np.array(start))
        self.multirotor = Multirotor(airframe, p_map_body=p, q_map_body=q)
        self.has_gnss, self.wind, self.start = has_gnss, wind, start
        self.shows_start = False
        self.stamp_ns = self.n_steps = 0
        self.command: tuple[float, ...] = (0.0,) * len(airframe.rotors)
        self.is_armed = False
        self.rng = np.random.default_rng(seed)
        seeds = [seed_sequence(seed, 0, name) for name in ("imu", "baro", "mag", "gnss")]
        self.imu = Imu(load_preset("imu", "adis16448"), seeds[0])
        self.barometer = Barometer(load_preset("barometer", "default"), seeds[1])
        self.magnetometer = Magnetometer(load_preset("magnetometer", "default"), seeds[2])
        self.gnss = Gnss(load_preset("gnss", "gnss_default"), seeds[3], PLANE)
        self.field = magnetic_field_enu_tesla(HOME, 2026.0)

    @property
    def p_map(self) -> np.ndarray:
        return self.multirotor.state.p_map_body.copy()

    def send(self, link: HilLink) -> None:
        """Sense and send."""
        self.stamp_ns += STEP_NS
        self.n_steps += 1
        link.send(self.stamp_ns // 1000, self._frames())

    def move(self, link: HilLink) -> None:
        """Take the answer and move."""
        answer = link.answer()
        if answer is not None:
            self.command = np.clip(answer.controls[: len(self.command)], 0.0, 1.0)
            self.is_armed = answer.is_armed
        self.multirotor.step(
            self.command,
            STEP_NS * 1e-9,
            is_armed=self.is_armed,
            wind_map=self.wind(self.stamp_ns * 1e-9),
        )

    def step(self, link: HilLink) -> None:
        self.send(link)
        self.move(link)

    def vision(self) -> VisionPose:
        """What a motion capture sees: the pose, with white noise on position and yaw."""
        state = self.multirotor.state
        half = self.rng.normal(0.0, VISION_STD_YAW) / 2.0
        x, y, z, w = state.q_map_body
        c, s = np.cos(half), np.sin(half)
        return VisionPose(
            time_us=self.stamp_ns // 1000,
            p_map=state.p_map_body + self.rng.normal(0.0, VISION_STD_M, 3),
            q_map_body=np.array([c * x - s * y, c * y + s * x, c * z + s * w, c * w - s * z]),
            pose_covariance_map=np.diag([VISION_STD_M**2] * 3 + [VISION_STD_YAW**2] * 3),
            v_body=state.R_map_body.T @ state.v_map_body + self.rng.normal(0.0, 0.05, 3),
            twist_covariance_body=np.diag([0.05**2] * 3 + [1.0] * 3),
        )

    def _frames(self) -> list[bytes]:
        state, R = self.multirotor.state, self.multirotor.R_map_body
        dt, time_us, n = STEP_NS * 1e-9, self.stamp_ns // 1000, self.n_steps
        imu = self.imu.sample(dt, specific_force(R, state.a_map_body), state.omega_map_body_in_body)
        field_body = pressure = temperature = None
        if n % MAG_STEPS == 0:
            field_body = self.magnetometer.sample(MAG_STEPS * dt, R, self.field)
        if n % BARO_STEPS == 0:
            air = self.barometer.sample(BARO_STEPS * dt, HOME.altitude_m + state.p_map_body[2])
            pressure, temperature = air.pressure_pa, air.temperature_k
        frames = []
        if self.has_gnss and n % GNSS_STEPS == 0:
            fix = self.gnss.sample(GNSS_STEPS * dt, state.p_map_body, state.v_map_body)
            place = (fix.latitude_deg, fix.longitude_deg, fix.altitude_m, fix.v_map)
            frames.append(pack_hil_gps(time_us, *place))
        if self.shows_start and n % GNSS_STEPS == 0:
            frames.append(pack_hil_gps(time_us, *PLANE.to_geodetic(self.start), (0.0,) * 3))
        readings = (imu.specific_force, imu.angular_velocity, field_body, pressure, temperature)
        return [*frames, pack_hil_sensor(time_us, *readings)]


@pytest.fixture
def connect(tmp_path, serial_line) -> Iterator[Callable[..., tuple[HilLink, AutopilotProcess]]]:
    """Return a function that starts an autopilot and gives its link and process.

    Kind is `embedded`, `serial` (the same, on a serial line) or `px4`. Loop and autopilots share
    one core, as in a simulation.
    """
    allowed = os.sched_getaffinity(0)
    with contextlib.ExitStack() as stack:

        def start(
            kind: str,
            instance: int = INSTANCE,
            *,
            timeouts: HilTimeouts | None = None,
            airframe: Airframe = IRIS,
            **px4_options,
        ) -> tuple[HilLink, AutopilotProcess]:
            port: int | str = hil_port(instance)
            if kind == "serial":
                line = serial_line(hil_port(instance))
                port = line.endpoint
            link = HilLink(port, free_run=kind == "px4", timeouts=timeouts)
            stack.enter_context(link)
            if kind == "px4":
                parameters = px4_parameters(airframe)
                options = {"speed_factor": 0.0, "parameters": parameters, "cpu": CPU, **px4_options}
                process = px4_process(Path(PX4_DIR), instance, tmp_path, home=HOME, **options)
            else:
                process = embedded_process(instance, tmp_path, cpu=CPU, command=EMBEDDED)
            stack.enter_context(process)
            link.accept(CONNECT_S, lambda _: process.check())
            os.sched_setaffinity(0, {CPU})
            return link, process

        yield start
    os.sched_setaffinity(0, allowed)


@dataclass
class FlightLog:
    """What a flight left: one row per step while a set-point stood."""

    truth: list[np.ndarray] = field(default_factory=list)
    estimate: list[np.ndarray] = field(default_factory=list)


def fly_mission(
    vehicle: HilVehicle,
    link: HilLink,
    client: MissionClient,
    limit_s: float,
    before_step: Callable[[], None] = lambda: None,
) -> FlightLog:
    """Run the loop until the mission is over, or simulated time is."""
    log = FlightLog()
    with contextlib.closing(client):
        while not client.is_finished and client.failure is None:
            if vehicle.stamp_ns > limit_s * 1e9:
                pytest.fail(f"the flight took more than {limit_s} s, phase: {client.phase}")
            client.poll(vehicle.stamp_ns)
            before_step()
            vehicle.step(link)
            if client.phase == "flying" and client.setpoint is not None:
                log.truth.append(vehicle.p_map)
                log.estimate.append(client.estimate.p_map.copy())
    assert client.failure is None
    assert link.is_repeatable
    return log


@pytest.fixture
def make_vehicle() -> type[HilVehicle]:
    """Return the class of vehicles."""
    return HilVehicle


@pytest.fixture
def fly() -> Callable[..., FlightLog]:
    """Return the function that flies a mission."""
    return fly_mission


@pytest.fixture
def rotors() -> dict[str, float]:
    """Return the PX4 parameters of the vehicle's rotors."""
    return px4_parameters(IRIS)
