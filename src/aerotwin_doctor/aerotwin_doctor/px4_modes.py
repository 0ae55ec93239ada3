# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PX4's flight modes: from HEARTBEAT.custom_mode to names and to the bits of its arming checks."""

_MODES: dict[tuple[int, int], tuple[str, int]] = {
    (1, 0): ("MANUAL", 0),
    (2, 0): ("ALTITUDE", 1),
    (3, 0): ("POSITION", 2),
    (4, 4): ("MISSION", 3),
    (4, 3): ("HOLD", 4),
    (4, 5): ("RETURN", 5),
    (5, 0): ("ACRO", 10),
    (6, 0): ("OFFBOARD", 14),
    (7, 0): ("STABILIZED", 15),
    (4, 2): ("TAKEOFF", 17),
    (4, 6): ("LAND", 18),
    (4, 8): ("FOLLOW", 19),
    (4, 9): ("PRECISION LAND", 20),
    (3, 1): ("ORBIT", 21),
}
"""(main, sub) mode -> name and nav_state (PX4 1.14, px4_custom_mode.h and vehicle_status.msg)."""


def mode_name(custom_mode: int) -> str:
    """Return the name of a mode, or its numbers."""
    main, sub = custom_mode >> 16 & 0xFF, custom_mode >> 24 & 0xFF
    known = _MODES.get((main, sub))
    return known[0] if known else f"({main}, {sub})"


def nav_state(custom_mode: int) -> int | None:
    """Return the number of a mode in arming checks, None if it is unknown."""
    known = _MODES.get((custom_mode >> 16 & 0xFF, custom_mode >> 24 & 0xFF))
    return known[1] if known else None
