# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One step of each method: pairs in, the motion that brings them closer out."""

import numpy as np

from aerotwin_registration.icp.protocol import ROBUST_KERNELS, IcpProtocol
from aerotwin_registration.icp.similarity import fit_similarity, split_scale, step_about
from aerotwin_registration.icp.surface import Surface
from aerotwin_registration.threads import run_ranges

_DAMPING = 1e-9
"""Share of the mean stiffness added to every unknown, so that free directions stay still."""


def step(
    protocol: IcpProtocol,
    source: Surface,
    target: Surface,
    S: np.ndarray,
    moved: np.ndarray,
    index: np.ndarray,
) -> np.ndarray:
    """Return the (4, 4) motion, in target axes, that a method makes of the pairs.

    Parameters
    ----------
    protocol : IcpProtocol
        Method, scale and robust kernel.
    source, target : Surface
        The two clouds.
    S : (4, 4) array
        Present similarity, target from source.
    moved : (n, 3) array
        Source points in the target frame.
    index : (n,) array
        Target point of each; negative without.
    """
    if protocol.method == "point_to_point":
        return _closed_form(protocol, moved, target.points, index)
    return _gauss_newton(protocol, source, target, S, moved, index)


def _closed_form(
    protocol: IcpProtocol, moved: np.ndarray, target: np.ndarray, index: np.ndarray
) -> np.ndarray:
    paired = index >= 0
    x, q = moved[paired], target[index[paired]]
    if protocol.robust_kernel == "none":
        return fit_similarity(x, q, with_scale=protocol.with_scale)
    weights = robust_weights(protocol, np.linalg.norm(q - x, axis=1))
    return fit_similarity(x, q, weights=weights, with_scale=protocol.with_scale)


def robust_weights(protocol: IcpProtocol, residuals: np.ndarray) -> np.ndarray:
    """Return the weights (n,) of residuals [m] in re-weighted least squares (Zhang 1997)."""
    u = residuals / protocol.robust_m
    if protocol.robust_kernel == "huber":
        return 1.0 / np.maximum(u, 1.0)
    if protocol.robust_kernel == "cauchy":
        return 1.0 / (1.0 + u**2)
    if protocol.robust_kernel == "tukey":
        return np.clip(1.0 - u**2, 0.0, None) ** 2
    return np.ones_like(u)


def _gauss_newton(
    protocol: IcpProtocol,
    source: Surface,
    target: Surface,
    S: np.ndarray,
    moved: np.ndarray,
    index: np.ndarray,
) -> np.ndarray:
    from aerotwin_registration.icp import kernels

    is_gicp = protocol.method == "gicp"
    centre = moved[index >= 0].mean(axis=0)
    sums = run_ranges(
        kernels.normal_equations,
        len(moved),
        kernels.GICP if is_gicp else kernels.POINT_TO_PLANE,
        ROBUST_KERNELS.index(protocol.robust_kernel),
        protocol.robust_m,
        moved,
        source.normals @ split_scale(S)[0][:3, :3].T if is_gicp else moved,
        target.points,
        target.normals,
        index,
        centre,
    )
    return step_about(centre, _solved(sum(sums), protocol.with_scale))


def _solved(sums: np.ndarray, with_scale: bool) -> np.ndarray:
    n = 7 if with_scale else 6
    H, g = np.triu(sums[:n, :n]), sums[7, :n]
    H = H + np.triu(H, 1).T
    # Turns and scale move points by their arm: in units of the arm's RMS all unknowns compare.
    unit = np.ones(n)
    unit[3:] = 1.0 / max(np.sqrt(np.trace(H[3:, 3:]) / max(np.trace(H[:3, :3]), 1e-300)), 1e-12)
    H = H * np.outer(unit, unit)
    H += _DAMPING * max(np.trace(H) / n, 1e-300) * np.eye(n)
    step = np.zeros(7)
    step[:n] = unit * np.linalg.solve(H, unit * g)
    return step
