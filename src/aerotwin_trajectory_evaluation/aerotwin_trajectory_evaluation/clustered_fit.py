# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One Gauss-Newton step of a robust fit to samples correlated within stretches of time.

Residual vectors of three are fitted under Huber's cost. Unobservable unknowns are reported and do
not change; the covariance counts stretches of time, not samples.
"""

from dataclasses import dataclass

import numpy as np

# Huber's constant for 95 % efficiency in one dimension, 1.345, at the 97 % quantile of the norm of
# three normal numbers; and the median of that norm.
_HUBER_CHI3, _MEDIAN_CHI3 = 3.0, 1.538
# Of the unknowns' information, each in its own unit: beyond it nothing but rounding is left.
_WORST_CONDITION = 1e12
# An unknown with more than this part in a direction that is open is open itself.
_OPEN_PART = 1e-3
# Smallest residual scale, so that weights of exact data stay finite.
_LEAST_RESIDUAL = 1e-12


@dataclass(frozen=True, kw_only=True)
class ClusteredFit:
    """A linearised problem: residuals (n, 3) + J (n, 3, k) @ step, with Huber weights (n,).

    `blocks` (n,) is the index of the stretch of time to which each sample belongs.
    """

    J: np.ndarray
    residuals: np.ndarray
    weights: np.ndarray
    blocks: np.ndarray

    @classmethod
    def of(cls, J: np.ndarray, residuals: np.ndarray, blocks: np.ndarray) -> "ClusteredFit":
        """Return the problem with Huber's weights, scaled by the spread of its own residuals."""
        size = np.linalg.norm(residuals, axis=1)
        limit = max(_HUBER_CHI3 / _MEDIAN_CHI3 * float(np.median(size)), _LEAST_RESIDUAL)
        weights = limit / np.maximum(size, limit)
        return cls(J=J, residuals=residuals, weights=weights, blocks=blocks)

    @property
    def information(self) -> np.ndarray:
        """Weighted normal matrix (k, k)."""
        return np.einsum("n,nij,nik->jk", self.weights, self.J, self.J)

    def inverse(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the pseudo-inverse (k, k) of the information, and which unknowns (k,) are open."""
        H = self.information
        diagonal = np.diag(H)
        if not np.isfinite(H).all():
            return np.zeros_like(H), np.ones(len(H), dtype=bool)
        # A column of zeros has no scale of its own: it is open.
        root = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        values, vectors = np.linalg.eigh(H / np.outer(root, root))
        is_open = values <= max(values[-1], 0.0) / _WORST_CONDITION
        inverse = (vectors / np.where(is_open, np.inf, values)) @ vectors.T
        parts = np.abs(vectors[:, is_open]).max(axis=1, initial=0.0)
        return inverse / np.outer(root, root), parts > _OPEN_PART

    def step(self, inverse: np.ndarray) -> np.ndarray:
        """Return the change (k,) of the unknowns."""
        return -inverse @ np.einsum("n,nij,ni->j", self.weights, self.J, self.residuals)

    def covariance(self, inverse: np.ndarray) -> np.ndarray:
        """Return the clustered sandwich covariance (Cameron and Miller 2015, eq. 11)."""
        n_blocks = int(self.blocks.max()) + 1
        scores = np.zeros((n_blocks, self.J.shape[2]))
        np.add.at(
            scores, self.blocks, np.einsum("n,nij,ni->nj", self.weights, self.J, self.residuals)
        )
        return inverse @ (scores.T @ scores) @ inverse * (n_blocks / (n_blocks - 1))

    def explained(self, part: np.ndarray, values: np.ndarray, least: float) -> float:
        """Return the share of the squared residuals explained by the unknowns of indices `part`.

        What the other unknowns could compensate is left out (Schur complement). `values` are those
        of the unknowns; an explained residual (RMS) below `least` counts as none.
        """
        H = self.information
        others = np.setdiff1d(np.arange(len(H)), part)
        cross = H[np.ix_(part, others)]
        rest = np.linalg.pinv(H[np.ix_(others, others)], hermitian=True)
        gain = float(values @ (H[np.ix_(part, part)] - cross @ rest @ cross.T) @ values)
        left = float(np.einsum("n,ni,ni->", self.weights, self.residuals, self.residuals))
        return gain / (gain + left) if gain > float(self.weights.sum()) * least**2 else 0.0
