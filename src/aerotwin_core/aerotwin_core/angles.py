# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Angles wrapped to one turn.

The exact remainder of a turn is `math.remainder(angle, math.tau)`, in [-pi, pi]; for an interval
with one end open, use one of these, for numbers and arrays.
"""

from typing import TypeVar

import numpy as np

Angle = TypeVar("Angle", float, np.ndarray)


def wrap_rad(angle: Angle) -> Angle:
    """Return angles in [-pi, pi) [rad]."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def wrap_deg(angle: Angle) -> Angle:
    """Return angles in [-180, 180) [deg]: longitudes, yaws."""
    return (angle + 180.0) % 360.0 - 180.0
