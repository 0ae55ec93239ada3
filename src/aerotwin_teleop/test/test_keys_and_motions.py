# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What keys mean, when they count as let go, and what is sent."""

import pytest

from aerotwin_teleop import AT_REST, KEY_MAPS, Formation, KeyPilot, Request, SteeredMotion
from aerotwin_teleop.key_pilot import FIRST_REPEAT_S
from aerotwin_teleop.outgoing import STOP_S, OutgoingMotion
from aerotwin_teleop.parameters import TeleopParameters

UP, DOWN, RIGHT, LEFT = b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D"
# From moveBindings of teleop_twist_keyboard, which are (x, y, z, turn), times 0.5 m/s and 1 rad/s.
TWIST_KEYS = {
    "i": (1, 0, 0, 0), "o": (1, 0, 0, -1), "j": (0, 0, 0, 1), "l": (0, 0, 0, -1),
    "u": (1, 0, 0, 1), ",": (-1, 0, 0, 0), ".": (-1, 0, 0, 1), "m": (-1, 0, 0, -1),
    "O": (1, -1, 0, 0), "I": (1, 0, 0, 0), "J": (0, 1, 0, 0), "L": (0, -1, 0, 0),
    "U": (1, 1, 0, 0), "<": (-1, 0, 0, 0), ">": (-1, -1, 0, 0), "M": (-1, 1, 0, 0),
    "t": (0, 0, 1, 0), "b": (0, 0, -1, 0),
}  # fmt: skip
XTDRONE_REQUESTS = {
    "r": Request.RETURN, "t": Request.ARM, "y": Request.DISARM, "v": Request.TAKE_OFF,
    "n": Request.LAND, "b": Request.OFFBOARD, "s": Request.HOLD, "k": Request.HOLD,
    "g": Request.LEADER_OR_ALL, "0": Formation("origin"), "1": Formation("cube"),
    "2": Formation("pyramid"), "3": Formation("triangle"),
}  # fmt: skip


def pilot(keys, **values):
    return KeyPilot(TeleopParameters(keys=keys, **values))


@pytest.mark.parametrize(("key", "parts"), TWIST_KEYS.items())
def test_keys_of_teleop_twist_keyboard_move_as_theirs(key, parts):
    one = pilot("twist")
    assert one.on_keys(key.encode(), 0.0) == []
    assert one.motion(0.0) == SteeredMotion(*parts).scaled(0.5, 1.0)


@pytest.mark.parametrize(
    ("keys", "steps"),
    [("q", (0.55, 1.1)), ("z", (0.45, 0.9)), ("w", (0.55, 1.0)), ("x", (0.45, 1.0)),
     ("e", (0.5, 1.1)), ("c", (0.5, 0.9)), ("qq", (0.605, 1.21)), ("w" * 99, (20.0, 1.0))],
)  # fmt: skip
def test_speeds_change_by_tenths_up_to_the_limits(keys, steps):
    one = pilot("twist")
    one.on_keys(b"i", 0.0)
    one.on_keys(keys.encode(), 0.0)
    assert one.steps == pytest.approx(steps)
    assert one.motion(0.0).forward == pytest.approx(steps[0]), "of what is held, too"


@pytest.mark.parametrize(("key", "request_"), XTDRONE_REQUESTS.items())
def test_keys_of_xtdrone_request_as_theirs_and_end_the_motion(key, request_):
    one = pilot("xtdrone")
    one.on_keys(b"w", 0.0)
    assert one.on_keys(key.encode(), 0.0) == [request_]
    assert (one.motion(0.0) == AT_REST) == isinstance(request_, Request)


def test_keys_of_xtdrone_add_up_while_they_are_held_within_its_limits():
    one = pilot("xtdrone", release_s=0.0)
    one.on_keys(b"wwwaxi,,jjl", 0.0)
    assert one.motion(99.0) == SteeredMotion(0.2, 0.1, -0.1, 0.05)
    one.on_keys(b"w" * 500 + b"l" * 500, 99.0)
    assert one.motion(99.0) == SteeredMotion(20.0, 0.1, -0.1, -3.0)


@pytest.mark.parametrize(
    ("keys", "forward", "turn"),
    [
        (UP, 0.25, 0.0),
        (UP + UP + LEFT, 0.5, 0.1),
        (b"wwd", 0.5, -0.1),
        (DOWN + b"s", -0.5, 0.0),
        (UP * 20 + RIGHT * 20, 1.5, -0.5),
        (b"wwaax", 0.5, 0.0),
        (b"wwaa ", 0.0, 0.0),
        (UP + b"\x1b[Z\x1bOPk\xff", 0.25, 0.0),
    ],
)
def test_a_drivers_keys_hold_and_others_do_nothing(keys, forward, turn):
    one = pilot("drive")
    assert one.on_keys(keys, 0.0) in ([], [Request.STOP])
    assert one.motion(1e6) == SteeredMotion(forward=forward, turn=turn)


def test_letting_go_stops_after_a_pause_in_which_a_held_key_would_have_repeated():
    one = pilot("twist")
    one.on_keys(b"i", 10.0)
    assert one.motion(10.0 + FIRST_REPEAT_S - 0.01) != AT_REST
    assert one.motion(10.0 + FIRST_REPEAT_S) == AT_REST
    one.on_keys(b"i", 20.0)
    for k in range(30):  # it repeats 30 times a second
        one.on_keys(b"i", 20.5 + k / 30.0)
    assert one.motion(21.5 + 0.2) != AT_REST
    assert one.motion(21.5 + 0.25) == AT_REST


def test_another_key_stops_with_the_keys_of_teleop_twist_keyboard_alone():
    for name, expected in (("twist", [Request.STOP]), ("xtdrone", []), ("drive", [])):
        assert pilot(name).on_keys(b"%", 0.0) == expected


@pytest.mark.parametrize("name", KEY_MAPS)
def test_every_map_ends_by_ctrl_d_and_stops_by_space(name):
    one = pilot(name)
    one.on_keys(b"ww", 0.0)
    assert one.on_keys(b"\x04 ", 0.0) == [Request.END, Request.STOP]
    assert one.motion(0.0) == AT_REST


def test_motions_are_sent_until_shortly_after_rest_and_not_into_another_mode():
    outgoing, forward = OutgoingMotion(), SteeredMotion(forward=1.0)
    assert not outgoing.is_due(AT_REST, 0.0) and not outgoing.end(0.0)
    assert outgoing.is_due(forward, 1.0)
    assert outgoing.is_due(AT_REST, 1.0 + STOP_S - 0.01)
    assert not outgoing.is_due(AT_REST, 1.0 + STOP_S)
    assert outgoing.is_due(forward, 2.0) and outgoing.end(2.0)
    assert not outgoing.is_due(AT_REST, 2.0)
    assert outgoing.is_due(forward, 3.0) and not outgoing.end(60.0), "a landing goes on"
    outgoing.is_offboard = True
    assert outgoing.is_due(AT_REST, 99.0) and outgoing.end(99.0)
    assert not outgoing.is_due(AT_REST, 99.0)
