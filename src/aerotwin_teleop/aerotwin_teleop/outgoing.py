# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""When a motion is sent: while one is asked for, and for a moment after, so that it stops.

Between, nothing is sent: a vehicle on a mission or landing is not disturbed.
"""

import math

from aerotwin_teleop.motion import AT_REST, SteeredMotion

STOP_S = 0.5
"""Rest is sent for so long; then the vehicle hovers or stands by itself."""


class OutgoingMotion:
    """What to send at a time; `is_offboard` sends rest, too, until another mode is asked for."""

    def __init__(self) -> None:
        self.is_offboard = False
        self._until_s = -math.inf

    def is_due(self, motion: SteeredMotion, time_s: float) -> bool:
        """Return whether a motion is to be sent now."""
        if motion != AT_REST:
            self._until_s = time_s + STOP_S
        return self.is_offboard or time_s < self._until_s

    def end(self, time_s: float) -> bool:
        """Send no more, because a mode follows; return whether rest was still to be sent."""
        was_due = self.is_offboard or time_s < self._until_s
        self.is_offboard, self._until_s = False, -math.inf
        return was_due
