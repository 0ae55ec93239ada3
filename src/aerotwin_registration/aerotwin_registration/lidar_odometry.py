# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lidar odometry: each scan is aligned to a map of the surroundings, and says when it failed.

The start is constant velocity; where that is too far off (handheld, seconds between scans) a start
is sought by coarse alignment. A scan that cannot be placed is declared lost, is not added to the
map; while lost, the pose stands still and the search grows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform, transform_points
from aerotwin_core.parameters import parameter
from aerotwin_core.trajectory import Trajectory
from aerotwin_registration.coarse import CoarseProtocol, coarse_align
from aerotwin_registration.icp import (
    IcpProtocol,
    MovingRegistration,
    Registration,
    Surface,
    align,
    align_moving,
)
from aerotwin_registration.local_map import LocalMap, accumulate

__all__ = [
    "LidarOdometry",
    "LidarOdometryFrame",
    "LidarOdometryParameters",
    "accumulate",
    "odometry_of_scans",
]

_LOST_VARIANCE = 1e6
"""Of a pose that nothing is known about any more [m^2, rad^2]."""
_MAX_SEARCH = 3
"""The search grows with every lost scan, up to so many times `search_m`."""
_SEARCH = CoarseProtocol(max_tilt_deg=60.0)
"""The last attitude stands for upright: a handheld lidar tilts by tens of degrees in seconds."""
_MOVING = IcpProtocol(
    method="point_to_plane", max_rival_lead=1.0, max_iterations=60, robust_kernel="cauchy"
)


@dataclass(frozen=True, kw_only=True)
class LidarOdometryParameters:
    """Every choice of the odometry."""

    voxel_m: float = parameter(
        0.2, text="down-sampling of scans and map", unit="m", minimum=0.01, maximum=10.0
    )
    radius_m: float = parameter(
        1.0, text="farthest pair that counts", unit="m", minimum=0.05, maximum=50.0
    )
    min_range_m: float = parameter(0.5, text="nearer points are not used", unit="m", minimum=0.0)
    max_range_m: float = parameter(
        100.0, text="farther points are not used", unit="m", minimum=1.0, maximum=1e4
    )
    map_radius_m: float = parameter(
        120.0, text="the map ends so far from the lidar", unit="m", minimum=1.0, maximum=1e5
    )
    keyframe_m: float = parameter(
        0.5, text="a scan this far from the last one in the map is added", unit="m", minimum=0.0
    )
    keyframe_deg: float = parameter(
        5.0, text="or turned so far", unit="deg", minimum=0.0, maximum=180.0
    )
    min_fitness: float = parameter(
        0.6, text="share of a scan that must lie on the map", minimum=0.0, maximum=1.0
    )
    search_m: float = parameter(
        10.0,
        text="where the start fails, places this far around the last one are tried; 0 = none",
        unit="m",
        minimum=0.0,
        maximum=100.0,
    )
    covariance_factor: float = parameter(
        25.0, text="what pairs that are not independent add to the variance", minimum=1.0
    )
    seed: int = parameter(0, text="seed of the search", minimum=0)


@dataclass(frozen=True, kw_only=True)
class LidarOdometryFrame:
    """What is known after a scan; read `converged` first.

    Attributes
    ----------
    stamp_ns : int
        Time of the scan's first point [ns].
    T_odom_lidar : (4, 4) array
        Pose at that time; odom is the lidar at the first usable scan. Where `converged` is
        False, the first lost scan's is an extrapolation, and those after it stay there.
    converged : bool
        Whether the scan was placed.
    reason : str
        Why or why not, in words.
    covariance : (6, 6) array
        Of position, then rotation vector, in odom axes [m, rad]: alignments one after the other,
        each from map to scan. It holds no error of calibration.
    fitness : float
        Share of the scan that lies on the map.
    was_searched : bool
        Whether the start had to be sought.
    """

    stamp_ns: int
    T_odom_lidar: np.ndarray
    converged: bool
    reason: str
    covariance: np.ndarray
    fitness: float
    was_searched: bool = False


