# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is asked of a ground vehicle, and how it moves."""

from typing import NamedTuple


class VelocityCommand(NamedTuple):
    """What a path tracker asks for.

    Attributes
    ----------
    v_m_s : float
        Speed of `base_link` along its x axis [m/s]; negative drives backwards.
    omega_rad_s : float
        Rate of turn about z of `base_link` [rad/s], counter-clockwise seen from above.
    """

    v_m_s: float = 0.0
    omega_rad_s: float = 0.0


class Twist(NamedTuple):
    """Motion in the plane of the ground; `v_m_s`, `omega_rad_s` as in `VelocityCommand`."""

    v_m_s: float = 0.0
    omega_rad_s: float = 0.0
