# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Noise with exact statistics at any rate."""

import math


def gauss_markov(dt: float, tau: float) -> tuple[float, float]:
    """Return decay and innovation gain of a first-order Gauss-Markov process over dt.

    The exact discretisation: b' = decay b + gain sigma n keeps the standard deviation sigma and
    the correlation exp(-t / tau) whatever dt is.

    >>> decay, gain = gauss_markov(0.1, 10.0)
    >>> abs(decay**2 + gain**2 - 1.0) < 1e-15
    True
    """
    decay = math.exp(-dt / tau)
    return decay, math.sqrt(-math.expm1(-2.0 * dt / tau))


def reading_std(*parts: float, resolution: float = 0.0) -> float:
    """Return the standard deviation of a reading about the truth from independent parts.

    Rounding to a step is one of them: step / sqrt(12).

    >>> reading_std(3.0, 4.0)
    5.0
    """
    return math.hypot(*parts, resolution / math.sqrt(12.0))


def require_step(dt: float) -> None:
    """Refuse a time step that is not positive and finite."""
    if not 0.0 < dt < math.inf:
        raise ValueError(f"dt must be positive, got {dt}; sample at increasing times")
