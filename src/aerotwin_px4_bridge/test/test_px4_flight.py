# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights over the HIL link, with the embedded autopilot and with a real PX4 SITL.

The same script flies both. PX4 flies where PX4_DIR names a folder in which it was built.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import Multirotor, load_airframe, standing_pose
from aerotwin_px4_bridge import (
    AutopilotProcess,
    HilLink,
    Mission,
    MissionClient,
    OnboardLink,
    Waypoint,
    embedded_process,
    hil_port,
    pack_hil_gps,
    pack_hil_sensor,
    px4_process,
    rotor_parameters,
)
from aerotwin_px4_bridge.external_vision import VisionPose
from aerotwin_px4_bridge.mission_upload import (
    LAND,
    TAKE_OFF,
    WAYPOINT,
    MissionItem,
    MissionUpload,
)
from aerotwin_px4_bridge.onboard import STREAMS_US
from aerotwin_px4_bridge.process import external_vision_parameters
from aerotwin_px4_bridge.px4_files import collect_ulog, offboard_port
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
PX4 = [
    pytest.mark.slow,
    pytest.mark.skipif(
        PX4_DIR is None, reason="real PX4 not present: set PX4_DIR to a built PX4-Autopilot"
    ),
]
both = pytest.mark.parametrize("kind", ["embedded", pytest.param("px4", marks=PX4)])
px4_only = pytest.mark.parametrize("kind", [pytest.param("px4", marks=PX4)])

INSTANCE = 20  # beside other simulators on this machine
MANY = 12  # PX4's own start-up gives vehicles from 10 on one shared offboard port
STEP_NS = 4_000_000
GNSS_STEPS, MAG_STEPS, BARO_STEPS, VISION_STEPS = 25, 3, 5, 5
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
PLANE = LocalTangentPlane(HOME)
IRIS = load_airframe("iris")
ROTORS = rotor_parameters(
    [(rotor.position_m, rotor.spin) for rotor in IRIS.rotors],
    IRIS.propeller.torque_per_thrust_m,
)
"""none_iris has another geometry than the iris of gazebo-classic; it flies either way."""
CPU = max(os.sched_getaffinity(0))
CONNECT_S = 120.0  # the first start of the embedded autopilot compiles its kernels
FREE_S = 2.0  # the link free-runs while PX4 starts its modules

CONTROL_ERROR_M = 0.6  # seen 0.2 to 0.4 at 3 m/s in wind
LANDED_WITHIN_M = 3.0  # the estimate wanders with the GNSS
VISION_ERROR_M = 0.5
VISION_STD_M, VISION_STD_YAW = 0.02, 0.01


class HilVehicle:
    """An iris on level ground whose sensors go over a HIL link, one 4 ms step at a time."""

    def __init__(
        self,
        *,
        seed: int = 1000,
        start: tuple[float, float, float] = (0.0, 0.0, 0.0),
        has_gnss: bool = True,
        wind: Callable[[float], tuple[float, float, float]] = lambda t: (0.0, 0.0, 0.0),
    ) -> None:
        p, q = standing_pose(IRIS, ground_point=np.array(start))
        self.multirotor = Multirotor(IRIS, p_map_body=p, q_map_body=q)
        self.has_gnss, self.wind = has_gnss, wind
        self.stamp_ns = self.n_steps = 0
        self.command: tuple[float, ...] = (0.0,) * len(IRIS.rotors)
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
        readings = (imu.specific_force, imu.angular_velocity, field_body, pressure, temperature)
        return [*frames, pack_hil_sensor(time_us, *readings)]


@pytest.fixture
def connect(tmp_path) -> Iterator[Callable[..., tuple[HilLink, AutopilotProcess]]]:
    """Return a function that starts an autopilot and gives its link and process.

    Loop and autopilots share one core, as in a simulation.
    """
    allowed = os.sched_getaffinity(0)
    with contextlib.ExitStack() as stack:

        def start(
            kind: str, instance: int = INSTANCE, **px4_options
        ) -> tuple[HilLink, AutopilotProcess]:
            link = stack.enter_context(HilLink(hil_port(instance), free_run=kind == "px4"))
            if kind == "px4":
                options = {"speed_factor": 0.0, "parameters": ROTORS, "cpu": CPU, **px4_options}
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


