# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Point-to-point ICP with a result that tells success from failure.

The loop and its stopping rule are those of Besl and McKay with a search radius, as Beam et al.
(2024, IV-C) use them: radius 1 m, relative change 1e-5, at most 1500 iterations. What a solver
does not say is added here: whether enough points took part, whether the cloud drifted away from
its start, and which directions the geometry leaves open.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core.frames import transform_points
from aerotwin_core.parameters import parameter
from aerotwin_registration.neighbours import NearestTracker
from aerotwin_registration.observability import OpenDirection, open_directions


@dataclass(frozen=True, kw_only=True)
class IcpProtocol:
    """Every choice of an alignment. The defaults are those of Beam et al. 2024, IV-C."""

    radius_m: float = parameter(
        1.0, text="farthest pair that counts", unit="m", minimum=1e-6, maximum=1e3
    )
    relative_tolerance: float = parameter(
        1e-5, text="stop when both fitness and RMSE change by less", minimum=0.0, maximum=1.0
    )
    max_iterations: int = parameter(1500, text="most iterations", minimum=1, maximum=100_000)
    min_correspondences: int = parameter(
        30, text="fewer pairs are a failure", minimum=3, maximum=10_000_000
    )
    min_fitness: float = parameter(
        0.1, text="a smaller share of paired points is a failure", minimum=0.0, maximum=1.0
    )
    max_shift_m: float = parameter(
        5.0, text="a larger shift of the cloud's centre is drift", unit="m", minimum=0.0
    )
    max_turn_deg: float = parameter(
        30.0, text="a larger turn is drift", unit="deg", minimum=0.0, maximum=180.0
    )


@dataclass(frozen=True, kw_only=True)
class Registration:
    """The result of an alignment; read `converged` first.

    Attributes
    ----------
    T_target_source : (4, 4) array
        x_target = T_target_source @ x_source: the last iterate, also when `converged` is False.
    converged : bool
        Whether the result may be used.
    reason : str
        Why it may or may not, in words.
    n_iterations, n_correspondences : int
        Steps taken, and pairs within the radius at the end.
    fitness : float
        Share of source points with a pair within the radius.
    rmse_m : float
        Root mean square distance of those pairs [m]; NaN without pairs.
    open_directions : tuple of OpenDirection
        Motions of the source that the target's surface does not oppose.
    """

    T_target_source: np.ndarray
    converged: bool
    reason: str
    n_iterations: int
    n_correspondences: int
    fitness: float
    rmse_m: float
    open_directions: tuple[OpenDirection, ...] = ()


def align_point_to_point(
    source: np.ndarray,
    target: np.ndarray,
    *,
    T_target_source_initial: np.ndarray | None = None,
    radius_m: float = 1.0,
    relative_tolerance: float = 1e-5,
    max_iterations: int = 1500,
    protocol: IcpProtocol | None = None,
    on_iteration: Callable[[int, float], None] | None = None,
) -> Registration:
    """Align source to target by point-to-point ICP.

    Parameters
    ----------
    source, target : (n, 3), (m, 3) arrays
        Points in their own frames [m].
    T_target_source_initial : (4, 4) array, optional
        Start; identity by default.
    radius_m, relative_tolerance, max_iterations
        The three choices of the usual protocol; ignored when `protocol` is given.
    protocol : IcpProtocol, optional
        All choices, among them what counts as failure.
    on_iteration : callable, optional
        Called with (iteration, rmse_m), for progress.

    Returns
    -------
    Registration
        Also for failures: too few points or pairs, drift, an open direction, no convergence.

    Raises
    ------
    ValueError
        If an array has the wrong shape or holds NaN or infinity.

    Notes
    -----
    The stopping rule is Open3D's: the change of fitness *and* the change of RMSE between two
    iterations are below `relative_tolerance`. The result is repeatable to the bit.
    """
    protocol = protocol or IcpProtocol(
        radius_m=radius_m, relative_tolerance=relative_tolerance, max_iterations=max_iterations
    )
    source, target = _checked(source, "source"), _checked(target, "target")
    T_initial = np.eye(4) if T_target_source_initial is None else T_target_source_initial.copy()
    if min(len(source), len(target)) < protocol.min_correspondences:
        return _failure(
            T_initial,
            f"{len(source)} source and {len(target)} target points are too few: "
            f"{protocol.min_correspondences} are needed",
        )
    return _iterate(source, target, T_initial, protocol, on_iteration)


