# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""KISS-ICP with stamped input and the output that an evaluation needs."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform, make_transform
from aerotwin_kiss_icp.parameters import KissIcpParameters

# With fewer points registration is impossible; KISS-ICP would return its prediction.
MIN_POINTS = 10


@dataclass(frozen=True, kw_only=True)
class ScanPose:
    """The pose of the lidar for one scan, at its stamp: the beginning of its turn.

    `T_odom_lidar` (4, 4): odom is the lidar at the end of the first scan. `twist_in_lidar` (6,) is
    velocity and angular velocity over the turn, in axes of the lidar [m/s, rad/s].
    """

    stamp_ns: int
    T_odom_lidar: np.ndarray
    twist_in_lidar: np.ndarray


class KissIcpOdometry:
    """KISS-ICP (Vizzo et al., RA-L 2023) fed with stamped scans.

    Its de-skewing moves all points to the end of the turn, so its pose is the one there, while a
    scan is stamped where its turn begins. At 4 m/s and 10 Hz that is 0.4 m. The pose at the stamp
    follows from its own constant-velocity model.
    """

    def __init__(self, parameters: KissIcpParameters | None = None) -> None:
        from kiss_icp.kiss_icp import KissICP

        self.parameters = parameters or KissIcpParameters()
        self._algorithm = KissICP(_configuration(self.parameters))
        self.stamp_ns: int | None = None  # of the last scan

    def add(self, stamp_ns: int, points_lidar: np.ndarray, times_s: np.ndarray) -> ScanPose:
        """Register a scan and return its pose.

        Parameters
        ----------
        stamp_ns : int
            Beginning of the turn, later than that of the previous scan [ns].
        points_lidar : (n, 3) array
            Points as measured by the lidar [m], not de-skewed.
        times_s : (n,) array
            Times of the points since the stamp [s]; all zero for a scan without motion.

        Raises
        ------
        ValueError
            If stamps do not increase, or the scan has too few finite points.
        """
        if self.stamp_ns is not None and stamp_ns <= self.stamp_ns:
            raise ValueError(f"stamp_ns must grow, got {stamp_ns} after {self.stamp_ns}")
        points, times = _checked(points_lidar, times_s)
        period_s = 0.0 if self.stamp_ns is None else (stamp_ns - self.stamp_ns) * 1e-9
        # KISS-ICP divides by the spread of the times: none if all are equal.
        self._algorithm.register_frame(points, times if np.ptp(times) > 0.0 else np.empty(0))
        self.stamp_ns = stamp_ns
        twist = _twist(self._algorithm.last_delta, period_s)
        # The pose is that of the end of the turn; for points that are not de-skewed, of its middle.
        later_s = float(times.max()) * (1.0 if self.parameters.deskew else 0.5)
        T_begin_pose = _motion(twist * later_s)
        return ScanPose(
            stamp_ns=stamp_ns,
            T_odom_lidar=self._algorithm.last_pose @ invert_transform(T_begin_pose),
            twist_in_lidar=twist,
        )

    def map_points(self) -> np.ndarray:
        """Return the points (n, 3) of the local map in odom [m]."""
        return np.asarray(self._algorithm.local_map.point_cloud()).reshape(-1, 3)


def _configuration(p: KissIcpParameters):
    from kiss_icp.config import KISSConfig
    from kiss_icp.config.config import (
        AdaptiveThresholdConfig,
        DataConfig,
        MappingConfig,
        RegistrationConfig,
    )

    if p.min_range_m >= p.max_range_m:
        raise UserError(
            f"min_range_m must be below max_range_m, got {p.min_range_m:g} and {p.max_range_m:g}"
        )
    return KISSConfig(
        data=DataConfig(max_range=p.max_range_m, min_range=p.min_range_m, deskew=p.deskew),
        mapping=MappingConfig(
            voxel_size=p.voxel_m or p.max_range_m / 100.0,
            max_points_per_voxel=p.max_points_per_voxel,
        ),
        registration=RegistrationConfig(
            max_num_iterations=p.max_iterations,
            convergence_criterion=p.convergence,
            max_num_threads=p.threads,
        ),
        adaptive_threshold=AdaptiveThresholdConfig(
            initial_threshold=p.initial_threshold_m, min_motion_th=p.min_motion_m
        ),
    )


def _checked(points: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    points = np.asarray(points, dtype=np.float64)
    times = np.asarray(times, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or times.shape != (len(points),):
        raise ValueError(
            f"points_lidar must have shape (n, 3) and times_s (n,), got {points.shape} and "
            f"{times.shape}"
        )
    is_finite = np.isfinite(points).all(axis=1) & np.isfinite(times)
    n = np.count_nonzero(is_finite)
    if n < MIN_POINTS:
        raise ValueError(f"the scan must have {MIN_POINTS} finite points at least, got {n}")
    return points[is_finite], times[is_finite]


def _twist(T_before_now: np.ndarray, period_s: float) -> np.ndarray:
    """Return the constant twist (6,) of a motion in period_s [s]; zero for no time."""
    if period_s == 0.0:
        return np.zeros(6)
    turn = Rotation.from_matrix(T_before_now[:3, :3]).as_rotvec()
    # Mean axes of the interval stand for the integral of the turning ones: third order in the turn.
    half = Rotation.from_rotvec(-0.5 * turn)
    return np.concatenate([half.apply(T_before_now[:3, 3]), turn]) / period_s


def _motion(twist_times_s: np.ndarray) -> np.ndarray:
    """Return T_begin_end of a twist multiplied by its duration; inverse of `_twist`."""
    turn = twist_times_s[3:]
    shift = Rotation.from_rotvec(0.5 * turn).apply(twist_times_s[:3])
    return make_transform(Rotation.from_rotvec(turn).as_matrix(), shift)
