# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Alignment of a scan taken while the sensor moved: two poses, of its beginning and its end.

Between both the position runs straight and the attitude along the great arc at a steady rate, so
every point has its own pose. Point to plane moves both poses at once.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform
from aerotwin_core.threads import run_ranges
from aerotwin_registration.icp.diagnosis import LEAST_VARIANCE
from aerotwin_registration.icp.evidence import evidence_of
from aerotwin_registration.icp.protocol import ROBUST_KERNELS, IcpProtocol
from aerotwin_registration.icp.similarity import step_about
from aerotwin_registration.icp.surface import Surface
from aerotwin_registration.voxels import voxel_keys

DESKEW = IcpProtocol(
    method="point_to_plane",
    max_iterations=100,
    n_neighbours=10,
    robust_kernel="cauchy",
    robust_m=0.1,
    max_rival_lead=1.0,
)
"""What `align_moving` does by default; no rival answers are sought."""
_DAMPING = 1e-9
_FREE_SHARE = 1e-4
"""Of the information of all points, below which a motion of the two poses counts as free."""


@dataclass(frozen=True, kw_only=True)
class MovingRegistration:
    """The result of aligning a moving scan; read `converged` first.

    Attributes
    ----------
    T_target_begin, T_target_end : (4, 4) arrays
        Pose of the sensor at the first and the last time: the last iterates, also when
        `converged` is False.
    points_target : (n, 3) array
        All points where they were seen, in the target frame [m].
    converged, reason : bool, str
        Whether the result may be used, and why it may or may not.
    n_iterations, n_correspondences : int
        Steps taken, and pairs within the radius at the end.
    fitness : float
        Share of points with a pair.
    surface_rmse_m : float
        Root mean square distance of explained pairs along the target's normal [m]; NaN without.
    information : (12, 12) array or None
        Inverse covariance of both poses, the beginning first: shift (x, y, z) [1/m^2], then turn
        (x, y, z) [1/rad^2], along target axes about `centre_target`. Pairs count as independent,
        so it is an upper bound. None without pairs.
    centre_target : (3,) array or None
        Centre of the paired points, in the target frame [m].
    """

    T_target_begin: np.ndarray
    T_target_end: np.ndarray
    points_target: np.ndarray
    converged: bool
    reason: str
    n_iterations: int
    n_correspondences: int
    fitness: float
    surface_rmse_m: float
    information: np.ndarray | None = None
    centre_target: np.ndarray | None = None

    def points_end(self) -> np.ndarray:
        """Return the points as a sensor that stands still at the end would have seen them."""
        T = invert_transform(self.T_target_end)
        return self.points_target @ T[:3, :3].T + T[:3, 3]


@dataclass(frozen=True, kw_only=True)
class _End:
    """How the iterations ended: H of the last step, for residuals of 1 m, about a centre."""

    n_iterations: int
    problem: str
    H: np.ndarray | None = None
    centre: np.ndarray | None = None


