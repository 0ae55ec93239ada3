# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Velocity commands and motion of a ground vehicle."""

from typing import NamedTuple


class VelocityCommand(NamedTuple):
    """Command of a path tracker.

    `v_m_s` is the speed of `base_link` along its x axis [m/s]; negative drives backwards.
    `omega_rad_s` is the yaw rate [rad/s], counter-clockwise seen from above.
    """

    v_m_s: float = 0.0
    omega_rad_s: float = 0.0


class Twist(NamedTuple):
    """Motion in the plane of the ground; `v_m_s`, `omega_rad_s` as in `VelocityCommand`."""

    v_m_s: float = 0.0
    omega_rad_s: float = 0.0
