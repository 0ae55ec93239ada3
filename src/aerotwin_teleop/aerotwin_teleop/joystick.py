# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Axes and buttons of a joystick, as sensor_msgs/Joy has them, as a motion and requests."""

import math
from collections.abc import Sequence

from aerotwin_teleop.key_maps import Request
from aerotwin_teleop.motion import AT_REST, SteeredMotion
from aerotwin_teleop.parameters import TeleopParameters

SILENCE_S = 0.5
"""Of a joystick whose node repeats its state 20 times a second by default."""
BUTTONS = {
    0: Request.TAKE_OFF,
    1: Request.LAND,
    2: Request.HOLD,
    3: Request.RETURN,
    6: Request.DISARM,
    7: Request.ARM,
}
"""Of a gamepad: A, B, X, Y, back, start."""


class Joystick:
    """The motion that a joystick asks for. Times are of any one clock that goes on [s]."""

    def __init__(self, parameters: TeleopParameters) -> None:
        self._parameters = parameters
        self._motion, self._until_s = AT_REST, -math.inf
        self._pressed: frozenset[int] = frozenset()

    def on_state(
        self, axes: Sequence[float], buttons: Sequence[int], time_s: float
    ) -> list[Request]:
        """Take the state of axes and buttons; return what newly pressed buttons ask for.

        Raises ValueError for an axis that is missing or not finite.
        """
        p = self._parameters
        if len(axes) <= max(p.joy_axes) or not math.isfinite(sum(axes)):
            raise ValueError(
                f"axes must be finite and more than {max(p.joy_axes)}, found "
                f"{[round(x, 3) for x in axes]}; set joy_axes to those of this joystick"
            )
        parts = SteeredMotion(*(self._deflection(axes[k]) for k in p.joy_axes))
        self._motion = parts.scaled(p.joy_speed_m_s, p.joy_turn_rad_s)
        self._until_s = time_s + SILENCE_S
        pressed = frozenset(k for k, is_down in enumerate(buttons) if is_down)
        new, self._pressed = pressed - self._pressed, pressed
        return [BUTTONS[k] for k in sorted(new) if k in BUTTONS]

    def motion(self, time_s: float) -> SteeredMotion:
        """Return the motion asked for now: none from a joystick that is silent."""
        return self._motion if time_s < self._until_s else AT_REST

    def _deflection(self, axis: float) -> float:
        """Return an axis in [-1, 1], from 0 at the edge of the dead zone on."""
        dead = self._parameters.joy_dead_zone
        beyond = max(abs(min(max(axis, -1.0), 1.0)) - dead, 0.0) / (1.0 - dead)
        return math.copysign(beyond, axis)