def align_moving(
    points_sensor: np.ndarray,
    times_s: np.ndarray,
    target: np.ndarray | Surface,
    *,
    T_target_begin_initial: np.ndarray | None = None,
    T_target_end_initial: np.ndarray | None = None,
    protocol: IcpProtocol = DESKEW,
) -> MovingRegistration:
    """Align a scan to a target and take the sensor's motion out of it.

    Parameters
    ----------
    points_sensor : (n, 3) array
        Each in the sensor frame of its own time [m].
    times_s : (n,) array
        Of each point, any origin [s].
    target : (m, 3) array or Surface
        What is aligned to [m].
    T_target_begin_initial, T_target_end_initial : (4, 4) arrays, optional
        Starts; the identity, and the beginning's.
    protocol : IcpProtocol
        Radius, down-sampling, neighbours, robust kernel, iterations and gates; the method is
        point to plane, and the scale is not asked for.

    Raises
    ------
    ValueError
        If shapes disagree or a value is not finite.

    Notes
    -----
    A motion d of the pose at share u of the scan is taken as (1 - u) d_begin + u d_end in the
    Jacobian, which holds for turns of some ten degrees; residuals use the exact pose.

    References
    ----------
    Dellenbach, Deschaud, Jacquet and Goulette 2022, "CT-ICP", III-B.
    """
    points, share = _checked(points_sensor, times_s)
    if not isinstance(target, Surface):
        target = Surface(
            target, voxel_m=protocol.voxel_m, n_neighbours=protocol.n_neighbours, name="target"
        )
    begin = np.eye(4) if T_target_begin_initial is None else np.array(T_target_begin_initial)
    end = begin.copy() if T_target_end_initial is None else np.array(T_target_end_initial)
    poses = [_shifted(T, -target.origin) for T in (begin, end)]
    if min(len(points), len(target)) < protocol.min_correspondences:
        few = f"{len(points)} and {len(target)} points are too few"
        end_few = _End(n_iterations=0, problem=few)
        return _result(points, share, target, poses, end_few, protocol)
    kept = _kept(points, protocol.voxel_m)
    reached = _iterate(points[kept], share[kept], target, poses, protocol)
    return _result(points, share, target, poses, reached, protocol)


def moved_points(
    points_sensor: np.ndarray, share: np.ndarray, T_begin: np.ndarray, T_end: np.ndarray
) -> np.ndarray:
    """Return points (n, 3) where they were seen from poses between two, at shares (n,) of the way.

    Positions run straight, attitudes along the great arc (Shoemake 1985).
    """
    turn = Rotation.from_matrix(T_begin[:3, :3].T @ T_end[:3, :3]).as_rotvec()
    angle = float(np.linalg.norm(turn))
    axis = turn / max(angle, 1e-300)
    sine, versine = np.sin(share * angle)[:, None], (1.0 - np.cos(share * angle))[:, None]
    across = np.cross(axis, points_sensor)  # Rodrigues' formula
    turned = points_sensor + sine * across + versine * np.cross(axis, across)
    p = T_begin[:3, 3] + share[:, None] * (T_end[:3, 3] - T_begin[:3, 3])
    return turned @ T_begin[:3, :3].T + p


def _iterate(
    points: np.ndarray,
    share: np.ndarray,
    target: Surface,
    poses: list[np.ndarray],
    protocol: IcpProtocol,
) -> _End:
    """Move both poses until the points stand still."""
    from aerotwin_registration.icp.kernels import moving_equations

    robust = ROBUST_KERNELS.index(protocol.robust_kernel)
    H, centre = None, None
    for n_iterations in range(1, protocol.max_iterations + 1):
        moved = moved_points(points, share, *poses)
        index = target.tree.nearest(moved, 1, limit_m=protocol.radius_m)[1][:, 0]
        is_paired = index >= 0
        if np.count_nonzero(is_paired) < protocol.min_correspondences:
            few = f"fewer than {protocol.min_correspondences} points have a pair"
            return _End(n_iterations=n_iterations, problem=few)
        target.fit(index[is_paired])
        centre = moved[is_paired].mean(axis=0)
        surface = (target.points, target.normals, index, centre)
        choices = (robust, protocol.robust_m, moved, share)
        sums = run_ranges(moving_equations, len(moved), *choices, *surface)
        total = sum(sums)
        H = np.triu(total[:12]) + np.triu(total[:12], 1).T
        step, free = _solved(H, total[12])
        for k in range(2):
            poses[k] = step_about(centre, np.append(step[6 * k : 6 * k + 6], 0.0)) @ poses[k]
        change = moved_points(points, share, *poses) - moved
        if np.sqrt(np.mean(change**2)) < protocol.relative_tolerance * protocol.radius_m:
            return _End(n_iterations=n_iterations, problem=free, H=H, centre=centre)
    moving = f"still moving after {protocol.max_iterations} iterations"
    return _End(n_iterations=protocol.max_iterations, problem=moving, H=H, centre=centre)


