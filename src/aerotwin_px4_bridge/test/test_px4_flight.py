# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights with a real PX4 SITL, where PX4_DIR names a folder in which it was built."""

import contextlib
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import Multirotor, load_airframe, standing_pose
from aerotwin_px4_bridge import (
    AutopilotLost,
    HilLink,
    Mission,
    MissionClient,
    Waypoint,
    hil_port,
    pack_hil_gps,
    pack_hil_sensor,
    px4_process,
    rotor_parameters,
)
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
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        PX4_DIR is None, reason="real PX4 not present: set PX4_DIR to a built PX4-Autopilot"
    ),
]

STEP_NS = 4_000_000
GNSS_STEPS = 25  # 10 Hz
MAG_STEPS, BARO_STEPS = 3, 5
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)


@dataclass
class FlightLog:
    """What a flight left: one row per step while a set-point stood."""

    stamps_ns: list[int] = field(default_factory=list)
    truth: list[np.ndarray] = field(default_factory=list)
    setpoint: list[np.ndarray] = field(default_factory=list)
    estimate: list[np.ndarray] = field(default_factory=list)
    truth_final: np.ndarray | None = None


class HilVehicle:
    """An iris on level ground whose sensors go over a HIL link, one 4 ms step at a time."""

    def __init__(
        self,
        *,
        seed: int = 1000,
        plane: LocalTangentPlane,
        start: tuple[float, float, float] = (0.0, 0.0, 0.0),
        gnss: str = "gnss_default",
    ) -> None:
        airframe = load_airframe("iris")
        p, q = standing_pose(airframe, ground_point=np.array(start))
        self.multirotor = Multirotor(airframe, p_map_body=p, q_map_body=q)
        self.plane = plane
        self.stamp_ns = 0
        self.n_steps = 0
        self._command: tuple[float, ...] = (0.0,) * len(airframe.rotors)
        self._is_armed = False
        self._imu = Imu(load_preset("imu", "adis16448"), seed_sequence(seed, 0, "imu"))
        self._baro = Barometer(
            load_preset("barometer", "default"), seed_sequence(seed, 0, "barometer")
        )
        self._mag = Magnetometer(
            load_preset("magnetometer", "default"), seed_sequence(seed, 0, "magnetometer")
        )
        self._gnss = Gnss(load_preset("gnss", gnss), seed_sequence(seed, 0, "gnss"), plane)
        self._field = magnetic_field_enu_tesla(plane.origin, 2026.0)

    def step(self, link: HilLink) -> None:
        """Sense, exchange, move."""
        self.stamp_ns += STEP_NS
        self.n_steps += 1
        answer = link.exchange(self.stamp_ns // 1000, self._frames())
        if answer is not None:
            self._command = answer.controls[: len(self._command)]
            self._is_armed = answer.is_armed
        self.multirotor.step(self._command, STEP_NS * 1e-9, is_armed=self._is_armed)

    def _frames(self) -> list[bytes]:
        state = self.multirotor.state
        R = self.multirotor.R_map_body
        dt = STEP_NS * 1e-9
        imu = self._imu.sample(
            dt, specific_force(R, state.a_map_body), state.omega_map_body_in_body
        )
        time_us, n = self.stamp_ns // 1000, self.n_steps
        field_body = pressure = temperature = None
        if n % MAG_STEPS == 0:
            field_body = self._mag.sample(MAG_STEPS * dt, R, self._field)
        if n % BARO_STEPS == 0:
            air = self._baro.sample(
                BARO_STEPS * dt, self.plane.origin.altitude_m + state.p_map_body[2]
            )
            pressure, temperature = air.pressure_pa, air.temperature_k
        frames = []
        if n % GNSS_STEPS == 0:
            fix = self._gnss.sample(GNSS_STEPS * dt, state.p_map_body, state.v_map_body)
            frames.append(
                pack_hil_gps(
                    time_us, fix.latitude_deg, fix.longitude_deg, fix.altitude_m, fix.v_map
                )
            )
        frames.append(
            pack_hil_sensor(
                time_us, imu.specific_force, imu.angular_velocity, field_body, pressure, temperature
            )
        )
        return frames


def fly(vehicle: HilVehicle, link: HilLink, client: MissionClient, limit_s: float) -> FlightLog:
    """Run the loop until the mission is over, or simulated time is."""
    log = FlightLog()
    while not client.is_finished and client.failure is None:
        if vehicle.stamp_ns > limit_s * 1e9:
            pytest.fail(f"the flight took more than {limit_s} s, phase: {client.phase}")
        client.poll(vehicle.stamp_ns)
        vehicle.step(link)
        if client.phase == "flying" and client.setpoint is not None:
            log.stamps_ns.append(vehicle.stamp_ns)
            log.truth.append(vehicle.multirotor.state.p_map_body.copy())
            log.setpoint.append(client.setpoint.p_map.copy())
            log.estimate.append(client.estimate_p_map.copy())
    log.truth_final = vehicle.multirotor.state.p_map_body.copy()
    return log


_IRIS = load_airframe("iris")
ROTORS = rotor_parameters(
    [(rotor.position_m, rotor.spin) for rotor in _IRIS.rotors],
    _IRIS.propeller.torque_per_thrust_m,
)
"""none_iris has another geometry than the iris of gazebo-classic; it flies either way."""
INSTANCE = 7  # beside other simulators on this machine
SQUARE = Mission(
    takeoff_altitude_m=5.0,
    speed_m_s=3.0,
    waypoints=(
        Waypoint(position_m=(15.0, 0.0, 6.0), yaw_deg=0.0),
        Waypoint(position_m=(15.0, 15.0, 8.0), yaw_deg=90.0),
        Waypoint(position_m=(0.0, 15.0, 6.0), yaw_deg=180.0, hold_s=2.0),
        Waypoint(position_m=(0.0, 0.0, 5.0)),
    ),
)
CONTROL_ERROR_M = 0.35  # seen 0.18 to 0.25 at 3 m/s with acceleration feed-forward
LANDED_WITHIN_M = 3.0  # PX4's estimate wanders with the GNSS
SPAWN_S = 20.0


def _run(vehicle: HilVehicle, link: HilLink, n_steps: int = 500) -> None:
    for _ in range(n_steps):
        vehicle.step(link)


def _distance_to_path(points: np.ndarray, path: np.ndarray) -> np.ndarray:
    return np.array([np.linalg.norm(path - point, axis=1).min() for point in points])


def test_px4_takes_off_flies_four_way_points_lands_and_disarms(tmp_path):
    plane = LocalTangentPlane(HOME)
    autopilot = px4_process(
        Path(PX4_DIR),
        INSTANCE,
        tmp_path,
        home=HOME,
        speed_factor=10.0,
        parameters=ROTORS,
    )
    with HilLink(hil_port(INSTANCE)) as link, autopilot:
        link.accept(SPAWN_S, lambda _: autopilot.check())
        client = MissionClient(SQUARE, plane, INSTANCE)
        log = fly(HilVehicle(plane=plane), link, client, limit_s=150.0)
        client.close()
    assert client.failure is None
    assert client.is_finished
    assert link.is_repeatable
    estimate, path = np.array(log.estimate), client.path.p_map
    assert np.sqrt(np.mean(_distance_to_path(estimate[::10], path) ** 2)) < CONTROL_ERROR_M
    assert np.linalg.norm(log.truth_final[:2] - path[-1, :2]) < LANDED_WITHIN_M
    assert not autopilot.is_running


def test_two_px4_vehicles_fly_at_once_in_one_map(tmp_path):
    """They start 6 m apart and fly the same line, shifted: each keeps its own ports and place."""
    plane = LocalTangentPlane(HOME)
    starts = [(0.0, 0.0, 0.0), (0.0, 6.0, 0.0)]
    with contextlib.ExitStack() as stack:
        flights = []
        for number, start in enumerate(starts):
            instance = INSTANCE + number
            autopilot = px4_process(Path(PX4_DIR), instance, tmp_path, home=HOME)
            link = stack.enter_context(HilLink(hil_port(instance)))
            stack.enter_context(autopilot)
            link.accept(SPAWN_S, lambda _, process=autopilot: process.check())
            x, y, _ = start
            mission = Mission(waypoints=(Waypoint(position_m=(x + 12.0, y, 5.0)),))
            client = MissionClient(mission, plane, instance, p_map_start=start)
            stack.callback(client.close)
            flights.append((HilVehicle(plane=plane, start=start, seed=number), link, client))
        while not all(client.is_finished or client.failure for _, _, client in flights):
            assert flights[0][0].stamp_ns < 120e9
            for vehicle, link, client in flights:
                client.poll(vehicle.stamp_ns)
                vehicle.step(link)
        for (vehicle, link, client), (x, y, _) in zip(flights, starts, strict=True):
            assert client.failure is None
            assert link.is_repeatable
            landed = vehicle.multirotor.state.p_map_body[:2]
            assert np.linalg.norm(landed - (x + 12.0, y)) < LANDED_WITHIN_M


def test_px4_that_is_killed_in_flight_ends_the_flight_with_a_reason(tmp_path):
    plane = LocalTangentPlane(HOME)
    autopilot = px4_process(Path(PX4_DIR), INSTANCE, tmp_path, home=HOME)
    with HilLink(hil_port(INSTANCE)) as link, autopilot:
        link.accept(SPAWN_S, lambda _: autopilot.check())
        vehicle = HilVehicle(plane=plane)
        _run(vehicle, link)
        assert link.is_in_step
        os.kill(autopilot.pid, signal.SIGKILL)
        with pytest.raises(AutopilotLost, match="closed the HIL link"):
            _run(vehicle, link)
        assert "killed by SIGKILL" in autopilot.describe_end()
