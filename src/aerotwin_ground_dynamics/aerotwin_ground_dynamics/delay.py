# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Transport delay of commands."""

from collections import deque

from aerotwin_ground_dynamics.motion import VelocityCommand


class CommandDelay:
    """Delays commands by `delay_ns` [ns]; until the first one takes effect the command is zero."""

    def __init__(self, delay_ns: int) -> None:
        if delay_ns < 0:
            raise ValueError(f"delay_ns must not be negative, got {delay_ns}")
        self._delay_ns = delay_ns
        self._waiting: deque[tuple[int, VelocityCommand]] = deque()
        self._acting = VelocityCommand()
        self._provided = VelocityCommand()

    def set_command(self, stamp_ns: int, command: VelocityCommand) -> None:
        """Add a command issued at a time [ns]; times do not decrease."""
        if command != self._provided:
            self._waiting.append((stamp_ns + self._delay_ns, command))
            self._provided = command

    def acting(self, stamp_ns: int) -> VelocityCommand:
        """Return the command in effect at a time [ns]."""
        while self._waiting and self._waiting[0][0] <= stamp_ns:
            self._acting = self._waiting.popleft()[1]
        return self._acting
