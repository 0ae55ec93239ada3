# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight modes and their numbers on the wire, those of PX4 (px4_custom_mode.h)."""

from enum import Enum


class Mode(Enum):
    """A flight mode as (main mode, sub mode) of PX4's custom mode."""

    ALTITUDE = (2, 0)
    POSITION = (3, 0)
    ORBIT = (3, 1)
    TAKEOFF = (4, 2)
    HOLD = (4, 3)
    MISSION = (4, 4)
    RETURN = (4, 5)
    LAND = (4, 6)
    OFFBOARD = (6, 0)
    STABILIZED = (7, 0)

    @property
    def custom_mode(self) -> int:
        """The number in HEARTBEAT.custom_mode."""
        main, sub = self.value
        return main << 16 | sub << 24

    @property
    def base_mode(self) -> int:
        """The flags in HEARTBEAT.base_mode, without the armed bit (MAV_MODE_FLAG)."""
        if self in (Mode.STABILIZED, Mode.ALTITUDE):
            return CUSTOM | STABILISED | MANUAL
        if self in (Mode.POSITION, Mode.ORBIT):
            return CUSTOM | STABILISED | GUIDED_FLAG | MANUAL
        return CUSTOM | STABILISED | GUIDED_FLAG | AUTO

    @property
    def needs_sticks(self) -> bool:
        """Whether it flies by sticks."""
        return self in (Mode.STABILIZED, Mode.ALTITUDE, Mode.POSITION)


CUSTOM, AUTO, GUIDED_FLAG, STABILISED, MANUAL, ARMED = 1, 4, 8, 16, 64, 128


def mode_from_numbers(main: int, sub: int) -> Mode | None:
    """Return the mode of a DO_SET_MODE, or None when this autopilot does not have it.

    >>> mode_from_numbers(4, 6)
    <Mode.LAND: (4, 6)>
    """
    if main == 3:
        return Mode.POSITION
    if main in (2, 6, 7):
        return Mode((main, 0))
    try:
        return Mode((main, sub))
    except ValueError:
        return None
