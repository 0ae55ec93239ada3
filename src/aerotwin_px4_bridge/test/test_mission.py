# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The mission script against an autopilot in a few lines of pymavlink that flies perfectly."""

import socket
from collections.abc import Iterator
from math import cos, pi, sin

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.parameters import load_parameters
from aerotwin_px4_bridge.common_start import CommonStart
from aerotwin_px4_bridge.mission import MissionPlan, Waypoint
from aerotwin_px4_bridge.mission_client import MissionClient
from aerotwin_px4_bridge.onboard import OnboardLink

STEP_NS = 4_000_000
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
PLANE = LocalTangentPlane(HOME)
FIELD_DIGIT_M = 0.02  # 1e-7 degrees are 1.1 cm, set-point and estimate each round once
TAKEOFF, LOITER, RETURN, LAND, OFFBOARD = (4, 2), (4, 3), (4, 5), (4, 6), (6, 0)
MISSION = MissionPlan(
    takeoff_altitude_m=3.0,
    speed_m_s=3.0,
    waypoints=(
        Waypoint(position_m=(8.0, 0.0, 4.0), yaw_deg=90.0),
        Waypoint(position_m=(8.0, 8.0, 4.0), hold_s=1.0),
    ),
)


class PerfectAutopilot:
    """Answers like PX4 on its onboard port and is at once where it is told to be."""

    def __init__(self, *, instance: int = 0) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]
        self.remote: tuple[str, int] | None = None
        self.codec = mavlink.MAVLink(None, instance + 1, 1)
        self.system_id = instance + 1
        self.mode, self.is_armed, self.is_ready = LOITER, False, True
        self.height = self.wanted_height = 0.0
        self.p_map, self.heading, self.v_ned = np.zeros(3), 0.0, (0.0, 0.0, 0.0)
        self.commands: list[tuple[int, float, float]] = []
        self.setpoints: list[mavlink.MAVLink_message] = []
        self.refuse: set[int] = set()
        self.refusal = mavlink.MAV_RESULT_TEMPORARILY_REJECTED
        self.is_silent = False
        self.n = 0

    def step(self, time_ms: int) -> None:
        self._receive()
        if self.is_armed and self.mode == TAKEOFF:
            self.p_map[2] = min(self.p_map[2] + 0.01, self.wanted_height)
            if self.p_map[2] >= self.wanted_height - 0.8:
                self.mode = LOITER
        if self.mode in (RETURN, LAND) and self.is_armed:
            self.p_map[2] = max(self.p_map[2] - 0.01, 0.0)
            self.is_armed = self.p_map[2] > 0.0
        if not self.is_silent:
            self._talk(time_ms)
        self.n += 1

    def say(self, message: mavlink.MAVLink_message) -> None:
        self.socket.sendto(message.pack(self.codec), self.remote)

    def _talk(self, time_ms: int) -> None:
        if self.n % 250 == 0:
            base_mode = 1 | (128 if self.is_armed else 0)
            custom = self.mode[0] << 16 | self.mode[1] << 24
            self.say(mavlink.MAVLink_heartbeat_message(2, 12, base_mode, custom, 4, 3))
            health = 0x10000000 if self.is_ready else 0
            self.say(mavlink.MAVLink_sys_status_message(0, 0, health, *[0] * 10))
        if self.n % 12 == 0:
            latitude, longitude, altitude = PLANE.to_geodetic(self.p_map)
            q = (cos(self.heading / 2), 0.0, 0.0, sin(self.heading / 2))
            self.say(mavlink.MAVLink_attitude_quaternion_message(time_ms, *q, 0.1, 0.2, 0.3))
            self.say(
                mavlink.MAVLink_global_position_int_message(
                    time_ms,
                    round(latitude * 1e7),
                    round(longitude * 1e7),
                    round(altitude * 1e3),
                    0,
                    *(round(100 * v) for v in self.v_ned),
                    0,
                )
            )

    def _receive(self) -> None:
        while True:
            try:
                data = self.socket.recv(2048)
            except BlockingIOError:
                return
            for message in self.codec.parse_buffer(data) or []:
                self._on_frame(message)

    def _on_frame(self, message: mavlink.MAVLink_message) -> None:
        if message.get_type() == "COMMAND_LONG":
            self._command(message)
        elif message.get_type() == "SET_POSITION_TARGET_GLOBAL_INT":
            self.setpoints.append(message)
            if self.mode == OFFBOARD:
                self.p_map = PLANE.from_geodetic(
                    message.lat_int * 1e-7, message.lon_int * 1e-7, message.alt
                )
                self.heading = message.yaw
                self.v_ned = (message.vx, message.vy, message.vz)

    def _command(self, message: mavlink.MAVLink_message) -> None:
        self.commands.append((message.command, message.param1, message.param2))
        if message.command in self.refuse:
            self.say(mavlink.MAVLink_command_ack_message(message.command, self.refusal))
            return
        if message.command == mavlink.MAV_CMD_NAV_TAKEOFF:
            self.mode, self.wanted_height = TAKEOFF, message.param7 - HOME.altitude_m
        elif message.command == mavlink.MAV_CMD_COMPONENT_ARM_DISARM:
            self.is_armed = True
            self.n = 0  # a heartbeat at once
        elif message.command == mavlink.MAV_CMD_DO_SET_MODE:
            self.mode = (int(message.param2), int(message.param3))
            self.v_ned = (0.0, 0.0, 0.0)
            self.n = 0
        self.say(mavlink.MAVLink_command_ack_message(message.command, 0))


