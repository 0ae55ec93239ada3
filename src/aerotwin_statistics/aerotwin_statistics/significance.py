# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether runs of two methods differ: tests, effect sizes, corrections for many comparisons.

Wilcoxon and Mann-Whitney are SciPy's. Permutations are drawn here, because SciPy draws others and
the p-values of reports must not change; Holm's correction is not in SciPy.

References
----------
Wilcoxon: Individual comparisons by ranking methods. Biometrics Bulletin 1, 1945.
Mann and Whitney: On a test of whether one of two random variables is stochastically larger than
the other. Annals of Mathematical Statistics 18, 1947.
Holm: A simple sequentially rejective multiple test procedure. Scand. J. Statistics 6, 1979.
Kerby: The simple difference formula. Comprehensive Psychology 3, 2014 (rank-biserial correlation).
Cliff: Dominance statistics. Psychological Bulletin 114, 1993 (delta).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PAIRED_TESTS = ("wilcoxon", "permutation")
UNPAIRED_TESTS = ("mann_whitney", "permutation")
_MOST_SIGNS = 14
"""Up to this many pairs all 2^n assignments of signs are counted, beyond they are drawn."""
_N_PERMUTATIONS = 10_000
_CHUNK = 1000
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Quartiles:
    """Quartiles, extremes and moments of a sample, in its unit.

    Quantiles are linear between order statistics (NumPy's default); `std` has n - 1 degrees of
    freedom and is NaN for one value.
    """

    n: int
    minimum: float
    q25: float
    median: float
    q75: float
    maximum: float
    mean: float
    std: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Result of a test of two methods.

    Attributes
    ----------
    n_a, n_b : int
        Runs; equal for pairs.
    median_difference : float
        Typical difference, b minus a: of the pairs' means (Hodges-Lehmann), or of all pairs.
    effect : float
        From -1 (b smaller everywhere) to 1: rank-biserial correlation of the pairs, or Cliff's
        delta.
    p_value : float
        Two-sided; 1 when there is nothing to compare.
    smallest_p_value : float
        The least that these numbers of runs can yield, however large the difference: above the
        significance level nothing could have been found.
    """

    test: str
    n_a: int
    n_b: int
    median_difference: float
    effect: float
    p_value: float
    smallest_p_value: float


def quartiles(values: Sequence[float] | np.ndarray) -> Quartiles:
    """Return five numbers, mean and deviation of values (n,), n at least 1."""
    values = _checked(values, "values")
    numbers = [float(q) for q in np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0])]
    names = ("minimum", "q25", "median", "q75", "maximum")
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    return Quartiles(
        n=len(values), mean=float(values.mean()), std=spread, **dict(zip(names, numbers))
    )


def compare_paired(
    a: Sequence[float] | np.ndarray,
    b: Sequence[float] | np.ndarray,
    *,
    test: str = "wilcoxon",
    seed: int = 0,
) -> Comparison:
    """Compare two methods on the same runs.

    The scores a and b (n,) are of the same sequences and seeds, in the same order. `test` is
    `wilcoxon` (signed ranks, exact to 50 pairs without ties, zeros left out) or `permutation`
    (of signs, of the mean difference; exact to 14 pairs), whose draws use `seed`.
    """
    a, b = _checked(a, "a"), _checked(b, "b")
    if test not in PAIRED_TESTS:
        raise ValueError(f"test must be one of {PAIRED_TESTS}, got {test!r}")
    if a.shape != b.shape:
        raise ValueError(f"a and b must be pairs, got {len(a)} and {len(b)} values")
    off = b - a
    moved = off[off != 0.0]
    if test == "wilcoxon":
        p_value = _wilcoxon(moved)
    else:
        p_value = _sign_permutation(off, np.random.default_rng(seed))
    return Comparison(
        test=test,
        n_a=len(a),
        n_b=len(b),
        median_difference=_hodges_lehmann(off),
        effect=_rank_biserial(moved),
        p_value=p_value,
        smallest_p_value=min(1.0, 2.0 ** (1 - len(off))),
    )


def compare_unpaired(
    a: Sequence[float] | np.ndarray,
    b: Sequence[float] | np.ndarray,
    *,
    test: str = "mann_whitney",
    seed: int = 0,
) -> Comparison:
    """Compare two methods on separate runs; parameters as `compare_paired`."""
    from scipy.special import comb

    a, b = _checked(a, "a"), _checked(b, "b")
    if test not in UNPAIRED_TESTS:
        raise ValueError(f"test must be one of {UNPAIRED_TESTS}, got {test!r}")
    off = b[None, :] - a[:, None]
    if test == "mann_whitney":
        p_value = _mann_whitney(a, b)
    else:
        p_value = _label_permutation(a, b, np.random.default_rng(seed))
    return Comparison(
        test=test,
        n_a=len(a),
        n_b=len(b),
        median_difference=float(np.median(off)),
        effect=float(np.sign(off).mean()),
        p_value=p_value,
        smallest_p_value=min(1.0, 2.0 / comb(len(a) + len(b), len(a))),
    )


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p-values adjusted for their number, in the order of the input; none is above 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return adjusted


def _checked(values: Sequence[float] | np.ndarray, name: str) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite numbers, one at least")
    return values


def _wilcoxon(moved: np.ndarray) -> float:
    from scipy.stats import wilcoxon

    if len(moved) == 0:
        return 1.0
    has_ties = len(np.unique(np.abs(moved))) < len(moved)
    method = "approx" if has_ties and len(moved) > _MOST_SIGNS else "auto"
    if has_ties and len(moved) <= _MOST_SIGNS:
        return _exact_signed_ranks(moved)
    return float(wilcoxon(moved, method=method).pvalue)


def _exact_signed_ranks(moved: np.ndarray) -> float:
    """Return the p-value over all signs of the ranks as they are, ties included."""
    from scipy.stats import rankdata

    ranks = rankdata(np.abs(moved)) * np.sign(moved)
    return _sign_permutation(ranks, np.random.default_rng(0))


def _sign_permutation(off: np.ndarray, rng: np.random.Generator) -> float:
    """Return how often random signs (all signs if few) make a sum as far from zero."""
    n, seen = len(off), abs(float(off.sum()))
    if n <= _MOST_SIGNS:
        signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return float(np.mean(np.abs(signs @ off) >= seen * (1.0 - _ROUNDING)))
    n_beyond = 0
    for _ in range(_N_PERMUTATIONS // _CHUNK):
        signs = 1.0 - 2.0 * rng.integers(0, 2, (_CHUNK, n))
        n_beyond += int(np.count_nonzero(np.abs(signs @ off) >= seen * (1.0 - _ROUNDING)))
    return (n_beyond + 1.0) / (_N_PERMUTATIONS + 1.0)


def _label_permutation(a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> float:
    """Return how often random labels make means that are as far apart."""
    joined, n = np.concatenate([a, b]), len(a)
    seen = abs(float(b.mean() - a.mean()))
    total, n_beyond = float(joined.sum()), 0
    for _ in range(_N_PERMUTATIONS // _CHUNK):
        sums = rng.permuted(np.tile(joined, (_CHUNK, 1)), axis=1)[:, :n].sum(axis=1)
        off = (total - sums) / len(b) - sums / n
        n_beyond += int(np.count_nonzero(np.abs(off) >= seen * (1.0 - _ROUNDING)))
    return (n_beyond + 1.0) / (_N_PERMUTATIONS + 1.0)


def _mann_whitney(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import mannwhitneyu

    if np.all(np.concatenate([a, b]) == a[0]):
        return 1.0
    return float(mannwhitneyu(a, b, alternative="two-sided").pvalue)


def _hodges_lehmann(off: np.ndarray) -> float:
    """Return the median of the means of all pairs of differences, each with itself too."""
    i, j = np.triu_indices(len(off))
    return float(np.median((off[i] + off[j]) / 2.0))


def _rank_biserial(moved: np.ndarray) -> float:
    """Return the share of ranks with positive differences minus that with negative ones."""
    from scipy.stats import rankdata

    if len(moved) == 0:
        return 0.0
    ranks = rankdata(np.abs(moved))
    return float(np.sum(ranks * np.sign(moved)) / ranks.sum())
