# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Differences of two samples of distances, with spatial block intervals and a margin."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aerotwin_comparison.twin.protocol import TwinProtocol
from aerotwin_core.errors import UserError
from aerotwin_statistics import (
    BlockSize,
    Equivalence,
    Replicates,
    blocks_in_space,
    bootstrap_difference,
    choose_block_size,
    tost,
)

EQUIVALENT, DIFFERENT, UNDECIDED = "equivalent", "different", "not decided"
FEWEST_BLOCKS = 10
"""With fewer cubes an interval is guesswork: nothing is decided."""


@dataclass(frozen=True, kw_only=True)
class Distances:
    """Distances of one map's points to the model.

    `points_map` (n, 3) are all points where they were measured, `values` (n,) their distances,
    infinite beyond the search [m]. Those of `is_retained` count for mean and deviation, those of
    `is_within` lie within the protocol's cut.
    """

    points_map: np.ndarray
    values: np.ndarray
    is_retained: np.ndarray
    is_within: np.ndarray

    @property
    def kept(self) -> np.ndarray:
        """The retained distances [m]."""
        return self.values[self.is_retained]


@dataclass(frozen=True, kw_only=True)
class Differences:
    """Map B minus map A by one kind of distance.

    `kind` and `what` name and describe what the distances were measured to; the cubes of `block`
    were resampled. `mean` and `std` [m] are of the retained distances, `share` of the points within
    the cut. `sight` lists noise [m] that was added to map A, and whether the margins detect it.
    """

    kind: str
    what: str
    a: Distances
    b: Distances
    block: BlockSize
    mean: Equivalence
    std: Equivalence
    share: Equivalence
    sight: tuple[tuple[float, bool], ...]

    @property
    def parts(self) -> dict[str, Equivalence]:
        """Mean, std and share by name."""
        return {"mean": self.mean, "std": self.std, "share": self.share}

    @property
    def verdict(self) -> str:
        """`equivalent` where all three are, `different` where one is, else `not decided`."""
        if self.block.n_blocks < FEWEST_BLOCKS:
            return UNDECIDED
        verdicts = {part.verdict for part in self.parts.values()}
        if verdicts == {EQUIVALENT}:
            return EQUIVALENT
        return DIFFERENT if DIFFERENT in verdicts else UNDECIDED

    def plain(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "kind": self.kind,
            "verdict": self.verdict,
            **{name: part.plain() for name, part in self.parts.items()},
            "block": {
                "edge_m": self.block.edge,
                "n_blocks": self.block.n_blocks,
                "is_settled": self.block.is_settled,
                "edges_m": list(self.block.edges),
                "standard_errors_m": list(self.block.standard_errors),
            },
            "noise": [{"sigma_m": noise, "is_noticed": seen} for noise, seen in self.sight],
        }


def differences(
    kind: str,
    what: str,
    a: Distances,
    b: Distances,
    protocol: TwinProtocol,
    sight: tuple[tuple[float, bool], ...] = (),
) -> Differences:
    """Compare the distances of two maps in one frame.

    `kind` and `what` are a short name and a description for the reader; the protocol has margins,
    blocks and draws; `sight` is from `noticed_noise`. Raises UserError if the retained points of a
    map lie in a single cube, or there are none.
    """
    block = _block(a, b, protocol)
    replicates = {
        name: _replicates(name, a, b, block.edge, protocol) for name in ("mean", "std", "share")
    }
    margins = {
        "mean": protocol.mean_margin_m,
        "std": protocol.std_margin_m,
        "share": protocol.share_margin,
    }
    judged = {name: tost(r, margins[name], alpha=protocol.alpha) for name, r in replicates.items()}
    return Differences(kind=kind, what=what, a=a, b=b, block=block, sight=sight, **judged)


def _block(a: Distances, b: Distances, protocol: TwinProtocol) -> BlockSize:
    """Return the cubes over which the difference of the means varies most.

    Each point is weighted by its contribution to that difference: its deviation from its map's mean
    over the number of points. Local effects on both maps cancel where they are resampled together.
    """
    values, points = [], []
    for side, sign in ((a, -1.0), (b, 1.0)):
        kept = side.kept
        if len(kept) < 2:
            raise UserError(
                f"only {len(kept)} points of a map lie near the model; check the alignment"
            )
        values.append(sign * (kept - kept.mean()) / len(kept))
        points.append(side.points_map[side.is_retained])
    n_all = sum(map(len, values))
    if protocol.shares_blocks:
        added, places = np.concatenate(values) * n_all, np.concatenate(points)
        chosen = choose_block_size(added, places, protocol.block_edges_m)
    else:
        alone = [
            choose_block_size(v * len(v), p, protocol.block_edges_m) for v, p in zip(values, points)
        ]
        chosen = max(alone, key=lambda block: block.edge)
        chosen = replace(chosen, is_settled=all(block.is_settled for block in alone))
    counts = [len(np.unique(blocks_in_space(p, chosen.edge))) for p in points]
    return replace(chosen, n_blocks=min(counts))


def _replicates(
    name: str, a: Distances, b: Distances, edge_m: float, protocol: TwinProtocol
) -> Replicates:
    values, blocks = [], []
    for side in (a, b):
        which = slice(None) if name == "share" else side.is_retained
        sample = side.is_within.astype(np.float64) if name == "share" else side.kept
        values.append(sample)
        blocks.append(blocks_in_space(side.points_map[which], edge_m))
    try:
        return bootstrap_difference(
            *values,
            *blocks,
            statistic="std" if name == "std" else "mean",
            shares_blocks=protocol.shares_blocks,
            n_resamples=protocol.n_resamples,
            seed=protocol.seed,
        )
    except ValueError as error:
        raise UserError(
            f"the maps are too small for cubes of {edge_m:g} m ({error}); give smaller "
            "block_edges_m in the protocol"
        ) from None


def noticed_noise(
    points_map: np.ndarray,
    distances_of,
    cut_m: float,
    protocol: TwinProtocol,
) -> tuple[tuple[float, bool], ...]:
    """Return which added noise the margins detect: the meaning of "equivalent" here.

    At most 20 000 points of map A, where it was measured (n, 3) [m], are used. `distances_of` maps
    points (n, 3) to distances (n,); those beyond `cut_m` do not count, infinite = all count [m].
    """
    rng = np.random.default_rng(protocol.seed)
    points = points_map[rng.permutation(len(points_map))[:20_000]]
    before = _moments(distances_of(points), cut_m)
    found = []
    for noise in protocol.noise_m:
        after = _moments(distances_of(points + rng.normal(0.0, noise, points.shape)), cut_m)
        off = np.abs(after - before)
        is_noticed = (
            off[0] > protocol.mean_margin_m
            or off[1] > protocol.std_margin_m
            or off[2] > protocol.share_margin
        )
        found.append((noise, bool(is_noticed)))
    return tuple(found)


def _moments(distances: np.ndarray, cut_m: float) -> np.ndarray:
    kept = distances[distances <= cut_m]
    if len(kept) == 0:
        return np.array([np.inf, np.inf, 0.0])
    return np.array([kept.mean(), kept.std(), len(kept) / len(distances)])
