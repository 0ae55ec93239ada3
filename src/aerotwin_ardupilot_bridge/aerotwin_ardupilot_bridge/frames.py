# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ArduPilot's frames of multirotors: which one an airframe is, and which rotor each motor turns.

Reference: ArduPilot libraries/AP_Motors/AP_MotorsMatrix.cpp (angles and directions of the motors),
AP_Motors_Class.h (numbers of FRAME_CLASS and FRAME_TYPE).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, degrees

from aerotwin_core.angles import wrap_deg
from aerotwin_core.errors import UserError

CCW, CW = 1, -1
"""Direction in which a rotor turns, seen from above."""
PLUS, X, H = 0, 1, 3
"""FRAME_TYPE; H is an X whose rotors turn the other way."""
NEAR_DEG = 20.0
"""Farthest of a rotor from the direction of ArduPilot's motor: half way to the next of eight."""
Motor = tuple[float, int]  # degrees clockwise from the nose, direction
Rotor = tuple[Sequence[float], int]  # position in body axes FLU [m], direction

_MOTORS: dict[tuple[int, int], tuple[Motor, ...]] = {
    (1, X): ((45, CCW), (-135, CCW), (-45, CW), (135, CW)),
    (1, PLUS): ((90, CCW), (-90, CCW), (0, CW), (180, CW)),
    (1, H): ((45, CW), (-135, CW), (-45, CCW), (135, CCW)),
    (2, X): ((90, CW), (-90, CCW), (-30, CW), (150, CCW), (30, CCW), (-150, CW)),
    (2, PLUS): ((0, CW), (180, CCW), (-120, CW), (60, CCW), (-60, CCW), (120, CW)),
    (3, X): (
        (22.5, CW), (-157.5, CW), (67.5, CCW), (157.5, CCW), (-22.5, CCW), (-112.5, CCW),
        (-67.5, CW), (112.5, CW),
    ),
    (3, PLUS): (
        (0, CW), (180, CW), (45, CCW), (135, CCW), (-45, CCW), (-135, CCW), (-90, CW), (90, CW),
    ),
}  # fmt: skip
"""Motors from 1 by FRAME_CLASS and FRAME_TYPE."""
_CLASS_NAMES = {1: "quad", 2: "hexa", 3: "octa"}
_TYPE_NAMES = {PLUS: "plus", X: "X", H: "H"}


@dataclass(frozen=True, kw_only=True)
class ArduPilotFrame:
    """A frame of ArduPilot; motor k + 1 turns the airframe's rotor `rotors[k]` (from 0)."""

    frame_class: int
    frame_type: int
    rotors: tuple[int, ...]

    @property
    def name(self) -> str:
        """Class and type, as text.

        >>> ArduPilotFrame(frame_class=1, frame_type=1, rotors=(0, 1, 2, 3)).name
        'quad X'
        """
        return f"{_CLASS_NAMES[self.frame_class]} {_TYPE_NAMES[self.frame_type]}"

    def describe(self) -> str:
        """Return place and direction of each motor in words."""
        motors = _MOTORS[self.frame_class, self.frame_type]
        return f"{self.name}: " + ", ".join(
            f"motor {k} {_place(angle)} {'counter-clockwise' if spin == CCW else 'clockwise'} = "
            f"rotor {rotor + 1}"
            for k, ((angle, spin), rotor) in enumerate(zip(motors, self.rotors, strict=True), 1)
        )


def find_frame(rotors: Sequence[Rotor]) -> ArduPilotFrame:
    """Return the frame of an airframe's rotors, in any order.

    Raises
    ------
    UserError
        If ArduPilot has no such frame; the text says what each rotor is.
    """
    for (frame_class, frame_type), motors in _MOTORS.items():
        if (found := _assigned(motors, rotors)) is not None:
            return ArduPilotFrame(frame_class=frame_class, frame_type=frame_type, rotors=found)
    known = ", ".join(f"{_CLASS_NAMES[c]} {_TYPE_NAMES[t]}" for c, t in _MOTORS)
    found_rotors = ", ".join(
        f"rotor {k} {_angle(position):.0f} degrees from the nose, "
        f"{'counter-clockwise' if spin == CCW else 'clockwise'}"
        for k, (position, spin) in enumerate(rotors, 1)
    )
    raise UserError(
        f"airframe: expected one of ArduPilot's frames ({known}), found {found_rotors}; correct "
        "positions or spin, or fly it with another controller"
    )


def _assigned(motors: Sequence[Motor], rotors: Sequence[Rotor]) -> tuple[int, ...] | None:
    """Return the rotor of each motor; None if they do not fit one to one."""
    if len(motors) != len(rotors):
        return None
    taken: list[int] = []
    for angle, spin in motors:
        near = [
            k
            for k, (position, turns) in enumerate(rotors)
            if turns == spin
            and k not in taken
            and abs(wrap_deg(angle - _angle(position))) < NEAR_DEG
        ]
        if len(near) != 1:
            return None
        taken += near
    return tuple(taken)


def _angle(position: Sequence[float]) -> float:
    return degrees(atan2(-position[1], position[0]))


def _place(angle_deg: float) -> str:
    along = "front" if abs(angle_deg) < 90.0 else "" if abs(angle_deg) == 90.0 else "back"
    across = "" if angle_deg in (0, 180) else "right" if angle_deg > 0.0 else "left"
    return " ".join(word for word in (along, across) if word)