@pytest.fixture
def pair() -> Iterator[tuple[PerfectAutopilot, MissionClient]]:
    autopilot = PerfectAutopilot()
    client = MissionClient(MISSION, PLANE, local_port=0, remote_port=autopilot.port)
    autopilot.remote = ("127.0.0.1", client.link.local_port)
    yield autopilot, client
    client.close()
    autopilot.socket.close()


def _fly(autopilot, client, limit_s: float = 200.0, on_step=None) -> list[str]:
    """Run until it ends; return the phases in order."""
    phases = [client.phase]
    stamp_ns = 0
    while not client.is_finished and client.failure is None:
        assert stamp_ns < limit_s * 1e9, f"still {client.phase}"
        stamp_ns += STEP_NS
        client.poll(stamp_ns)
        autopilot.step(stamp_ns // 1_000_000)
        if on_step is not None:
            on_step(stamp_ns)
        if client.phase != phases[-1]:
            phases.append(client.phase)
    return phases


def test_a_flight_goes_through_its_phases_in_order(pair):
    autopilot, client = pair
    autopilot.is_ready = False

    def become_ready(stamp_ns: int) -> None:
        autopilot.is_ready = stamp_ns > 3_000_000_000

    assert _fly(autopilot, client, on_step=become_ready) == [
        "waiting for the autopilot",
        "waiting until it can arm",
        "taking off",
        "settling",
        "entering offboard",
        "flying",
        "landing",
        "finished",
    ]
    assert client.failure is None
    assert client.progress == 1.0
    assert not autopilot.is_armed


def test_the_autopilot_is_sent_along_the_path_to_the_last_point(pair):
    autopilot, client = pair
    _fly(autopilot, client)
    assert autopilot.p_map[:2] == pytest.approx([8.0, 8.0], abs=FIELD_DIGIT_M)
    visited = np.array(
        [
            PLANE.from_geodetic(s.lat_int * 1e-7, s.lon_int * 1e-7, s.alt)
            for s in autopilot.setpoints
        ]
    )
    for waypoint in ((8.0, 0.0, 4.0), (8.0, 8.0, 4.0)):
        corner_cut = 2.0 * (2**0.5 - 1.0) + 0.1
        assert np.linalg.norm(visited - waypoint, axis=1).min() < corner_cut


def test_setpoints_are_absolute_and_carry_velocity_and_yaw_in_north_east_down(pair):
    autopilot, client = pair
    _fly(autopilot, client)
    fastest = max(autopilot.setpoints, key=lambda s: s.vy)
    assert fastest.coordinate_frame == mavlink.MAV_FRAME_GLOBAL_INT
    assert (fastest.type_mask, fastest.target_system) == (0, 1)
    assert fastest.vy > 1.9  # east, along map x
    assert abs(fastest.vx) < 0.3
    assert fastest.alt - HOME.altitude_m == pytest.approx(3.5, abs=1.5)
    # 90 degrees from east is north
    assert autopilot.setpoints[-1].yaw == pytest.approx(0.0, abs=1e-6)


def test_setpoints_flow_for_a_second_before_offboard_and_at_fifty_hertz(pair):
    autopilot, client = pair
    n_before: list[int] = []

    def note(_: int) -> None:
        if autopilot.mode == OFFBOARD and not n_before:
            n_before.append(len(autopilot.setpoints))

    _fly(autopilot, client, on_step=note)
    assert 48 <= n_before[0] <= 53
    spacing = np.diff([s.time_boot_ms for s in autopilot.setpoints])
    assert set(spacing.tolist()) == {20}


def test_its_estimate_is_in_map_axes(pair):
    autopilot, client = pair
    autopilot.is_ready = False
    autopilot.p_map = np.array([10.0, -20.0, 3.0])
    autopilot.heading = 0.0
    autopilot.v_ned = (1.0, 2.0, 3.0)
    for n in range(1, 30):
        autopilot.step(4 * n)
        client.poll(n * STEP_NS)
    estimate = client.estimate
    assert estimate.p_map == pytest.approx([10.0, -20.0, 3.0], abs=FIELD_DIGIT_M)
    assert estimate.v_map == pytest.approx([2.0, 1.0, -3.0])
    assert estimate.q_map_body == pytest.approx([0.0, 0.0, sin(pi / 4), cos(pi / 4)], abs=1e-6)
    assert estimate.omega_map_body_in_body == pytest.approx([0.1, -0.2, -0.3])
    assert estimate.stamp_ns % 1_000_000 == 0


def test_a_mission_anchored_at_a_mark_is_flown_relative_to_it():
    """The autopilot's map is off by a constant: neither its path nor its estimate shows it here."""
    error = np.array([1.5, -0.5, 0.75])
    autopilot = PerfectAutopilot()
    autopilot.p_map = error.copy()
    client = MissionClient(
        MISSION,
        PLANE,
        local_port=0,
        remote_port=autopilot.port,
        p_map_start=(0.0, 0.0, 0.0),
    )
    autopilot.remote = ("127.0.0.1", client.link.local_port)
    gaps: list[float] = []

    def note(_: int) -> None:
        if client.phase == "flying" and client.estimate is not None:
            gaps.append(float(np.linalg.norm(client.estimate.p_map - client.setpoint.p_map)))

    _fly(autopilot, client, on_step=note)
    client.close()
    autopilot.socket.close()
    assert client.is_finished
    assert autopilot.p_map[:2] - error[:2] == pytest.approx([8.0, 8.0], abs=FIELD_DIGIT_M)
    age_s = 0.08  # of an estimate: one interval and a set-point's
    assert max(gaps) < 3.0 * age_s + FIELD_DIGIT_M


def test_two_flights_send_the_same_bytes():
    sent: list[list[bytes]] = []
    for _ in range(2):
        autopilot = PerfectAutopilot()
        client = MissionClient(MISSION, PLANE, local_port=0, remote_port=autopilot.port)
        autopilot.remote = ("127.0.0.1", client.link.local_port)
        _fly(autopilot, client)
        sent.append([bytes(s.get_msgbuf()) for s in autopilot.setpoints])
        client.close()
        autopilot.socket.close()
    assert sent[0] == sent[1]


def test_unrequested_streams_are_stopped(pair):
    autopilot, client = pair
    link = client.link
    attitude = mavlink.MAVLink_attitude_message(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for _ in range(20):
        autopilot.say(attitude)
        link.poll_datagrams(0)
    autopilot._receive()
    stops = [c for c in autopilot.commands if c == (mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, 30, -1)]
    assert 1 <= len(stops) <= 5


def test_no_autopilot_is_a_failure_in_words_not_an_endless_wait(pair):
    autopilot, client = pair
    autopilot.is_silent = True
    _fly(autopilot, client)
    assert client.phase == "failed"
    assert "no HEARTBEAT on the onboard link within 90 s of simulated time" in client.failure


def test_one_that_cannot_arm_is_reported_with_its_own_reason(pair):
    autopilot, client = pair
    autopilot.is_ready = False
    autopilot.say(mavlink.MAVLink_statustext_message(3, b"Preflight Fail: no GPS"))
    _fly(autopilot, client)
    assert "did not become ready to arm" in client.failure
    assert "Preflight Fail: no GPS" in client.failure


def test_a_refused_command_is_sent_again_each_second_and_then_reported(pair):
    autopilot, client = pair
    autopilot.refuse.add(mavlink.MAV_CMD_COMPONENT_ARM_DISARM)
    _fly(autopilot, client)
    assert "arming was not accepted within 20 s (TEMPORARILY_REJECTED)" in client.failure
    tries = [c for c in autopilot.commands if c[0] == mavlink.MAV_CMD_COMPONENT_ARM_DISARM]
    assert 20 <= len(tries) <= 21


def test_a_refusal_of_an_unknown_kind_is_reported_by_its_number(pair):
    autopilot, client = pair
    autopilot.refuse.add(mavlink.MAV_CMD_COMPONENT_ARM_DISARM)
    autopilot.refusal = 77
    _fly(autopilot, client)
    assert "(result 77)" in client.failure


def test_leaving_offboard_by_itself_ends_the_mission(pair):
    autopilot, client = pair

    def fail_safe(stamp_ns: int) -> None:
        if client.progress > 0.5 and autopilot.mode == OFFBOARD:
            autopilot.mode = LOITER

    _fly(autopilot, client, on_step=fail_safe)
    assert "left OFFBOARD for HOLD: a fail-safe" in client.failure
    assert client.setpoint is None


def test_a_held_mission_stands_still_and_goes_on_where_it_was(pair):
    autopilot, client = pair
    progress = []

    def hold_at_half(stamp_ns: int) -> None:
        if client.phase == "flying" and client.progress > 0.5 and not progress:
            client.hold()
        if client.phase == "holding" and autopilot.mode == LOITER:
            progress.append(client.progress)
            if len(progress) == 500:
                client.resume()

    _fly(autopilot, client, on_step=hold_at_half)
    assert client.failure is None
    assert client.is_finished
    assert max(progress) - min(progress) == 0.0
    assert 0.5 < progress[0] < 0.6


@pytest.mark.parametrize("is_held", [False, True])
def test_a_mission_can_be_landed_on_its_way(pair, is_held):
    autopilot, client = pair

    def land_at_half(stamp_ns: int) -> None:
        if is_held and client.phase == "flying" and client.progress > 0.4:
            client.hold()
        elif client.phase in ("flying", "holding") and client.progress > 0.4:
            client.land()

    _fly(autopilot, client, on_step=land_at_half)
    assert "landed by request after 4" in client.failure
    assert not autopilot.is_armed


def test_a_mission_can_be_ended_by_a_return(pair):
    autopilot, client = pair

    def return_at_half(stamp_ns: int) -> None:
        if client.phase == "flying" and client.progress > 0.4:
            client.return_home()

    _fly(autopilot, client, on_step=return_at_half)
    assert "returned by request after 4" in client.failure
    assert not autopilot.is_armed


def test_only_a_mission_in_flight_is_interrupted(pair):
    _, client = pair
    for request in (client.hold, client.land, client.return_home):
        with pytest.raises(UserError, match="waiting for the autopilot"):
            request()
    with pytest.raises(UserError, match="not held"):
        client.resume()


def test_silence_in_flight_ends_the_mission(pair):
    autopilot, client = pair

    def fall_silent(_: int) -> None:
        autopilot.is_silent = autopilot.is_silent or client.phase == "flying"

    _fly(autopilot, client, on_step=fall_silent)
    assert "no HEARTBEAT for 5 s" in client.failure


def test_other_systems_are_not_listened_to(pair):
    autopilot, client = pair
    autopilot.codec.srcSystem = 9
    for n in range(1, 300):
        autopilot.step(4 * n)
        client.poll(n * STEP_NS)
    assert client.phase == "waiting for the autopilot"


def test_garbage_on_the_port_does_no_harm(pair):
    autopilot, client = pair
    rng = np.random.default_rng(0)

    def noise(_: int) -> None:
        junk = rng.integers(0, 256, 40, dtype=np.uint8).tobytes()
        autopilot.socket.sendto(b"\xfd" + junk, autopilot.remote)

    _fly(autopilot, client, on_step=noise)
    assert client.is_finished


def test_a_taken_port_is_named():
    first = OnboardLink(PLANE, local_port=0)
    with pytest.raises(UserError, match=rf"UDP port {first.local_port}"):
        OnboardLink(PLANE, local_port=first.local_port)
    first.close()


def test_a_mission_is_read_from_plain_values():
    mission = load_parameters(
        MissionPlan,
        {"speed_m_s": 3, "waypoints": [{"position_m": [1, 2, 3], "yaw_deg": 90}]},
        where="mission.yaml",
    )
    assert mission.waypoints == (Waypoint(position_m=(1.0, 2.0, 3.0), yaw_deg=90.0),)
    assert mission.speed_m_s == 3.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"waypoints": []}, "at least one"),
        ({"waypoints": [{"position_m": [1, 2]}]}, "expected 3 values"),
        ({"waypoints": [{"position_m": [1, 2, 3], "yaw": 3}]}, "unknown key 'yaw'"),
        ({"waypoints": [{"position_m": [1, 2, 3]}], "speed_m_s": 0.0}, "at least"),
    ],
)
def test_a_bad_mission_is_refused(values, message):
    with pytest.raises(ParameterError, match=message):
        load_parameters(MissionPlan, values, where="mission.yaml")