def _iterate(
    source: np.ndarray,
    target: np.ndarray,
    T_initial: np.ndarray,
    protocol: IcpProtocol,
    on_iteration: Callable[[int, float], None] | None,
) -> Registration:
    tracker = NearestTracker(target, protocol.radius_m)
    T = T_initial.copy()
    fitness, rmse = np.inf, np.inf
    has_settled = False
    for n_iterations in range(protocol.max_iterations + 1):
        points = transform_points(T, source)
        distance, index = tracker.nearest(points)
        paired = index >= 0
        n_paired = int(np.count_nonzero(paired))
        previous = (fitness, rmse)
        fitness = n_paired / len(source)
        rmse = float(np.sqrt(np.mean(distance[paired] ** 2))) if n_paired else float("nan")
        if n_paired < protocol.min_correspondences or n_iterations == protocol.max_iterations:
            break
        change = max(abs(fitness - previous[0]), abs(rmse - previous[1]))
        if change < protocol.relative_tolerance:
            has_settled = True
            break
        T = fit_rigid(points[paired], target[index[paired]]) @ T
        if on_iteration is not None:
            on_iteration(n_iterations + 1, rmse)
    open_ = _surface_check(points[paired], target) if n_paired else ()
    result = Registration(
        T_target_source=T,
        converged=True,
        reason="",
        n_iterations=n_iterations,
        n_correspondences=n_paired,
        fitness=fitness,
        rmse_m=rmse,
        open_directions=open_,
    )
    return _judged(result, source, T_initial, protocol, has_settled)


def fit_rigid(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return T_target_source (4, 4) that moves paired points onto each other, least squares.

    References
    ----------
    Umeyama 1991, equations 34-43, without scale.
    """
    source_mean, target_mean = source.mean(axis=0), target.mean(axis=0)
    U, _, Vt = np.linalg.svd((target - target_mean).T @ (source - source_mean))
    sign = np.sign(np.linalg.det(U) * np.linalg.det(Vt))
    R = U @ np.diag([1.0, 1.0, sign]) @ Vt
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, target_mean - R @ source_mean
    return T


def _surface_check(points: np.ndarray, target: np.ndarray) -> tuple[OpenDirection, ...]:
    return open_directions(points, cKDTree(target, balanced_tree=False))


def _judged(
    result: Registration,
    source: np.ndarray,
    T_initial: np.ndarray,
    protocol: IcpProtocol,
    has_settled: bool,
) -> Registration:
    shift, turn = motion_of(result.T_target_source @ np.linalg.inv(T_initial), source, T_initial)
    if result.n_correspondences < protocol.min_correspondences:
        problem = (
            f"only {result.n_correspondences} points have a neighbour within "
            f"{protocol.radius_m:g} m, {protocol.min_correspondences} are needed; "
            "start closer or widen the radius"
        )
    elif result.fitness < protocol.min_fitness:
        problem = (
            f"only {result.fitness:.1%} of the points have a neighbour within "
            f"{protocol.radius_m:g} m, {protocol.min_fitness:.0%} are needed"
        )
    elif shift > protocol.max_shift_m or turn > protocol.max_turn_deg:
        problem = (
            f"the cloud drifted {shift:.2f} m and {turn:.1f} deg from its start, at most "
            f"{protocol.max_shift_m:g} m and {protocol.max_turn_deg:g} deg are believed"
        )
    elif result.open_directions:
        listed = " and ".join(d.text for d in result.open_directions)
        problem = f"the surface leaves open: {listed}"
    elif not has_settled:
        problem = f"still moving after {result.n_iterations} iterations"
    else:
        text = (
            f"settled after {result.n_iterations} iterations with {result.fitness:.1%} of the "
            f"points paired at {result.rmse_m:.3f} m RMSE"
        )
        return _with(result, True, text)
    return _with(result, False, problem)


def motion_of(
    T_motion: np.ndarray, source: np.ndarray, T_initial: np.ndarray
) -> tuple[float, float]:
    """Return how far [m] a motion shifts the centre of the source and how far it turns it [deg]."""
    centre = transform_points(T_initial, source.mean(axis=0, keepdims=True))
    shift = float(np.linalg.norm(transform_points(T_motion, centre) - centre))
    cosine = np.clip((np.trace(T_motion[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)
    return shift, float(np.degrees(np.arccos(cosine)))


def _with(result: Registration, converged: bool, reason: str) -> Registration:
    return replace(result, converged=converged, reason=reason)


def _failure(T_initial: np.ndarray, reason: str) -> Registration:
    return Registration(
        T_target_source=T_initial,
        converged=False,
        reason=reason,
        n_iterations=0,
        n_correspondences=0,
        fitness=0.0,
        rmse_m=float("nan"),
    )


def _checked(points: np.ndarray, name: str) -> np.ndarray:
    points = np.ascontiguousarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"{name} must have shape (n, 3), got {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; drop those points first")
    return points
