# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Driving by keys: input of a terminal becomes a speed and a turn rate."""

import re
from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_ground_dynamics import VelocityCommand

KEYS = {
    b"\x1b[A": "faster", b"w": "faster", b"\x1b[B": "slower", b"s": "slower",
    b"\x1b[D": "left", b"a": "left", b"\x1b[C": "right", b"d": "right",
    b"x": "straight", b" ": "stop", b"q": "end", b"\x04": "end",
}  # fmt: skip
"""Arrows as ECMA-48 terminals send them (cursor keys), letters beside them, Ctrl-D."""
_KEY = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]|.", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class KeyParameters:
    """Steps and limits of the keys."""

    speed_step_m_s: float = parameter(
        0.25, text="what a key changes of the speed", unit="m/s", minimum=0.01, maximum=5.0
    )
    turn_step_rad_s: float = parameter(
        0.1, text="what a key changes of the rate of turn", unit="rad/s", minimum=0.01, maximum=2.0
    )
    max_speed_m_s: float = parameter(
        1.5, text="largest speed ahead and back", unit="m/s", minimum=0.05, maximum=20.0
    )
    max_turn_rad_s: float = parameter(
        0.5, text="largest rate of turn", unit="rad/s", minimum=0.05, maximum=5.0
    )


class KeyDrive:
    """A command that keys change and that holds between them; `is_over` once the driver quits."""

    def __init__(self, parameters: KeyParameters) -> None:
        self._parameters = parameters
        self.command, self.is_over = VelocityCommand(0.0, 0.0), False

    def on_keys(self, data: bytes) -> None:
        """Process the input of the terminal; unknown keys change nothing."""
        for key in _KEY.findall(data):
            self._press(KEYS.get(key, ""))

    def _press(self, meaning: str) -> None:
        p, v, omega = self._parameters, self.command.v_m_s, self.command.omega_rad_s
        v += p.speed_step_m_s * ((meaning == "faster") - (meaning == "slower"))
        omega += p.turn_step_rad_s * ((meaning == "left") - (meaning == "right"))
        if meaning in ("straight", "stop", "end"):
            omega = 0.0
        if meaning in ("stop", "end"):
            v = 0.0
        self.is_over |= meaning == "end"
        self.command = VelocityCommand(
            _within(v, p.max_speed_m_s), _within(omega, p.max_turn_rad_s)
        )


def _within(value: float, limit: float) -> float:
    return round(min(max(value, -limit), limit), 6)
