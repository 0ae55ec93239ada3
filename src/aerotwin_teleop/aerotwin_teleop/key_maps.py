# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Named maps of keys: those of teleop_twist_keyboard, of XTDrone, and of a driver's arrows."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from aerotwin_teleop.motion import SteeredMotion


class Request(Enum):
    """What a key asks for beside a motion; the value is shown to the user."""

    ARM = "arm"
    DISARM = "disarm"
    TAKE_OFF = "takeoff"
    LAND = "land"
    RETURN = "return"
    HOLD = "hold"
    OFFBOARD = "offboard"
    STOP = "stop"
    STRAIGHT = "straight on"
    LEADER_OR_ALL = "leader or all"
    END = "end"


@dataclass(frozen=True)
class Scale:
    """Change of the speed and of the rate of turn that keys ask for, as factors."""

    speed: float
    turn: float


@dataclass(frozen=True)
class Formation:
    """Change of the formation to a pattern of this name."""

    pattern: str


Meaning = SteeredMotion | Scale | Request | Formation

FORMATIONS = ("origin", "cube", "pyramid", "triangle", "t", "diamond", "cuboid", "sphere")
"""Shipped patterns of the digits from 0; 8 and 9 are free."""


@dataclass(frozen=True, kw_only=True)
class KeyMap:
    """Keys and what they mean, and what a press is worth.

    Attributes
    ----------
    keys : mapping
        Bytes of a key -> meaning.
    is_step : bool
        A press adds its motion to the present one; else it replaces it.
    stops_on_others : bool
        Any other key stops.
    speed_step_m_s, turn_step_rad_s : float
        SteeredMotion of one press.
    max_speed_m_s, max_turn_rad_s : float
        Limits of the sum, and of what `Scale` reaches.
    release_s : float
        Without a key for so long it stops; 0: it goes on as it is.
    help : str
        The keys, for the user.
    """

    keys: Mapping[bytes, Meaning]
    is_step: bool
    stops_on_others: bool
    speed_step_m_s: float
    turn_step_rad_s: float
    max_speed_m_s: float
    max_turn_rad_s: float
    release_s: float
    help: str


RELEASE_S = 0.25
"""Keys repeat 10 to 40 times a second once they do (X, Windows, macOS, the Linux console)."""
_END: dict[bytes, Meaning] = {b"\x04": Request.END}
_DIGITS: dict[bytes, Meaning] = {
    str(k).encode(): Formation(name) for k, name in enumerate(FORMATIONS)
}


def _twist(forward: float, left: float, up: float, turn: float) -> SteeredMotion:
    return SteeredMotion(forward, left, up, turn)


TWIST = KeyMap(
    keys={
        **_END,
        **_DIGITS,
        b"i": _twist(1, 0, 0, 0), b"o": _twist(1, 0, 0, -1), b"u": _twist(1, 0, 0, 1),
        b"j": _twist(0, 0, 0, 1), b"l": _twist(0, 0, 0, -1),
        b",": _twist(-1, 0, 0, 0), b".": _twist(-1, 0, 0, 1), b"m": _twist(-1, 0, 0, -1),
        b"I": _twist(1, 0, 0, 0), b"O": _twist(1, -1, 0, 0), b"U": _twist(1, 1, 0, 0),
        b"J": _twist(0, 1, 0, 0), b"L": _twist(0, -1, 0, 0),
        b"<": _twist(-1, 0, 0, 0), b">": _twist(-1, -1, 0, 0), b"M": _twist(-1, 1, 0, 0),
        b"t": _twist(0, 0, 1, 0), b"b": _twist(0, 0, -1, 0),
        b"q": Scale(1.1, 1.1), b"z": Scale(0.9, 0.9),
        b"w": Scale(1.1, 1.0), b"x": Scale(0.9, 1.0),
        b"e": Scale(1.0, 1.1), b"c": Scale(1.0, 0.9),
        b"a": Request.ARM, b"y": Request.DISARM, b"v": Request.TAKE_OFF, b"n": Request.LAND,
        b"r": Request.RETURN, b"h": Request.HOLD, b"f": Request.OFFBOARD,
        b"g": Request.LEADER_OR_ALL, b"k": Request.STOP, b" ": Request.STOP,
    },
    is_step=False,
    stops_on_others=True,
    speed_step_m_s=0.5,
    turn_step_rad_s=1.0,
    max_speed_m_s=20.0,
    max_turn_rad_s=3.0,
    release_s=RELEASE_S,
    help="""\
u i o  j k l  m , .   move and turn (Shift: sideways); t b up, down; any other key stops
q z  w x  e c         10 % more or less: both, speed, turn
a y  arm, disarm   v take off   n land   r return   h hold   f offboard
g leader or all   0-7 formation   Ctrl-C end""",
)  # fmt: skip
"""teleop_twist_keyboard's keys; commands on letters that it leaves free."""

XTDRONE = KeyMap(
    keys={
        **_END,
        **_DIGITS,
        b"w": _twist(1, 0, 0, 0), b"x": _twist(-1, 0, 0, 0),
        b"a": _twist(0, 1, 0, 0), b"d": _twist(0, -1, 0, 0),
        b"i": _twist(0, 0, 1, 0), b",": _twist(0, 0, -1, 0),
        b"j": _twist(0, 0, 0, 1), b"l": _twist(0, 0, 0, -1),
        b"r": Request.RETURN, b"t": Request.ARM, b"y": Request.DISARM, b"v": Request.TAKE_OFF,
        b"n": Request.LAND, b"b": Request.OFFBOARD, b"s": Request.HOLD, b"k": Request.HOLD,
        b"g": Request.LEADER_OR_ALL, b" ": Request.STOP,
    },
    is_step=True,
    stops_on_others=False,
    speed_step_m_s=0.1,
    turn_step_rad_s=0.05,
    max_speed_m_s=20.0,
    max_turn_rad_s=3.0,
    release_s=RELEASE_S,
    help="""\
w x  forward, back   a d  left, right   i ,  up, down   j l  turn   (faster while held)
t y  arm, disarm   v take off   n land   r return   s k hold   b offboard   space stops
g leader or all   0-7 formation   Ctrl-C end""",
)  # fmt: skip
"""Keys of XTDrone's multirotor_keyboard_control, whose own step is 0.01 and which goes on."""

_STEPS: dict[bytes, Meaning] = {
    b"\x1b[A": _twist(1, 0, 0, 0), b"w": _twist(1, 0, 0, 0),
    b"\x1b[B": _twist(-1, 0, 0, 0), b"s": _twist(-1, 0, 0, 0),
    b"\x1b[D": _twist(0, 0, 0, 1), b"a": _twist(0, 0, 0, 1),
    b"\x1b[C": _twist(0, 0, 0, -1), b"d": _twist(0, 0, 0, -1),
}  # fmt: skip
"""Arrows as ECMA-48 terminals send them (cursor keys), letters beside them."""
DRIVE = KeyMap(
    keys={
        **_END, **_STEPS,
        b"x": Request.STRAIGHT, b" ": Request.STOP, b"q": Request.END,
    },
    is_step=True,
    stops_on_others=False,
    speed_step_m_s=0.25,
    turn_step_rad_s=0.1,
    max_speed_m_s=1.5,
    max_turn_rad_s=0.5,
    release_s=0.0,
    help="arrows or w a s d drive, x straight on, space stops, q ends",
)  # fmt: skip
"""A driver's keys for a ground robot on a long way: the last command holds."""

KEY_MAPS = {"twist": TWIST, "xtdrone": XTDRONE, "drive": DRIVE}