def _solved(H: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the steps (12,) of both poses, and what the surface leaves open."""
    arm = np.sqrt(np.trace(H[3:6, 3:6]) / max(np.trace(H[:3, :3]), 1e-300))
    unit = np.tile(np.repeat([1.0, 1.0 / max(arm, 1e-12)], 3), 2)
    H = H * np.outer(unit, unit)
    # Both poses together hold one unit for each point that moves along its normal.
    size = max(float(np.trace(H[:3, :3] + H[6:9, 6:9] + 2.0 * H[:3, 6:9])), 1e-300)
    values = np.linalg.eigvalsh(H)
    n_free = int(np.count_nonzero(values < _FREE_SHARE * size))
    step = unit * np.linalg.solve(H + _DAMPING * size * np.eye(12), unit * g)
    return step, f"the surface leaves {n_free} motions of the two poses open" if n_free else ""


def _result(
    points: np.ndarray,
    share: np.ndarray,
    target: Surface,
    poses: list[np.ndarray],
    reached: _End,
    protocol: IcpProtocol,
) -> MovingRegistration:
    moved = moved_points(points, share, *poses)
    scan = Surface(moved, voxel_m=protocol.voxel_m, n_neighbours=protocol.n_neighbours)
    evidence = evidence_of(
        scan.smooth, target.smooth, _shifted(np.eye(4), scan.origin), protocol.radius_m
    )
    index = target.tree.nearest(moved, 1, limit_m=protocol.radius_m)[1]
    fitness = float(np.mean(index >= 0)) if len(index) else 0.0
    problem = reached.problem
    if not problem and fitness < protocol.min_fitness:
        problem = f"only {fitness:.1%} of the points have a pair"
    if not problem and evidence is not None and evidence.weakest < protocol.min_explained:
        problem = f"only {evidence.weakest:.0%} of the pairs lie on each other"
    begin, end = (_shifted(T, target.origin) for T in poses)
    rmse_m = float("nan") if evidence is None else evidence.surface_rmse_m
    return MovingRegistration(
        T_target_begin=begin,
        T_target_end=end,
        points_target=moved + target.origin,
        converged=not problem,
        reason=problem or f"settled after {reached.n_iterations} iterations, {fitness:.1%} paired",
        n_iterations=reached.n_iterations,
        n_correspondences=int(np.count_nonzero(index >= 0)),
        fitness=fitness,
        surface_rmse_m=rmse_m,
        information=_information(reached.H, rmse_m),
        centre_target=None if reached.centre is None else reached.centre + target.origin,
    )


def _information(H: np.ndarray | None, rmse_m: float) -> np.ndarray | None:
    return None if H is None or np.isnan(rmse_m) else H / max(rmse_m**2, LEAST_VARIANCE)


def _checked(points: np.ndarray, times_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    points, times = np.asarray(points, dtype=np.float64), np.asarray(times_s, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or times.shape != points.shape[:1]:
        raise ValueError(
            f"points_sensor and times_s must be (n, 3) and (n,), got {points.shape}, {times.shape}"
        )
    if not (np.isfinite(points).all() and np.isfinite(times).all()):
        raise ValueError("points and times must be finite; drop those that are not first")
    if len(times) == 0:
        return points, times
    return points, (times - times.min()) / max(float(np.ptp(times)), 1e-300)


def _kept(points: np.ndarray, voxel_m: float) -> np.ndarray:
    """Return the places of one point per voxel: means would mix times."""
    if voxel_m == 0.0:
        return np.arange(len(points))
    return np.sort(np.unique(voxel_keys(points, voxel_m), return_index=True)[1])


def _shifted(T: np.ndarray, vector: np.ndarray) -> np.ndarray:
    T = T.copy()
    T[:3, 3] += vector
    return T
