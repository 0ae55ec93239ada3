# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Valid frames with numbers that cannot be: refused, answered, and the flight goes on."""

import math
import random

import numpy as np
import pytest
from pymavlink.dialects.v20 import common

from aerotwin_autopilot.estimator.layout import V_VARIANCE_P
from aerotwin_autopilot.estimator.pose import LARGEST_STD, LEAST_STD, LevelVisionPose
from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.px4_modes import Mode

ACCEPTED, DENIED, FAILED, UNSUPPORTED_FRAME = 0, 2, 4, 8
GLOBAL_FRAME, LOCAL_NED_FRAME = 0, 1
HOME_E7 = (473977420, 85455940)
NAN = math.nan
LARGEST = 3.4e38
FLOATS = (
    0.0, 1.0, -1.0, NAN, math.inf, -math.inf, 1e9, -1e9, 1e38, -LARGEST, 1e-40, 0.5, 70000.0,
    21196.0, 4.0, 6.0, 3.0, 30.0,
)  # fmt: skip
COMMANDS = (20, 21, 22, 176, 178, 179, 185, 192, 193, 224, 300, 400, 401, 410, 510, 511, 512, 520)
FLIGHT_TERMINATION = 185
ITEMS = (16, 17, 19, 20, 21, 22, 178)
RANGES = {
    **{f"uint{bits}_t": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
    **{f"int{bits}_t": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
}


class Station:
    """Sends messages to a flight's server and steps it; every step must give fit commands."""

    def __init__(self, flight) -> None:
        self.flight, self.modes = flight, flight.modes
        self.server = MavlinkServer(flight.autopilot)
        self._encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
        flight.each = self.server.write_telemetry

    def send(self, message, link: int = 0) -> list:
        """Return what is answered."""
        b"".join(self.server.pop_datagrams(link))
        self.server.on_datagram(link, message.pack(self._encoder))
        return common.MAVLink(None).parse_buffer(b"".join(self.server.pop_datagrams(link))) or []

    def long(self, number: int, *parameters: float) -> int:
        """Send a COMMAND_LONG; return its MAV_RESULT."""
        filled = [*parameters, *[0.0] * (7 - len(parameters))]
        answers = self.send(common.MAVLink_command_long_message(1, 1, number, 0, *filled))
        return next(m.result for m in answers if m.get_type() == "COMMAND_ACK")

    def placed(self, number: int, frame: int, altitude: float, place=HOME_E7) -> int:
        """Send a COMMAND_INT with a place; return its MAV_RESULT."""
        answers = self.send(
            common.MAVLink_command_int_message(
                1, 1, frame, number, 0, 0, 0.0, 0.0, 0.0, NAN, *place, altitude
            )
        )
        return next(m.result for m in answers if m.get_type() == "COMMAND_ACK")

    def run(self, n_steps: int) -> None:
        """Step; the sample that comes next must be answered with commands that can be."""
        for _ in range(n_steps):
            self.flight.step()
            commands = self.flight.autopilot.commands
            assert all(0.0 <= c <= 1.0 for c in commands)  # False for NaN
            for link in range(3):
                b"".join(self.server.pop_datagrams(link))


@pytest.fixture
def station(flight) -> Station:
    flight.make_ready()
    return Station(flight)


@pytest.mark.parametrize("message_id", [-1.0, 70000.0, LARGEST])
def test_the_interval_of_an_impossible_message_is_denied(station, message_id):
    assert station.long(510, message_id) == DENIED


def test_an_interval_that_no_answer_can_tell_fails(station):
    assert station.long(511, 30.0, 1e12) == FAILED
    assert station.long(510, 30.0) == ACCEPTED


@pytest.mark.parametrize("altitude", [2.5e6, LARGEST, -5e3])
def test_a_home_at_an_absurd_altitude_is_denied(station, altitude):
    before = station.modes.home.copy()
    assert station.placed(179, GLOBAL_FRAME, altitude) == DENIED
    assert station.modes.home == pytest.approx(before)
    station.run(250)


def test_a_home_on_another_continent_is_denied(station):
    assert station.placed(179, GLOBAL_FRAME, 488.0, (-HOME_E7[0], HOME_E7[1])) == DENIED
    assert station.placed(179, GLOBAL_FRAME, 488.0) == ACCEPTED


def test_telemetry_survives_a_height_that_no_field_holds(station):
    station.modes.home = station.modes.home + np.array([0.0, 0.0, 1e9])
    station.run(250)
    assert station.server.n_unsaid == 0


@pytest.mark.parametrize("number", [22, 179, 192])
def test_a_place_in_a_frame_that_is_not_understood_is_refused(station, number):
    assert station.placed(number, LOCAL_NED_FRAME, -5.0) == UNSUPPORTED_FRAME


def test_a_speed_out_of_range_is_denied_and_changes_nothing(station):
    settings = station.modes.settings
    before = settings.values.cruise_speed_m_s
    assert station.long(178, 1.0, 200.0) == DENIED
    assert station.long(178, 2.0, 3.5) == DENIED  # climb
    assert station.long(178, 3.0, 3.5) == DENIED  # descent
    assert station.long(178, 1.0, -1.0) == ACCEPTED
    assert settings.values.cruise_speed_m_s == before
    assert station.long(178, 1.0, 7.0) == ACCEPTED
    assert settings.values.cruise_speed_m_s == 7.0
    assert station.long(178, 1.0, -2.0) == ACCEPTED
    assert settings.values.cruise_speed_m_s == before


def test_a_setting_cannot_become_infinite(station):
    assert not station.modes.settings.set("COM_DISARM_LAND", math.inf)
    assert math.isfinite(station.modes.settings.values.disarm_landed_s)


def test_a_refused_reposition_leaves_the_mode_as_it_was(station):
    assert station.modes.set_mode(Mode.TAKEOFF) == ""
    assert station.placed(192, GLOBAL_FRAME, 495.0) != ACCEPTED
    assert station.modes.mode is Mode.TAKEOFF


def odometry(time_us: int, quality: int):
    unknown = [NAN] * 21
    return common.MAVLink_odometry_message(
        time_us, 1, 12, 5.0, 5.0, 0.0, [1.0, 0.0, 0.0, 0.0], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        unknown, unknown, 0, 2, quality,
    )  # fmt: skip


def test_odometry_of_failed_tracking_is_dropped(station, monkeypatch):
    taken = []
    monkeypatch.setattr(station.flight.autopilot, "on_external_odometry", taken.append)
    station.send(odometry(station.flight.autopilot.time_us, -1))
    assert not taken
    station.send(odometry(station.flight.autopilot.time_us, 0))
    assert len(taken) == 1


@pytest.mark.parametrize(
    ("x", "variance"),
    [(5.0, 1e-40), (5.0, 1e-20), (5.0, LARGEST), (1e9, 1e9), (LARGEST, LARGEST), (LARGEST, 1.0)],
)
def test_impossible_vision_does_not_end_the_flight(station, x, variance):
    start_us = station.flight.autopilot.time_us
    for _ in range(200):
        station.send(
            common.MAVLink_vision_position_estimate_message(
                start_us, x, 0.0, 0.0, 0.0, 0.0, 0.0, [variance] * 21, 0
            )
        )
        station.run(2)
    station.run(250)
    assert all(map(math.isfinite, station.modes.position))


def test_noise_that_a_sender_claims_is_limited_to_what_can_be(station):
    """Its square divides in the filter: a variance of 1e-40 m^2 once left a zero there."""
    parameters = station.flight.autopilot.parameters.estimator
    for claimed, used in ((1e-20, LEAST_STD), (1e19, LARGEST_STD), (0.2, 0.2)):
        pose = LevelVisionPose(arrival_s=1.0, measured_s=1.0, position_std_m=claimed)
        assert pose.row(parameters)[V_VARIANCE_P] == pytest.approx(used**2)


def test_a_yaw_of_many_turns_is_an_angle(station):
    """What is left of 1e38 rad is no larger than half a turn, wherever it goes."""
    station.send(
        common.MAVLink_set_position_target_local_ned_message(
            0, 1, 1, 1, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, LARGEST, 0.0
        )
    )
    assert abs(station.modes.offboard.target.yaw) < 2.0 * math.pi
    for _ in range(50):
        station.send(
            common.MAVLink_vision_position_estimate_message(
                1, 0.0, 0.0, 0.0, 0.0, 0.0, LARGEST, [1e-4] * 21, 0
            )
        )
        station.run(5)
    assert station.server.n_unsaid == 0


def extreme_value(rng: random.Random, kind: str, length: int):
    """A value of a field at or near the end of what its type holds; a list for an array."""
    if kind == "char":
        return rng.choice([b"MIS_TAKEOFF_ALT", b"NAV_DLL_ACT", b"MPC_XY_CRUISE", b"\xff\xfe", b""])

    def one():
        if kind in ("float", "double"):
            return rng.choice(FLOATS)
        low, high = RANGES[kind]
        return rng.choice([low, high, 0, 1, rng.randint(low, high)])

    return [one() for _ in range(length)] if length else one()


def extreme_message(rng: random.Random, name: str, awaited: int):
    """A valid message of a name that is read, with extreme values, meant for this vehicle."""
    message = getattr(common, f"MAVLink_{name.lower()}_message")
    lengths = dict(zip(message.ordered_fieldnames, message.array_lengths, strict=True))
    fields = {}
    for field, kind in zip(message.fieldnames, message.fieldtypes, strict=True):
        if field in ("target_system", "target_component"):
            fields[field] = 1
        elif field == "command":
            fields[field] = rng.choice(COMMANDS if name.startswith("COMMAND") else ITEMS)
        elif field in ("frame", "coordinate_frame"):
            fields[field] = rng.choice([0, 1, 3, 5, 6, 7, 8, 12])
        elif field == "mission_type":
            fields[field] = rng.choice([0, 0, 0, 1, 255])
        elif field == "seq" and name == "MISSION_ITEM_INT":
            fields[field] = awaited
        elif field == "count":
            fields[field] = rng.choice([0, 1, 2, 3])
        else:
            fields[field] = extreme_value(rng, kind, lengths[field])
    return message(**fields)


@pytest.mark.parametrize(("seed", "is_flying"), [(0, False), (1, False), (2, True), (3, True)])
def test_extreme_values_in_valid_frames_never_end_the_session(station, seed, is_flying):
    if is_flying:
        station.flight.take_off()
    rng = random.Random(seed)
    names = list(station.server._handlers)
    for _ in range(500):
        upload = station.server._missions._upload
        awaited = len(upload.items) if upload is not None else 0
        message = extreme_message(rng, rng.choice(names), awaited)
        if is_flying and getattr(message, "command", 0) == FLIGHT_TERMINATION:
            continue
        station.send(message, rng.randrange(3))
        station.run(rng.choice([0, 0, 1, 6]))
    assert station.long(520) == ACCEPTED