class _FleetOfTwo:
    """Two missions with one common start, polled in turn."""

    def __init__(self) -> None:
        self.start, self.stamp_ns = CommonStart(), 0
        self.autopilots = [PerfectAutopilot(), PerfectAutopilot()]
        self.clients = [
            MissionClient(
                MISSION, PLANE, local_port=0, remote_port=each.port, common_start=self.start
            )
            for each in self.autopilots
        ]
        for autopilot, client in zip(self.autopilots, self.clients, strict=True):
            autopilot.remote = ("127.0.0.1", client.link.local_port)

    def step(self) -> None:
        self.stamp_ns += STEP_NS
        for autopilot, client in zip(self.autopilots, self.clients, strict=True):
            client.poll(self.stamp_ns)
            autopilot.step(self.stamp_ns // 1_000_000)

    def close(self) -> None:
        for client in self.clients:
            client.close()
        for autopilot in self.autopilots:
            autopilot.socket.close()


@pytest.fixture
def fleet() -> Iterator[_FleetOfTwo]:
    fleet = _FleetOfTwo()
    yield fleet
    fleet.close()


def test_missions_with_a_common_start_begin_their_paths_together(fleet):
    fleet.autopilots[0].is_ready = False
    first, second = fleet.clients
    while first.path_start_ns is None or second.path_start_ns is None:
        assert fleet.stamp_ns < 100_000_000_000, f"{first.phase}, {second.phase}"
        fleet.step()
        fleet.autopilots[0].is_ready = fleet.stamp_ns > 20_000_000_000
        if fleet.stamp_ns == 20_000_000_000:
            assert second.phase == "waiting for the others"
    assert abs(first.path_start_ns - second.path_start_ns) <= 2 * STEP_NS


@pytest.mark.parametrize("ends", ["fails", "leaves"])
def test_a_mission_that_ends_before_is_not_waited_for(fleet, ends):
    fleet.autopilots[0].is_ready = False
    first, second = fleet.clients
    while second.phase != "waiting for the others":
        assert fleet.stamp_ns < 100_000_000_000, second.phase
        fleet.step()
    if ends == "leaves":
        first.close()
        fleet.autopilots.pop(0).socket.close()
        fleet.clients.pop(0)
    while second.path_start_ns is None:
        assert fleet.stamp_ns < 200_000_000_000, second.phase
        fleet.step()
    if ends == "fails":
        assert "did not become ready to arm" in str(first.failure)
