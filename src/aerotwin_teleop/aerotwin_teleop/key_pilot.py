# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Keys as a motion: what is pressed, what that asks for, and when it counts as let go.

A terminal reports no release. A key that is held repeats, after a first pause of up to
`FIRST_REPEAT_S`; so a first press counts for that long, and each repeat for `release_s`.
"""

import math
import re

from aerotwin_teleop.key_maps import Formation, Request, Scale
from aerotwin_teleop.motion import AT_REST, SteeredMotion
from aerotwin_teleop.parameters import TeleopParameters

FIRST_REPEAT_S = 0.7
"""X's default pause is 0.66 s; those of Windows, macOS and consoles are 0.25 to 0.5 s."""
_KEY = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]|\x1bO.|.", re.DOTALL)
_MODES = (
    Request.ARM, Request.DISARM, Request.TAKE_OFF, Request.LAND, Request.RETURN, Request.HOLD,
    Request.STOP, Request.OFFBOARD, Request.LEADER_OR_ALL, Request.END,
)  # fmt: skip
"""Requests that end a motion."""


class KeyPilot:
    """The motion that keys ask for. Times are of any one clock that goes on [s]."""

    def __init__(self, parameters: TeleopParameters) -> None:
        self._map = parameters.key_map
        self._speed_step = parameters.of_keys("speed_step_m_s")
        self._turn_step = parameters.of_keys("turn_step_rad_s")
        self._limits = parameters.of_keys("max_speed_m_s"), parameters.of_keys("max_turn_rad_s")
        self._release_s = parameters.of_keys("release_s")
        self._motion = AT_REST
        self._key, self._until_s = b"", math.inf

    @property
    def steps(self) -> tuple[float, float]:
        """Speed and turn of a press [m/s], [rad/s]."""
        return self._speed_step, self._turn_step

    def on_keys(self, data: bytes, time_s: float) -> list[Request | Formation]:
        """Process the input of a terminal; return what it asks for beside a motion, in order."""
        requests: list[Request | Formation] = []
        for key in _KEY.findall(data):
            meaning = self._map.keys.get(key)
            if meaning is None and self._map.stops_on_others:
                meaning = Request.STOP
            if isinstance(meaning, SteeredMotion):
                self._move(key, meaning, time_s)
            elif isinstance(meaning, Scale):
                self._scale(meaning)
            elif meaning is Request.STRAIGHT:
                self._motion = self._motion._replace(turn=0.0)
            elif meaning is not None:
                if meaning in _MODES:
                    self.stop()
                requests.append(meaning)
        return requests

    def stop(self) -> None:
        """Ask for rest."""
        self._motion, self._key = AT_REST, b""

    def motion(self, time_s: float) -> SteeredMotion:
        """Return the motion asked for now."""
        if time_s >= self._until_s:
            self.stop()
        return self._motion

    def _move(self, key: bytes, direction: SteeredMotion, time_s: float) -> None:
        before = self.motion(time_s)
        is_repeat = key == self._key
        step = direction.scaled(self._speed_step, self._turn_step)
        self._motion = (before.plus(step) if self._map.is_step else step).within(*self._limits)
        self._key, self._until_s = key, math.inf
        if self._release_s > 0.0:
            pause_s = self._release_s if is_repeat else max(self._release_s, FIRST_REPEAT_S)
            self._until_s = time_s + pause_s

    def _scale(self, scale: Scale) -> None:
        speed, turn = self._limits
        self._speed_step = min(self._speed_step * scale.speed, speed)
        self._turn_step = min(self._turn_step * scale.turn, turn)
        self._motion = self._motion.scaled(scale.speed, scale.turn).within(speed, turn)
