# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The rays of a sensor that turns about its axis while its vehicle moves."""

import numpy as np

from aerotwin_core.trajectory import Trajectory
from aerotwin_sensor_models import lidar_kernels as kernels


class TurningRays:
    """Makes the rays of one turn after the other, of period `period_ns` [ns].

    `azimuths` (n,) are those of the columns in order of measurement, `elevations` (m,) of the rays
    of a column [rad]; `azimuth` (n, 2), `elevation` (m, 2) are their cosines and sines,
    `offsets_ns` (n,) the time of each column since the start of the turn. `p` (n, 3), `R` (n, 9)
    and `rays` (n m, 6) are of the last turn: pose of the sensor in map at each column, origin [m]
    and unit direction of each ray.
    """

    def __init__(self, azimuths: np.ndarray, elevations: np.ndarray, period_ns: int) -> None:
        n = len(azimuths)
        self.azimuth, self.elevation = _cosine_sine(azimuths), _cosine_sine(elevations)
        self.offsets_ns = np.arange(n, dtype=np.int64) * period_ns // n
        self.p, self.R = np.empty((n, 3)), np.empty((n, 9))
        self.rays = np.empty((n * len(elevations), 6), np.float32)

    def cast(self, motion: Trajectory, stamp_ns: int) -> np.ndarray:
        """Return the rays of the turn that begins at a stamp, `motion` being T_map_sensor.

        They are (n m, 6) float32, column by column: origin [m], unit direction in map; overwritten
        by the next turn. Raises ValueError if the motion (linear and slerp between its poses) does
        not cover the turn.
        """
        query, own = stamp_ns + self.offsets_ns, motion.stamps_ns
        if len(own) < 2 or own[0] > query[0] or own[-1] < query[-1]:
            raise ValueError(
                f"motion must hold two poses at least and cover {query[0]} to {query[-1]} ns, "
                f"got {len(own)} poses from {own[:1]} to {own[-1:]}"
            )
        kernels.column_poses(own, motion.p_ref_body, motion.q_ref_body, query, self.p, self.R)
        kernels.fill_rays(self.p, self.R, self.azimuth, self.elevation, self.rays)
        return self.rays


def _cosine_sine(angles: np.ndarray) -> np.ndarray:
    return np.column_stack([np.cos(angles), np.sin(angles)])
