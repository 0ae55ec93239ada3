# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import gc
import threading

import numpy as np
import pytest

from aerotwin_core.threads import (
    N_RANGES,
    CallsInOrder,
    ranges_of,
    run_ranges,
    run_tasks,
    split_range,
)

PATIENCE_S = 10.0


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


def test_calls_are_made_in_order_beside_the_caller():
    made, gate = [], threading.Event()
    calls = CallsInOrder(4)
    calls.add(gate.wait, PATIENCE_S)
    for k in range(3):
        calls.add(made.append, (k, threading.current_thread().name))
    assert made == []
    gate.set()
    calls.wait()
    assert [k for k, _ in made] == [0, 1, 2]
    calls.close()


def test_a_caller_ahead_of_its_calls_waits_for_the_first():
    begun, gate = threading.Event(), threading.Event()
    calls = CallsInOrder(2)
    for _ in range(2):
        calls.add(gate.wait, PATIENCE_S)
    third = threading.Thread(target=lambda: (begun.set(), calls.add(int)))
    third.start()
    assert begun.wait(PATIENCE_S)
    third.join(0.1)
    assert third.is_alive()
    gate.set()
    third.join(PATIENCE_S)
    assert not third.is_alive()
    calls.close()


def test_nothing_is_called_after_a_failure_which_the_caller_hears():
    made, calls = [], CallsInOrder(10)
    with pytest.raises(ZeroDivisionError):
        calls.add(lambda: 1 / 0)
        calls.add(made.append, "later")
        calls.wait()
    for again in (calls.wait, calls.make_room, lambda: calls.add(made.append, "even later")):
        with pytest.raises(ZeroDivisionError):
            again()
    (own,) = calls._pool._threads
    with pytest.raises(ZeroDivisionError):
        calls.close()
    assert made == []
    assert not own.is_alive()


def test_an_interrupted_wait_forgets_no_failure(monkeypatch):
    calls = CallsInOrder(1)
    calls.add(lambda: 1 / 0)
    first = calls._waiting[0]
    with monkeypatch.context() as interrupted:
        interrupted.setattr(first, "result", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            calls.wait()
    with pytest.raises(ZeroDivisionError):
        calls.close()


def test_the_thread_ends_when_nobody_holds_its_calls():
    calls = CallsInOrder(1)
    calls.add(int)
    (own,) = calls._pool._threads
    assert own.is_alive()
    calls.wait()
    del calls
    gc.collect()
    own.join(PATIENCE_S)
    assert not own.is_alive()