def fly(
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
                log.estimate.append(client.estimate_p_map.copy())
    assert client.failure is None
    assert link.is_repeatable
    return log


def gusts(t: float) -> tuple[float, float, float]:
    """Wind from the west-south-west, 5 m/s with gusts to 8 m/s."""
    return 5.0 + 2.5 * np.sin(0.7 * t), 2.0 + 1.5 * np.sin(1.1 * t), 0.5 * np.sin(0.5 * t)


def _distance_to_path(points: np.ndarray, path: np.ndarray) -> np.ndarray:
    return np.array([np.linalg.norm(path - point, axis=1).min() for point in points])


@both
def test_it_flies_over_way_points_in_wind_lands_and_disarms(kind, connect, tmp_path):
    mission = Mission(
        takeoff_altitude_m=5.0,
        speed_m_s=3.0,
        waypoints=(
            Waypoint(position_m=(12.0, 0.0, 6.0), yaw_deg=0.0),
            Waypoint(position_m=(12.0, 12.0, 8.0), yaw_deg=90.0),
            Waypoint(position_m=(0.0, 0.0, 5.0), hold_s=1.0),
        ),
    )
    link, process = connect(kind)
    vehicle = HilVehicle(wind=gusts)
    client = MissionClient(mission, PLANE, INSTANCE)
    log = fly(vehicle, link, client, limit_s=150.0)
    estimate, path = np.array(log.estimate), client.path.p_map
    assert np.sqrt(np.mean(_distance_to_path(estimate[::10], path) ** 2)) < CONTROL_ERROR_M
    assert np.linalg.norm(vehicle.p_map[:2] - path[-1, :2]) < LANDED_WITHIN_M
    assert not vehicle.is_armed
    process.stop()
    if kind == "px4":
        assert collect_ulog(tmp_path, INSTANCE).stat().st_size > 100_000


class PlanClient:
    """Hands over a plan, arms, and lets the autopilot fly it."""

    MISSION_MODE = (4, 4)

    def __init__(self, items: list[MissionItem], instance: int) -> None:
        self.link = OnboardLink(PLANE, instance)
        self.items, self.upload = items, None
        self.highest = self.due_ns = 0

    def poll(self, stamp_ns: int, vehicle: HilVehicle) -> bool:
        """Return whether the flight is over: landed and disarmed."""
        link, state = self.link, self.link.state
        link.receive(stamp_ns)
        self.highest = max(self.highest, vehicle.p_map[2])
        if self.upload is not None:
            self.upload.poll(stamp_ns)
            assert self.upload.failure is None
        if stamp_ns >= self.due_ns:
            self.due_ns = stamp_ns + 1_000_000_000
            link.send_heartbeat()
            self._once_a_second()
        return self.highest > 3.0 and not state.is_armed

    def _once_a_second(self) -> None:
        link, state = self.link, self.link.state
        if state.estimate is None:
            for message_id, interval_us in STREAMS_US.items():
                link.send_command(511, message_id, interval_us)
        elif state.is_ready and self.upload is None:
            self.upload = MissionUpload(link, self.items)
        elif self.upload is not None and self.upload.is_finished and self.highest < 1.0:
            link.send_command(176, 1.0, *self.MISSION_MODE)
            link.send_command(400, 1.0)


@both
def test_it_flies_a_mission_that_was_uploaded(kind, connect):
    items = [
        MissionItem(command=TAKE_OFF, p_map=(0.0, 0.0, 5.0)),
        MissionItem(command=WAYPOINT, p_map=(10.0, 0.0, 6.0), hold_s=1.0),
        MissionItem(command=WAYPOINT, p_map=(10.0, 8.0, 6.0)),
        MissionItem(command=LAND, p_map=(10.0, 8.0, 0.0)),
    ]
    link, _ = connect(kind)
    vehicle, client = HilVehicle(), PlanClient(items, INSTANCE)
    nearest = np.full(len(items), np.inf)
    with contextlib.closing(client.link):
        while not client.poll(vehicle.stamp_ns, vehicle):
            assert vehicle.stamp_ns < 150e9, list(client.link.texts)
            vehicle.step(link)
            distances = [np.linalg.norm(vehicle.p_map - item.p_map) for item in items]
            nearest = np.minimum(nearest, distances)
    assert link.is_repeatable
    assert (nearest < LANDED_WITHIN_M).all(), nearest


@both
def test_two_vehicles_fly_at_once_in_one_map(kind, connect):
    """They start 6 m apart and fly the same line, shifted: each keeps its own ports and place."""
    starts = [(0.0, 0.0, 0.0), (0.0, 6.0, 0.0)]
    flights = []
    for number, start in enumerate(starts):
        link, _ = connect(kind, INSTANCE + number)
        x, y, _ = start
        mission = Mission(
            takeoff_altitude_m=3.0, waypoints=(Waypoint(position_m=(x + 8.0, y, 4.0)),)
        )
        client = MissionClient(mission, PLANE, INSTANCE + number, p_map_start=start)
        flights.append((HilVehicle(start=start, seed=number), link, client))
    while not all(client.is_finished or client.failure for _, _, client in flights):
        assert flights[0][0].stamp_ns < 120e9
        for vehicle, link, client in flights:
            client.poll(vehicle.stamp_ns)
            vehicle.send(link)
        for vehicle, link, _ in flights:
            vehicle.move(link)
    for (vehicle, link, client), (x, y, _) in zip(flights, starts, strict=True):
        client.close()
        assert client.failure is None
        assert link.is_repeatable
        assert np.linalg.norm(vehicle.p_map[:2] - (x + 8.0, y)) < LANDED_WITHIN_M


@both
def test_it_flies_on_external_vision_with_gnss_off(kind, connect):
    vision = external_vision_parameters(takeoff_altitude_m=3.0)
    link, _ = connect(kind, parameters={**ROTORS, **vision})
    vehicle = HilVehicle(has_gnss=False)
    mission = Mission(
        takeoff_altitude_m=3.0, waypoints=(Waypoint(position_m=(0.0, 0.0, 3.0), hold_s=8.0),)
    )
    client = MissionClient(mission, PLANE, INSTANCE)

    def see() -> None:
        if vehicle.n_steps % VISION_STEPS == 0:
            client.link.send_external_vision(vehicle.vision())
        if not client.link.state.is_ready and vehicle.n_steps % 250 == 0:
            if kind == "px4":
                client.link.prepare_local_flight()
            else:
                client.link.send_global_origin()

    log = fly(vehicle, link, client, limit_s=120.0, before_step=see)
    assert np.abs(np.array(log.estimate) - np.array(log.truth)).max() < VISION_ERROR_M
    assert np.linalg.norm(vehicle.p_map[:2]) < VISION_ERROR_M


@px4_only
def test_vehicles_beyond_ten_have_offboard_ports_of_their_own(kind, connect):
    """The embedded autopilot is asked the same in its own tests."""
    link, _ = connect(kind, MANY, links=["offboard"])
    offboard = OnboardLink(PLANE, MANY, local_port=offboard_port(MANY), remote_port=14580 + MANY)
    onboard = OnboardLink(PLANE, MANY)
    vehicle = HilVehicle()
    while vehicle.stamp_ns < 5e9:
        vehicle.step(link)
        offboard.receive(vehicle.stamp_ns)
        onboard.receive(vehicle.stamp_ns)
    for client in (offboard, onboard):
        assert client.state.heartbeat_ns is not None
        client.close()


@px4_only
def test_half_an_hour_passes_without_a_missed_step(kind, connect):
    link, _ = connect(kind)
    mission = Mission(
        takeoff_altitude_m=5.0,
        waypoints=(Waypoint(position_m=(5.0, 0.0, 6.0), hold_s=1750.0),),
    )
    client = MissionClient(mission, PLANE, INSTANCE)
    vehicle = HilVehicle(wind=gusts)
    fly(vehicle, link, client, limit_s=2000.0)
    assert vehicle.stamp_ns > 1800e9
    assert link.n_answered > 0.999 * link.n_sent  # all but those before the first answer
