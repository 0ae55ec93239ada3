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
