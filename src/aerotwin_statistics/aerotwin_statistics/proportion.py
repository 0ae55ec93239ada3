# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Exact intervals of a proportion.

References
----------
Clopper and Pearson: The use of confidence or fiducial limits illustrated in the case of the
binomial. Biometrika 26, 1934.
"""


def proportion_interval(n_hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for the probability of a hit.

    It contains the probability in at least `confidence` of the cases, for every n. The n trials are
    independent.

    Raises
    ------
    ValueError
        If n is less than one, the hits are not 0 to n, or the confidence is not between 0 and 1.

    Examples
    --------
    >>> low, high = proportion_interval(10, 10)
    >>> round(low, 4), high
    (0.6915, 1.0)
    """
    from scipy.special import betaincinv

    if n < 1 or not 0 <= n_hits <= n:
        raise ValueError(f"expected 0 to n hits of n >= 1 trials, got {n_hits} of {n}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    tail = (1.0 - confidence) / 2.0
    low = float(betaincinv(n_hits, n - n_hits + 1, tail)) if n_hits else 0.0
    high = float(betaincinv(n_hits + 1, n - n_hits, 1.0 - tail)) if n_hits < n else 1.0
    return low, high
