# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ICP: point to point, point to plane and GICP, each also with scale.

The loop and its stopping rule are those of Besl and McKay with a search radius, as Beam et al.
(2024, IV-C) use them: radius 1 m, relative change 1e-5, at most 1500 iterations. The diagnosis
adds whether the result is reliable.
"""

from collections.abc import Callable

import numpy as np

from aerotwin_core.frames import make_transform
from aerotwin_registration.icp.diagnosis import Iterate, failure, judged
from aerotwin_registration.icp.protocol import ROBUST_KERNELS, IcpProtocol
from aerotwin_registration.icp.result import Registration
from aerotwin_registration.icp.similarity import split_scale
from aerotwin_registration.icp.steps import Steps
from aerotwin_registration.icp.surface import AlignmentTarget
from aerotwin_registration.neighbours import PairTracker

_SHORT = 1e-3  # share of the radius below which an unshortened Gauss-Newton step counts as settled


def align(
    source: np.ndarray | AlignmentTarget,
    target: np.ndarray | AlignmentTarget,
    *,
    T_target_source_initial: np.ndarray | None = None,
    scale_initial: float = 1.0,
    protocol: IcpProtocol | None = None,
    on_iteration: Callable[[int, float], None] | None = None,
) -> Registration:
    """Align source to target.

    Parameters
    ----------
    source, target : (n, 3), (m, 3) arrays or AlignmentTarget
        Points in their own frames [m]. `voxel_m` and `n_neighbours` do not apply to an
        `AlignmentTarget`, which is used as is.
    T_target_source_initial : (4, 4) array, optional
        Identity by default.
    scale_initial : float
        Fixed unless the protocol estimates scale.
    protocol : IcpProtocol, optional
        Includes the failure criteria; that of Beam et al. 2024 by default.
    on_iteration : callable, optional
        Called with (iteration, rmse_m), for progress.

    Returns
    -------
    Registration
        Also for failures: too few points or pairs, drift, an open direction, no convergence, a
        result that the surfaces do not support.

    Raises
    ------
    ValueError
        If an array has the wrong shape or holds NaN or infinity, or the initial transform mirrors.

    Notes
    -----
    The stopping rule is Open3D's: the change of fitness *and* the change of RMSE between two
    iterations are below `relative_tolerance`. The result is repeatable to the bit. Clouds are
    centred first, so that those far from the origin lose no precision.

    References
    ----------
    Besl and McKay 1992; Chen and Medioni 1992; Segal, Haehnel and Thrun 2009.
    """
    protocol = protocol or IcpProtocol()
    source, target = _surface(source, protocol, "source"), _surface(target, protocol, "target")
    S_initial = _start(T_target_source_initial, scale_initial)
    n_least = max(protocol.min_correspondences, 1)
    if min(len(source), len(target)) < n_least:
        return failure(
            S_initial,
            f"{len(source)} source and {len(target)} target points are too few: "
            f"{protocol.min_correspondences} are needed",
        )
    S_start = _shift(-target.origin) @ S_initial @ _shift(source.origin)
    last = _iterate(source, target, S_start, protocol, on_iteration)
    judgement = judged(source, target, S_start, last, protocol)
    T, scale = split_scale(_shift(target.origin) @ last.S @ _shift(-source.origin))
    return Registration(T_target_source=T, scale=scale, **judgement)


def _surface(
    cloud: np.ndarray | AlignmentTarget, protocol: IcpProtocol, name: str
) -> AlignmentTarget:
    if isinstance(cloud, AlignmentTarget):
        return cloud
    return AlignmentTarget(
        cloud, voxel_m=protocol.voxel_m, n_neighbours=protocol.n_neighbours, name=name
    )


def _start(T: np.ndarray | None, scale: float) -> np.ndarray:
    S = np.eye(4) if T is None else np.array(T, dtype=np.float64)
    if S.shape != (4, 4) or not np.isfinite(S).all():
        raise ValueError(f"T_target_source_initial must be finite (4, 4), got\n{S}")
    if not np.linalg.det(S[:3, :3]) > 0.0:
        raise ValueError(f"T_target_source_initial must not mirror or flatten, got\n{S}")
    if not 0.0 < scale < np.inf:
        raise ValueError(f"scale_initial must be positive, got {scale}")
    S[:3, :3] *= scale
    return S


def _shift(vector: np.ndarray) -> np.ndarray:
    return make_transform(np.eye(3), vector)


def _iterate(
    source: AlignmentTarget,
    target: AlignmentTarget,
    S: np.ndarray,
    protocol: IcpProtocol,
    on_iteration: Callable[[int, float], None] | None,
) -> Iterate:
    tracker = PairTracker(
        source.points,
        target.tree,
        protocol.radius_m,
        robust=ROBUST_KERNELS.index(protocol.robust_kernel),
        robust_m=protocol.robust_m,
    )
    steps = Steps(protocol, source, target)
    log_det = np.log(np.linalg.det(S[:3, :3]))
    previous = (np.inf, np.inf)
    has_settled = False
    for n_iterations in range(protocol.max_iterations + 1):
        pairs = tracker.pairs(S)
        change = max(abs(pairs.fitness - previous[0]), abs(pairs.rmse_m - previous[1]))
        # A shortened step also changes little: the unshortened step must be short as well.
        is_short = steps.asked_m < _SHORT * protocol.radius_m
        has_settled = change < protocol.relative_tolerance and is_short
        growth = abs(np.log(np.linalg.det(S[:3, :3])) - log_det) / 3.0
        is_lost = pairs.n < protocol.min_correspondences or growth > protocol.max_scale_change
        if has_settled or is_lost or n_iterations == protocol.max_iterations:
            break
        previous = (pairs.fitness, pairs.rmse_m)
        S = steps.motion(S, pairs) @ S
        if on_iteration is not None:
            on_iteration(n_iterations + 1, pairs.rmse_m)
    return Iterate(S=S, pairs=pairs, n_iterations=n_iterations, has_settled=has_settled)
