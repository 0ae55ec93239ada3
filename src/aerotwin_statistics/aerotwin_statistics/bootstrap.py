# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Block bootstrap intervals of means, deviations and quantiles.

References
----------
Davison and Hinkley: Bootstrap Methods and their Application, Cambridge 1997, section 8.3 (blocks).
Hesterberg: What Teachers Should Know About the Bootstrap. The American Statistician 69(4), 2015,
section 4.3.3 (expanded percentile intervals, for few units).
Kish: Survey Sampling, Wiley 1965 (how many equal blocks unequal ones are worth).
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

STATISTICS = ("mean", "std", "median", "q25", "q75", "q95")
N_RESAMPLES = 2000
_LEVELS = {"median": 0.5, "q25": 0.25, "q75": 0.75, "q95": 0.95}
# More blocks than this are joined with their neighbours: intervals do not change, memory does.
_MOST_BLOCKS = 5000
# Values are sorted into this many classes of equal count for quantiles; fewer values are exact.
_CLASSES = 4096
_CHUNK_NUMBERS = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate and its confidence interval, in the unit of the values.

    `confidence` is the share of such intervals that contain the true value, `n_blocks` the number
    of units that were drawn.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    standard_error: float
    n_blocks: int

    def plain(self) -> dict[str, float | int]:
        """Return the numbers for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Replicates:
    """A statistic of a sample, and its values (k,) when the blocks are drawn again.

    `n_blocks` counts the blocks in the sample; for a difference, in the smaller sample.
    `n_effective` is the number of equal blocks that these unequal ones are worth.
    """

    estimate: float
    values: np.ndarray
    n_blocks: int
    n_effective: float

    @property
    def standard_error(self) -> float:
        """Standard deviation of the estimate."""
        return float(np.std(self.values, ddof=1))

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the expanded percentile interval.

        Percentiles of a bootstrap of n units are too narrow by sqrt((n - 1) / n) and take the
        normal for the t distribution; the tails are moved out by both.
        """
        if not 0.0 < confidence < 1.0:
            raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
        tail = self.tail_of_probability((1.0 - confidence) / 2.0)
        low, high = np.quantile(self.values, [tail, 1.0 - tail])
        return Interval(
            estimate=self.estimate,
            low=float(low),
            high=float(high),
            confidence=confidence,
            standard_error=self.standard_error,
            n_blocks=self.n_blocks,
        )

    def tail_of_probability(self, probability: float) -> float:
        """Return the share of replicates to cut for a one-sided error probability."""
        from scipy.special import ndtr, stdtrit

        n = max(self.n_effective, 2.0)
        return float(ndtr(np.sqrt(n / (n - 1.0)) * stdtrit(n - 1.0, probability)))

    def probability_of_tail(self, tail: float) -> float:
        """Return the one-sided error probability of cutting a share of replicates."""
        from scipy.special import ndtri, stdtr

        n = max(self.n_effective, 2.0)
        return float(stdtr(n - 1.0, np.sqrt((n - 1.0) / n) * ndtri(tail)))


