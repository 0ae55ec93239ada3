# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core.threads import N_RANGES, ranges_of, run_ranges, run_tasks, split_range


@pytest.mark.parametrize("n", [0, 1, 3999, 4000, 7999, 8000, 100_001])
def test_ranges_cover_everything_once_in_order(n):
    ranges = ranges_of(n)
    covered = [k for start, stop in ranges for k in range(start, stop)]
    assert covered == list(range(n))
    assert 1 <= len(ranges) <= N_RANGES


def test_empty_parts_are_left_out():
    assert split_range(2, 5) == [(0, 1), (1, 2)]


def test_results_come_in_the_order_of_the_tasks():
    assert run_tasks(lambda a, b: a - b, [(k, 1) for k in range(50)], 4) == list(range(-1, 49))


def test_a_task_may_wait_for_ranges():
    values = np.arange(20_000)

    def total():
        return sum(run_ranges(lambda start, stop, v: int(v[start:stop].sum()), len(values), values))

    assert run_tasks(total, [()] * 8, 2) == [int(values.sum())] * 8


def test_an_error_of_a_task_is_raised():
    with pytest.raises(ZeroDivisionError):
        run_tasks(lambda a: 1 // a, [(1,), (0,)], 2)
