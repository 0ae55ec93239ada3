# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Time offset combined from two estimates, by rotations and by displacements.

Attitudes do not depend on the scale, the drift of positions or the tracked point of the body;
positions do not depend on the attitude errors. An offset that both show is reliable; where they
differ, one of them follows an error that looks like time.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

# Standard deviations beyond which a number is another one.
SIGNIFICANT = 3.0
# A smaller share of the errors may be explained by anything correlated over many stretches.
LEAST_SHARE = 0.1
LEAST_OFFSET_S = 1e-4
"""Below there is nothing but rounding: stamps of four decimals [s]."""
# Exact data have no deviation; their weights stay finite [s].
_LEAST_STD_S = 1e-12
AGREED, DISPUTED = "agreed", "disputed"
TURNS, DISPLACEMENTS, NOBODY = "turns alone", "displacements alone", ""
CERTAINTIES = (AGREED, DISPUTED, TURNS, DISPLACEMENTS, NOBODY)


@dataclass(frozen=True, kw_only=True)
class OffsetEstimate:
    """A time offset estimated from one kind of motion.

    `offset_s` is to be added to the estimate's stamps, with standard deviation `std_s` [s]; None if
    not observable, and `reason` says why. `share` is the share of the squared errors of this kind
    that it explains.
    """

    offset_s: float | None = None
    std_s: float | None = None
    share: float = 0.0
    reason: str = ""

    @property
    def text(self) -> str:
        """The offset and its standard deviation."""
        assert self.offset_s is not None
        assert self.std_s is not None
        return f"{self.offset_s * 1e3:+.1f} ± {self.std_s * 1e3:.1f} ms"

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        return {
            "time_offset_s": self.offset_s,
            "time_offset_std_s": self.std_s,
            "share": self.share,
            "reason": self.reason,
        }


NO_OFFSET_ESTIMATE = OffsetEstimate()


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Combined offset, its standard deviation, certainty and significance."""

    offset_s: float | None
    std_s: float | None
    certainty: str
    is_significant: bool


def decide(turns: OffsetEstimate, displacements: OffsetEstimate) -> Decision:
    """Return the combination of two estimates.

    They agree when they differ by at most three standard deviations: the result is then their mean
    weighted by variance. Otherwise the rotations are used, because a wrong scale and drift do not
    affect them; their deviation is scaled by the difference in standard deviations, as the Particle
    Data Group does with results that disagree (Review of Particle Physics, section 5.2.2, scale
    factor S of two values).
    """
    if turns.offset_s is None or turns.std_s is None:
        return _alone(displacements, DISPLACEMENTS)
    if displacements.offset_s is None or displacements.std_s is None:
        return _alone(turns, TURNS)
    apart_s = abs(turns.offset_s - displacements.offset_s)
    std_s = math.hypot(turns.std_s, displacements.std_s)
    share = max(turns.share, displacements.share)
    if apart_s <= max(LEAST_OFFSET_S, SIGNIFICANT * std_s):
        weights = [1.0 / max(w.std_s or 0.0, _LEAST_STD_S) ** 2 for w in (turns, displacements)]
        offsets = (turns.offset_s, displacements.offset_s)
        mean_s = sum(w * offset for w, offset in zip(weights, offsets, strict=True)) / sum(weights)
        return _decision(mean_s, math.sqrt(1.0 / sum(weights)), AGREED, share)
    return _decision(turns.offset_s, turns.std_s * apart_s / std_s, DISPUTED, turns.share)


def _alone(offset_estimate: OffsetEstimate, name: str) -> Decision:
    if offset_estimate.offset_s is None or offset_estimate.std_s is None:
        return Decision(offset_s=None, std_s=None, certainty=NOBODY, is_significant=False)
    return _decision(offset_estimate.offset_s, offset_estimate.std_s, name, offset_estimate.share)


def _decision(offset_s: float, std_s: float, certainty: str, share: float) -> Decision:
    """Return an offset with its significance: beyond chance, and explaining errors."""
    is_beyond_chance = abs(offset_s) > max(LEAST_OFFSET_S, SIGNIFICANT * std_s)
    return Decision(
        offset_s=offset_s,
        std_s=std_s,
        certainty=certainty,
        is_significant=is_beyond_chance and share > LEAST_SHARE,
    )


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
