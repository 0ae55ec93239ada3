# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of PX4's flight modes (v1.14, px4_custom_mode.h)."""

MODE_NAMES: dict[tuple[int, int], str] = {
    (1, 0): "MANUAL",
    (2, 0): "ALTITUDE",
    (3, 0): "POSITION",
    (3, 1): "ORBIT",
    (4, 1): "READY",
    (4, 2): "TAKEOFF",
    (4, 3): "HOLD",
    (4, 4): "MISSION",
    (4, 5): "RETURN",
    (4, 6): "LAND",
    (4, 8): "FOLLOW",
    (4, 9): "PRECLAND",
    (5, 0): "ACRO",
    (6, 0): "OFFBOARD",
    (7, 0): "STABILIZED",
    (10, 0): "TERMINATION",
}
"""By main and sub mode."""
NO_MODE = "NONE"


def mode_name(mode: tuple[int, int]) -> str:
    """Return the name of a mode; of one that is not known its numbers.

    >>> mode_name((4, 5)), mode_name((9, 1)), mode_name((0, 0))
    ('RETURN', 'MODE_9_1', 'NONE')
    """
    main, sub = mode
    if main == 0:
        return NO_MODE
    return MODE_NAMES.get(mode, f"MODE_{main}_{sub}")
