# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bundle adjustment: poses, points and lens that fit pictures, GNSS and gimbal best.

Levenberg-Marquardt on the reprojection errors with Huber's weights and the priors; points are
eliminated, the remaining system of the pictures is dense and solved by Cholesky: made for up to a
thousand pictures (Triggs, McLauchlan, Hartley, Fitzgibbon: Bundle Adjustment - A Modern Synthesis,
2000).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.spatial.transform import Rotation

from aerotwin_reconstruction.bundle.kernels import (
    N_LENS,
    N_POSE,
    N_UNKNOWNS,
    linearise,
    reduce_to_pictures,
    step_of_points,
)
from aerotwin_reconstruction.bundle.tracks import Tracks

MOST_PICTURES = 2000
_MOST_ITERATIONS = 40
_FIRST_DAMPING, _MOST_DAMPING = 1e-3, 1e8


@dataclass(frozen=True, kw_only=True)
class AdjustmentBlock:
    """Unknowns of a bundle adjustment.

    Attributes
    ----------
    rotation, centre : (k, 3, 3), (k, 3) arrays
        R_map_optical and position in map [m] of each picture.
    lens : (5,) array
        Focal length, principal point [px], radial coefficients of r^2 and r^4.
    points : (m, 3) array
        Points of the tracks in map [m].
    """

    rotation: np.ndarray
    centre: np.ndarray
    lens: np.ndarray
    points: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Priors:
    """Prior knowledge, with standard deviations.

    Attributes
    ----------
    centre, centre_sigma_m : (k, 3) arrays
        GNSS positions [m].
    rotation, rotation_sigma : (k, 3, 3) array, float
        Attitudes reported by the gimbal; deviation about each axis [rad].
    lens, lens_sigma : (5,) arrays
    """

    centre: np.ndarray
    centre_sigma_m: np.ndarray
    rotation: np.ndarray
    rotation_sigma: float
    lens: np.ndarray
    lens_sigma: np.ndarray


def residuals(block: AdjustmentBlock, tracks: Tracks) -> np.ndarray:
    """Return the reprojection errors (n, 2) [px]; 1e4 for a point behind a picture."""
    return _linearise(block, tracks)[0]


def adjust(
    block: AdjustmentBlock,
    tracks: Tracks,
    priors: Priors,
    *,
    huber_px: float,
    settled: float = 1e-5,
) -> tuple[AdjustmentBlock, list[float]]:
    """Return the block of least robust cost, and the cost at each step.

    Parameters
    ----------
    block : AdjustmentBlock
        Initial values.
    huber_px : float
        Residual above which an observation is down-weighted [px].
    settled : float
        Relative decrease of the cost at which the iteration ends.
    """
    damping = _FIRST_DAMPING
    costs = [_cost(block, tracks, priors, huber_px)]
    for _ in range(_MOST_ITERATIONS):
        equations = _NormalEquations(block, tracks, priors, huber_px)
        while damping < _MOST_DAMPING:
            trial = equations.solve(damping)
            cost = np.inf if trial is None else _cost(trial, tracks, priors, huber_px)
            if trial is not None and cost < costs[-1]:
                break
            damping *= 10.0
        else:
            return block, costs
        block, damping = trial, max(0.2 * damping, 1e-9)
        costs.append(cost)
        if costs[-2] - costs[-1] < settled * costs[-2]:
            break
    return block, costs


def triangulate(block: AdjustmentBlock, tracks: Tracks) -> np.ndarray:
    """Return the points (m, 3) nearest to the rays of their observations (least squares)."""
    rays = _rays(block, tracks)
    across = np.eye(3) - rays[:, :, None] * rays[:, None, :]
    A = np.zeros((tracks.n_points, 3, 3))
    np.add.at(A, tracks.point, across)
    b = np.zeros((tracks.n_points, 3))
    np.add.at(b, tracks.point, np.einsum("nij,nj->ni", across, block.centre[tracks.picture]))
    return np.linalg.solve(A + 1e-9 * np.eye(3), b[..., None])[..., 0]


def largest_angles(block: AdjustmentBlock, tracks: Tracks) -> np.ndarray:
    """Return the divergence of each point's rays, (m,) [rad]: twice the widest from their mean."""
    rays = block.points[tracks.point] - block.centre[tracks.picture]
    rays /= np.maximum(np.linalg.norm(rays, axis=1, keepdims=True), 1e-9)
    mean = np.zeros((tracks.n_points, 3))
    np.add.at(mean, tracks.point, rays)
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-9)
    cosine = np.einsum("ni,ni->n", rays, mean[tracks.point])
    widest = np.full(tracks.n_points, 1.0)
    np.minimum.at(widest, tracks.point, cosine)
    return 2.0 * np.arccos(np.clip(widest, -1.0, 1.0))


