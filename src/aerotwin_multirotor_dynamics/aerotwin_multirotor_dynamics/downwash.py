# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Downwash: the wind at each of several vehicles from the rotors of the others."""

from collections.abc import Sequence

import numpy as np

from aerotwin_multirotor_dynamics import layout
from aerotwin_multirotor_dynamics.airframe import Airframe
from aerotwin_multirotor_dynamics.wake import induced_speed_per_rad, wake_ways, wake_winds


class Downwash:
    """The wakes of several vehicles; raises ValueError if an airframe states no radius."""

    def __init__(self, airframes: Sequence[Airframe]) -> None:
        counts = [len(airframe.rotors) for airframe in airframes]
        per_rad = [induced_speed_per_rad(airframe) for airframe in airframes]
        self._owners = np.repeat(np.arange(len(counts)), counts)
        self._per_rad = np.repeat(per_rad, counts)
        self._radii = np.repeat([airframe.propeller.radius_m for airframe in airframes], counts)
        self._hubs_body = np.array([r.position_m for a in airframes for r in a.rotors])

    def winds(
        self, heads: np.ndarray, rotor_speeds: Sequence[np.ndarray], winds_map: np.ndarray
    ) -> np.ndarray:
        """Return the winds (n, 3) [m/s] at vehicles from the wakes of the others.

        ``heads`` (n, k) are their states at one instant, with their rotor speeds [rad/s];
        ``winds_map`` (n, 3) the winds at them that drive wakes away.
        """
        owners, found = self._owners, np.zeros_like(winds_map)
        R_map_body = heads[:, layout.ROTATION].reshape(-1, 3, 3)[owners]
        hubs = np.einsum("nij,nj->ni", R_map_body, self._hubs_body)
        hubs += heads[owners, layout.POSITION]
        induced = self._per_rad * np.concatenate(rotor_speeds)
        axes = np.ascontiguousarray(R_map_body[:, :, 2])
        ways = wake_ways(axes, induced, (winds_map - heads[:, layout.VELOCITY])[owners])
        wake_winds(owners, hubs, axes, ways, induced, self._radii, found)
        return found
