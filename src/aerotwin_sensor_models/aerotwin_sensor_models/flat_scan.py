# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A turn of a lidar as a planar scan, which Nav2 and 2-D SLAMs read."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class FlatScanParameters:
    """What of a turn counts as an obstacle. On a slope the ground ahead does, above the height."""

    min_height_m: float = parameter(0.25, text="lowest point above base_link", unit="m")
    max_height_m: float = parameter(1.5, text="highest point above base_link", unit="m")
    min_range_m: float = parameter(
        0.4, text="nearest point, across from base_link", unit="m", minimum=0.0
    )
    n_beams: int = parameter(720, text="beams of the full turn", minimum=4, maximum=20_000)


def flat_ranges(points_base: np.ndarray, parameters: FlatScanParameters) -> np.ndarray:
    """Return the nearest obstacle of each beam (n_beams,) [m], inf without one.

    `points_base` (n, 3) are in base_link [m]. The first beam looks straight behind, the others
    follow counter-clockwise; each covers the angle from half a step before to half a step behind
    it.
    """
    p = parameters
    x, y, z = np.asarray(points_base, dtype=np.float64).T
    across_m = np.hypot(x, y)
    is_obstacle = (z >= p.min_height_m) & (z <= p.max_height_m) & (across_m >= p.min_range_m)
    angles = np.arctan2(y[is_obstacle], x[is_obstacle]) + np.pi
    beams = np.rint(angles * (p.n_beams / (2.0 * np.pi))).astype(np.intp) % p.n_beams
    ranges_m = np.full(p.n_beams, np.inf)
    np.minimum.at(ranges_m, beams, across_m[is_obstacle])
    return ranges_m