def _rays(block: AdjustmentBlock, tracks: Tracks) -> np.ndarray:
    """Return the directions (n, 3) in map of all observations, without distortion."""
    f, cu, cv, k1, k2 = block.lens
    bent = (tracks.pixels - (cu, cv)) / f
    xy = bent.copy()
    for _ in range(5):  # a fixed point: mapping lenses bend by a few percent
        r2 = (xy**2).sum(axis=1, keepdims=True)
        xy = bent / (1.0 + r2 * (k1 + k2 * r2))
    rays = np.column_stack([xy, np.ones(len(xy))])
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    return np.einsum("nij,nj->ni", block.rotation[tracks.picture], rays)


def _linearise(block: AdjustmentBlock, tracks: Tracks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(tracks.picture)
    residual, J_picture = np.empty((n, 2)), np.empty((n, 2, N_UNKNOWNS))
    J_point = np.empty((n, 2, 3))
    linearise(
        block.rotation, block.centre, block.lens, block.points, tracks.picture, tracks.point,
        tracks.pixels, residual, J_picture, J_point,
    )  # fmt: skip
    return residual, J_picture, J_point


def _prior_residuals(block: AdjustmentBlock, priors: Priors) -> tuple[np.ndarray, np.ndarray]:
    """Return the deviations from the priors, pictures (k, 6) and lens (5,), in sigmas."""
    turned = np.einsum("nji,njk->nik", priors.rotation, block.rotation)
    pictures = np.empty((len(block.centre), N_POSE))
    pictures[:, :3] = Rotation.from_matrix(turned).as_rotvec() / priors.rotation_sigma
    pictures[:, 3:] = (block.centre - priors.centre) / priors.centre_sigma_m
    return pictures, (block.lens - priors.lens) / priors.lens_sigma


def _cost(block: AdjustmentBlock, tracks: Tracks, priors: Priors, huber_px: float) -> float:
    """Half the sum of Huber's function of the residuals, and of the squared priors."""
    size = np.linalg.norm(residuals(block, tracks), axis=1)
    robust = np.where(size <= huber_px, size**2, 2.0 * huber_px * size - huber_px**2)
    pictures, lens = _prior_residuals(block, priors)
    return 0.5 * float(robust.sum() + (pictures**2).sum() + (lens**2).sum())


class _NormalEquations:
    """The linear system about a block, to be solved for several dampings."""

    def __init__(
        self, block: AdjustmentBlock, tracks: Tracks, priors: Priors, huber_px: float
    ) -> None:
        self._block, self._tracks, self._priors = block, tracks, priors
        self._residual, self._J_picture, self._J_point = _linearise(block, tracks)
        size = np.linalg.norm(self._residual, axis=1)
        self._weight = np.minimum(1.0, huber_px / np.maximum(size, 1e-12))
        self._starts = tracks.starts

    def solve(self, damping: float) -> AdjustmentBlock | None:
        """Return the block after a step, None where the system has no solution."""
        n_pictures, n_points = len(self._block.centre), self._tracks.n_points
        m = N_POSE * n_pictures + N_LENS
        S, g = np.zeros((m, m)), np.zeros(m)
        V_inverse, g_v = np.empty((n_points, 3, 3)), np.empty((n_points, 3))
        reduce_to_pictures(
            self._J_picture, self._J_point, self._residual, self._weight, self._tracks.picture,
            self._starts, n_pictures, damping, S, g, V_inverse, g_v,
        )  # fmt: skip
        self._add_priors(S, g)
        S[np.diag_indices(m)] *= 1.0 + damping
        try:
            step = -cho_solve(cho_factor(S, lower=True, overwrite_a=True, check_finite=False), g)
        except LinAlgError:
            return None
        points = np.empty((n_points, 3))
        step_of_points(
            self._J_picture, self._J_point, self._weight, self._tracks.picture, self._starts,
            step, V_inverse, g_v, points,
        )  # fmt: skip
        return self._moved(step, points)

    def _add_priors(self, S: np.ndarray, g: np.ndarray) -> None:
        priors = self._priors
        pictures, lens = _prior_residuals(self._block, priors)
        weight = np.empty_like(pictures)
        weight[:, :3] = 1.0 / priors.rotation_sigma
        weight[:, 3:] = 1.0 / priors.centre_sigma_m
        root = np.concatenate([weight.ravel(), 1.0 / priors.lens_sigma])
        S[np.diag_indices(len(root))] += root**2
        g += root * np.concatenate([pictures.ravel(), lens])

    def _moved(self, step: np.ndarray, points: np.ndarray) -> AdjustmentBlock:
        pictures = step[:-N_LENS].reshape(-1, N_POSE)
        turn = Rotation.from_rotvec(pictures[:, :3]).as_matrix()
        return replace(
            self._block,
            rotation=np.ascontiguousarray(self._block.rotation @ turn),
            centre=self._block.centre + pictures[:, 3:],
            lens=self._block.lens + step[-N_LENS:],
            points=self._block.points + points,
        )
