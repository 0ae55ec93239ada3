# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Beginning, ramp and end of a fault, against a fine sum of its level."""

import math

import numpy as np
import pytest

from aerotwin_faults import FaultTiming

SECOND = 1_000_000_000
FINE_NS = 1_000_000
SUM_ERROR = 2e-3  # of steps of 1 ms

TIMINGS = [
    FaultTiming(begin_ns=2 * SECOND),
    FaultTiming(begin_ns=2 * SECOND, duration_s=3.0),
    FaultTiming(begin_ns=2 * SECOND, ramp_s=1.0, duration_s=3.0),
    FaultTiming(begin_ns=2 * SECOND, ramp_s=4.0, duration_s=1.0),  # ends before it has grown
    FaultTiming(begin_ns=0, ramp_s=2.5),
]


def slow_level(timing, elapsed_s):
    """Return the level as a picture says it: a trapeze, cut off where it would still grow."""
    rising = elapsed_s / timing.ramp_s if timing.ramp_s else math.inf
    top = min(1.0, min(elapsed_s, timing.duration_s) / timing.ramp_s if timing.ramp_s else 1.0)
    if elapsed_s < timing.duration_s:
        return min(1.0, rising)
    if not timing.ramp_s:
        return 0.0
    return max(0.0, top - (elapsed_s - timing.duration_s) / timing.ramp_s)


@pytest.mark.parametrize("timing", TIMINGS)
def test_level_and_integral_follow_the_trapeze(timing):
    total = 0.0
    for stamp_ns in range(0, 10 * SECOND, FINE_NS):
        elapsed_s = (stamp_ns - timing.begin_ns) * 1e-9
        moment = timing.moment(stamp_ns)
        level = slow_level(timing, elapsed_s) if elapsed_s >= 0.0 else 0.0
        if moment is None:
            assert level == pytest.approx(0.0, abs=1e-9)
            continue
        assert moment.level == pytest.approx(level, abs=1e-9)
        assert moment.elapsed_s == pytest.approx(elapsed_s, abs=1e-9)
        assert moment.weighted_s == pytest.approx(total, abs=SUM_ERROR)
        total += level * FINE_NS * 1e-9


def test_nothing_happens_before_it_begins():
    assert FaultTiming(begin_ns=SECOND).moment(SECOND - 1) is None
    assert FaultTiming(begin_ns=SECOND).moment(SECOND) == (1.0, 0.0, 0.0)


def test_without_a_duration_it_lasts():
    moment = FaultTiming(begin_ns=0).moment(10**18)
    assert moment.level == 1.0
    assert np.isfinite(moment.weighted_s)
