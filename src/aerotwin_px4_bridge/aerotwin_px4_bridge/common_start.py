# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Missions that begin their paths together.

Vehicles that fly one path side by side hit each other when one begins later than its neighbour: at
4 m/s it takes three quarters of a second to be 3 m behind.
"""


class CommonStart:
    """Open once each of the expected missions is ready for its path, or has ended before.

    A mission is any object; it is expected from when it is added.
    """

    def __init__(self) -> None:
        self._expected: set[object] = set()

    @property
    def is_open(self) -> bool:
        """Whether none is waited for."""
        return not self._expected

    def expect(self, mission: object) -> None:
        """Wait for a mission, too."""
        self._expected.add(mission)

    def release(self, mission: object) -> None:
        """Wait no longer for a mission: it is ready, or it has ended."""
        self._expected.discard(mission)
