# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The return flight: climb to the return height, fly above home, land."""

import numpy as np

from aerotwin_autopilot.control.guidance import Guidance
from aerotwin_autopilot.settings import Settings

ARRIVED_M = 0.15
NEAR_M = 1.0
"""Nearer than this the vehicle returns at its present height."""


class ReturnFlight:
    """Writes the targets of the return flight, leg by leg; `goal` is None until chosen."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._leg = 0
        self.goal: np.ndarray | None = None

    def restart(self) -> None:
        """Restart with the climb, and with the choice of the goal."""
        self._leg = 0
        self.goal = None

    def step(self, guidance: Guidance, position: np.ndarray, home: np.ndarray) -> bool:
        """Write the target of the present leg; True when the vehicle is above home."""
        target = guidance.target
        is_near = bool(np.hypot(*(home[:2] - position[:2])) < NEAR_M)
        if self._leg == 0:
            self._leg = 1
            if not is_near:
                height = home[2] + self._settings.return_altitude_m
                target[2] = max(guidance.reference[2], height)
        if self._leg == 1 and abs(target[2] - guidance.reference[2]) < ARRIVED_M:
            self._leg = 2
            target[:2] = home[:2]
        return self._leg == 2 and is_near and guidance.distance < ARRIVED_M