class LidarOdometry:
    """Odometry from scans, one after the other.

    Parameters
    ----------
    parameters : LidarOdometryParameters, optional
        All choices.
    """

    def __init__(self, parameters: LidarOdometryParameters | None = None) -> None:
        self.parameters = p = parameters or LidarOdometryParameters()
        self.frames: list[LidarOdometryFrame] = []
        self._map = LocalMap(p.voxel_m, p.map_radius_m)
        self._keyframe: LidarOdometryFrame | None = None
        self._velocity = np.zeros(6)
        self._n_lost = 0
        self._protocol = IcpProtocol(
            method="gicp",
            radius_m=p.radius_m,
            robust_kernel="cauchy",
            robust_m=0.25 * p.voxel_m,
            max_iterations=60,
            min_fitness=p.min_fitness,
            max_turn_deg=45.0,
        )

    def add(
        self, points_lidar: np.ndarray, stamp_ns: int, times_s: np.ndarray | None = None
    ) -> LidarOdometryFrame:
        """Place a scan.

        Parameters
        ----------
        points_lidar : (n, 3) array
            In the lidar's frame, with `times_s` each in that of its own time [m].
        stamp_ns : int
            Time that `times_s` count from, later than that of the scan before [ns].
        times_s : (n,) array, optional
            Time of each point since the stamp [s]: the motion during the scan is taken out.

        Raises
        ------
        ValueError
            If a shape is wrong or the stamp does not increase.
        """
        if self.frames and stamp_ns <= self.frames[-1].stamp_ns:
            raise ValueError(
                f"stamp_ns must increase, got {stamp_ns} after {self.frames[-1].stamp_ns}"
            )
        points, times = self._usable(points_lidar, times_s)
        if self._keyframe is None:
            frame, placed = self._first(points, stamp_ns), points
        elif times is None:
            frame, placed = self._still(points, stamp_ns)
        else:
            frame, placed = self._moving(points, times, stamp_ns)
        self._take(frame, placed)
        return frame

    def map_points(self) -> np.ndarray:
        """Return the map around the last scan, one point per voxel, in odom (m, 3) [m]."""
        return self._map.points.copy()

    def trajectory(self) -> Trajectory:
        """Return T_odom_lidar of all scans that were placed."""
        return _trajectory([frame for frame in self.frames if frame.converged])

    # -- one scan -----------------------------------------------------------------------------

    def _first(self, points: np.ndarray, stamp_ns: int) -> LidarOdometryFrame:
        is_usable = len(points) >= self._protocol.min_correspondences
        reason = f"{len(points)} usable points are too few to begin with"
        return LidarOdometryFrame(
            stamp_ns=stamp_ns,
            T_odom_lidar=np.eye(4),
            converged=is_usable,
            reason="the first scan is where odom begins" if is_usable else reason,
            covariance=np.zeros((6, 6)) if is_usable else np.eye(6) * _LOST_VARIANCE,
            fitness=float(is_usable),
        )

    def _still(self, points: np.ndarray, stamp_ns: int) -> tuple[LidarOdometryFrame, np.ndarray]:
        """Place a scan that was taken at one instant."""
        scan = Surface(points, voxel_m=self.parameters.voxel_m)
        T_guess, T_last = self._predicted(stamp_ns), self.frames[-1].T_odom_lidar
        best = self._align(scan, T_guess)
        if not best.converged and not np.allclose(T_guess, T_last):
            best = self._align(scan, T_last)
        was_searched = not best.converged and self.parameters.search_m > 0.0
        if was_searched:
            best = self._search(scan, points, T_last, best)
        frame = LidarOdometryFrame(
            stamp_ns=stamp_ns,
            T_odom_lidar=best.T_target_source if best.converged else T_guess,
            converged=best.converged,
            reason=best.reason,
            covariance=self._covariance(best, best.T_target_source),
            fitness=best.fitness,
            was_searched=was_searched,
        )
        return frame, transform_points(frame.T_odom_lidar, points)

    def _moving(
        self, points: np.ndarray, times_s: np.ndarray, stamp_ns: int
    ) -> tuple[LidarOdometryFrame, np.ndarray]:
        """Place a scan whose points have times: two poses, of its beginning and its end."""
        T_guess = self._predicted(stamp_ns)
        turn = float(np.ptp(times_s)) if len(times_s) else 0.0
        moved: MovingRegistration = align_moving(
            points,
            times_s,
            self._map.surface,
            T_target_begin_initial=T_guess,
            T_target_end_initial=T_guess @ _motion(self._velocity * turn),
            protocol=replace(
                _MOVING,
                radius_m=self.parameters.radius_m,
                voxel_m=self.parameters.voxel_m,
                robust_m=0.25 * self.parameters.voxel_m,
                min_fitness=self.parameters.min_fitness,
            ),
        )
        if not moved.converged and self.parameters.search_m > 0.0:
            frame, placed = self._still(points, stamp_ns)
            if frame.converged:
                return frame, placed
        frame = LidarOdometryFrame(
            stamp_ns=stamp_ns,
            T_odom_lidar=moved.T_target_begin if moved.converged else T_guess,
            converged=moved.converged,
            reason=moved.reason,
            covariance=self._covariance(moved, moved.T_target_begin),
            fitness=moved.fitness,
        )
        return frame, moved.points_target

    def _align(self, scan: Surface, T_guess: np.ndarray) -> Registration:
        return align(
            scan, self._map.surface, T_target_source_initial=T_guess, protocol=self._protocol
        )

    def _search(
        self, scan: Surface, points: np.ndarray, T_last: np.ndarray, failed: Registration
    ) -> Registration:
        """Seek a start around the last place; return the alignment from there, or a failure."""
        reach = self.parameters.search_m * min(1 + self._n_lost, _MAX_SEARCH)
        found = coarse_align(
            points,
            self._map.points,
            max_offset_m=reach,
            T_target_source_initial=T_last,
            seed=self.parameters.seed,
            protocol=_SEARCH,
        )
        if not found.converged:
            return replace(failed, reason=f"{failed.reason}; around the last place: {found.reason}")
        return self._align(scan, found.T_target_source)

    # -- state --------------------------------------------------------------------------------

    def _take(self, frame: LidarOdometryFrame, placed: np.ndarray) -> None:
        """Remember a scan: the motion, and in the map if it shows something new."""
        last = self.frames[-1] if self.frames else None
        self.frames.append(frame)
        if not frame.converged:
            self._n_lost, self._velocity = self._n_lost + 1, np.zeros(6)
            return
        self._n_lost = 0
        if last is not None:
            dt = 1e-9 * (frame.stamp_ns - last.stamp_ns)
            step = invert_transform(last.T_odom_lidar) @ frame.T_odom_lidar
            self._velocity = _twist(step) / dt if last.converged else np.zeros(6)
        if self._keyframe is None or self._is_new(self._keyframe, frame):
            self._map.add(placed, frame.T_odom_lidar[:3, 3])
            self._keyframe = frame

    def _is_new(self, keyframe: LidarOdometryFrame, frame: LidarOdometryFrame) -> bool:
        step = _twist(invert_transform(keyframe.T_odom_lidar) @ frame.T_odom_lidar)
        moved, turned = np.linalg.norm(step[:3]), np.degrees(np.linalg.norm(step[3:]))
        return bool(moved >= self.parameters.keyframe_m or turned >= self.parameters.keyframe_deg)

    def _predicted(self, stamp_ns: int) -> np.ndarray:
        last = self.frames[-1]
        dt = 1e-9 * (stamp_ns - last.stamp_ns)
        return last.T_odom_lidar @ _motion(self._velocity * dt)

    def _usable(
        self, points: np.ndarray, times_s: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 3:
            raise ValueError(f"points_lidar must have shape (n, 3), got {points.shape}")
        if times_s is not None and np.shape(times_s) != (len(points),):
            raise ValueError(f"times_s must have shape ({len(points)},), got {np.shape(times_s)}")
        distance = np.linalg.norm(points, axis=1)
        # NaN, as organised clouds have where nothing returned, is no distance and is left out.
        kept = (distance >= self.parameters.min_range_m) & (distance <= self.parameters.max_range_m)
        return points[kept], None if times_s is None else np.asarray(times_s, np.float64)[kept]

    def _base_covariance(self) -> np.ndarray:
        """Return what is not known of the map that scans are aligned to."""
        return np.zeros((6, 6)) if self._keyframe is None else self._keyframe.covariance

    def _covariance(
        self, aligned: Registration | MovingRegistration, T_odom_lidar: np.ndarray
    ) -> np.ndarray:
        if not aligned.converged or aligned.information is None:
            return np.eye(6) * _LOST_VARIANCE
        # Of a moving scan the first of two poses.
        about_centre = np.linalg.pinv(aligned.information, hermitian=True)[:6, :6]
        lever = T_odom_lidar[:3, 3] - aligned.centre_target
        shift = np.eye(6)  # a turn about the centre moves the lidar by turn x lever
        shift[:3, 3:] = -_cross(lever)
        step = shift @ about_centre @ shift.T
        return self._base_covariance() + self.parameters.covariance_factor * step


def odometry_of_scans(
    scans: Sequence[np.ndarray],
    stamps_ns: Sequence[int],
    times_s: Sequence[np.ndarray] | None = None,
    parameters: LidarOdometryParameters | None = None,
) -> tuple[Trajectory, list[LidarOdometryFrame]]:
    """Return the trajectory of a lidar, from its scans alone.

    Parameters
    ----------
    scans : sequence of (n, 3) arrays
        In the lidar's frame [m].
    stamps_ns : sequence of int
        Increasing [ns].
    times_s : sequence of (n,) arrays, optional
        Times of the points since their scan's stamp [s].

    Returns
    -------
    trajectory : Trajectory
        T_odom_lidar of the scans that were placed; the others are in `frames` alone.
    frames : list of LidarOdometryFrame
        One for each scan.
    """
    odometry = LidarOdometry(parameters)
    for k, (scan, stamp_ns) in enumerate(zip(scans, stamps_ns, strict=True)):
        odometry.add(scan, int(stamp_ns), None if times_s is None else times_s[k])
    return odometry.trajectory(), odometry.frames


def _trajectory(frames: list[LidarOdometryFrame]) -> Trajectory:
    poses = np.array([frame.T_odom_lidar for frame in frames]).reshape(-1, 4, 4)
    q = Rotation.from_matrix(poses[:, :3, :3]).as_quat() if len(frames) else np.empty((0, 4))
    return Trajectory(np.array([frame.stamp_ns for frame in frames]), poses[:, :3, 3], q)


def _motion(step: np.ndarray) -> np.ndarray:
    """Return the (4, 4) motion of a shift and a rotation vector (6,), in body axes."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(step[3:]).as_matrix(), step[:3]
    return T


def _twist(T: np.ndarray) -> np.ndarray:
    return np.concatenate([T[:3, 3], Rotation.from_matrix(T[:3, :3]).as_rotvec()])


def _cross(v: np.ndarray) -> np.ndarray:
    """Return the (3, 3) matrix of v x."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