def block_bootstrap(
    values: np.ndarray,
    blocks: np.ndarray | None = None,
    *,
    statistic: str = "mean",
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> Replicates:
    """Return a statistic of values and its replicates, blocks drawn with replacement.

    Parameters
    ----------
    values : (n,) array
        Finite.
    blocks : (n,) integer array, optional
        Block of each value (`blocks_in_space`, `blocks_in_time`); by default each value is its own.
    statistic : str
        One of `STATISTICS`; "std" is the standard deviation of the population (ddof 0).

    Raises
    ------
    ValueError
        If values are not finite, shapes disagree or there are fewer than two blocks.
    """
    sample = _Sample(values, blocks, statistic)
    rng = np.random.default_rng(seed)
    drawn = [sample.statistics_of(weights) for weights in _draws(rng, sample.n_blocks, n_resamples)]
    return Replicates(
        estimate=sample.estimate,
        values=np.concatenate(drawn),
        n_blocks=sample.n_blocks,
        n_effective=sample.n_effective,
    )


def bootstrap_interval(
    values: np.ndarray,
    blocks: np.ndarray | None = None,
    *,
    statistic: str = "mean",
    confidence: float = 0.95,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Return the interval of a statistic; parameters as `block_bootstrap`."""
    replicates = block_bootstrap(
        values, blocks, statistic=statistic, n_resamples=n_resamples, seed=seed
    )
    return replicates.interval(confidence)


def bootstrap_difference(
    values_a: np.ndarray,
    values_b: np.ndarray,
    blocks_a: np.ndarray | None = None,
    blocks_b: np.ndarray | None = None,
    *,
    statistic: str = "mean",
    shares_blocks: bool = False,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> Replicates:
    """Return the difference of a statistic, b minus a, and its replicates.

    A draw that leaves one sample without a value is left out. Parameters are as in
    `block_bootstrap`. With `shares_blocks`, equal numbers are the same region (or moment) in both
    samples, so that one that is hard for both is drawn for both. Otherwise the samples are drawn
    independently.
    """
    rng = np.random.default_rng(seed)
    draws: Iterator[tuple[np.ndarray, np.ndarray]]
    if not shares_blocks:
        a, b = _Sample(values_a, blocks_a, statistic), _Sample(values_b, blocks_b, statistic)
        draws = zip(
            _draws(rng, a.n_blocks, n_resamples, a.n_blocks + b.n_blocks),
            _draws(rng, b.n_blocks, n_resamples, a.n_blocks + b.n_blocks),
        )
    else:
        if blocks_a is None or blocks_b is None:
            raise ValueError("blocks_a and blocks_b must be given when they are shared")
        names = np.unique(np.concatenate([np.unique(blocks_a), np.unique(blocks_b)]))
        a = _Sample(values_a, blocks_a, statistic, names)
        b = _Sample(values_b, blocks_b, statistic, names)
        draws = ((weights, weights) for weights in _draws(rng, a.n_slots, n_resamples))
    drawn = np.concatenate([b.statistics_of(wb) - a.statistics_of(wa) for wa, wb in draws])
    return Replicates(
        estimate=b.estimate - a.estimate,
        values=drawn[np.isfinite(drawn)],
        n_blocks=min(a.n_blocks, b.n_blocks),
        n_effective=min(a.n_effective, b.n_effective),
    )


def _draws(
    rng: np.random.Generator, n_blocks: int, n_resamples: int, width: int = 0
) -> Iterator[np.ndarray]:
    """Yield how often each block was drawn, (k, n_blocks) float64, some resamples at a time."""
    step = max(1, _CHUNK_NUMBERS // max(n_blocks, width, _CLASSES))
    for first in range(0, n_resamples, step):
        n = min(step, n_resamples - first)
        drawn = rng.integers(0, n_blocks, (n, n_blocks)) + n_blocks * np.arange(n)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=n * n_blocks)
        yield counts.reshape(n, n_blocks).astype(np.float64)


class _Sample:
    """Values summed up by block, so that a resample costs what its blocks do."""

    def __init__(
        self,
        values: np.ndarray,
        blocks: np.ndarray | None,
        statistic: str,
        names: np.ndarray | None = None,
    ) -> None:
        values = np.asarray(values, dtype=np.float64)
        if statistic not in STATISTICS:
            raise ValueError(f"statistic must be one of {STATISTICS}, got {statistic!r}")
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError("values must be one-dimensional and finite")
        index, self.n_slots = _block_index(len(values), blocks, names)
        sizes = np.bincount(index, minlength=self.n_slots).astype(np.float64)
        self.n_blocks = int(np.count_nonzero(sizes))
        if self.n_blocks < 2:
            raise ValueError(
                f"at least 2 blocks are needed, got {self.n_blocks}; take smaller ones"
            )
        self.n_effective = float(sizes.sum() ** 2 / np.sum(sizes**2))
        self._statistic = statistic
        if statistic in _LEVELS:
            self._prepare_classes(values, index)
        else:
            # Sums about the mean: those about zero would cancel.
            self._centre = float(values.mean())
            off = values - self._centre
            powers = [np.bincount(index, off**k, self.n_slots) for k in (1, 2)]
            self._sums = np.column_stack([sizes, *powers])
        self.estimate = float(self.statistics_of(np.ones((1, self.n_slots)))[0])
        if statistic in _LEVELS:  # exactly, where classes would round
            self.estimate = float(np.quantile(values, _LEVELS[statistic]))

    def _prepare_classes(self, values: np.ndarray, index: np.ndarray) -> None:
        from scipy.sparse import csr_matrix

        order = np.argsort(values, kind="stable")
        n_classes = min(len(values), _CLASSES)
        classes = np.arange(len(values)) * n_classes // len(values)
        counts = np.bincount(classes)
        self._levels = np.bincount(classes, values[order]) / counts
        shape = (self.n_slots, n_classes)
        ones = np.ones(len(values))
        self._table = csr_matrix((ones, (index[order], classes)), shape=shape)

    def statistics_of(self, weights: np.ndarray) -> np.ndarray:
        """Return the statistic (k,) when each block counts as often as weights (k, blocks) say."""
        with np.errstate(invalid="ignore", divide="ignore"):  # nothing drawn: not a number
            if self._statistic in _LEVELS:
                return self._quantiles(weights @ self._table, _LEVELS[self._statistic])
            n, first, second = (weights @ self._sums).T
            mean = first / n
            if self._statistic == "mean":
                return self._centre + mean
            return np.sqrt(np.maximum(second / n - mean**2, 0.0))

    def _quantiles(self, counts: np.ndarray, level: float) -> np.ndarray:
        """Return quantiles as NumPy's (linear between order statistics) of values with counts."""
        cumulated = np.cumsum(counts, axis=1)
        total = cumulated[:, -1]
        place = np.maximum(total - 1.0, 0.0) * level
        below = np.floor(place)
        found = []
        for rank in (below, np.minimum(below + 1.0, total - 1.0)):
            which = (cumulated <= rank[:, None] + 1e-9).sum(axis=1)
            found.append(self._levels[np.minimum(which, len(self._levels) - 1)])
        value = found[0] + (place - below) * (found[1] - found[0])
        return np.where(total > 0.0, value, np.nan)


def _block_index(
    n: int, blocks: np.ndarray | None, names: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """Return the index (n,) of each value's block, and how many indices there are."""
    if blocks is None:
        index, n_slots = np.arange(n), n
    else:
        blocks = np.asarray(blocks)
        if blocks.shape != (n,) or not np.issubdtype(blocks.dtype, np.integer):
            raise ValueError(f"blocks must be ({n},) integers, got {blocks.dtype} {blocks.shape}")
        if names is None:
            names = np.unique(blocks)
        index, n_slots = np.searchsorted(names, blocks), len(names)
    joined = -(-n_slots // _MOST_BLOCKS)
    return index // max(joined, 1), -(-n_slots // max(joined, 1))
