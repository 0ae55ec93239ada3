# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls of other threads are made on the loop's, in order, and nobody waits for ever."""

import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from aerotwin_core.loop_calls import MAX_WAITING, LoopCalls

LIMIT_S = 30.0  # what would hang fails instead


@pytest.fixture
def other():
    """A thread beside the loop, which is the test's own."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_a_question_is_answered_on_the_thread_of_the_loop(other):
    calls = LoopCalls()
    answer = other.submit(calls.ask, lambda x: (x, threading.get_ident()), 7)
    calls.wait(LIMIT_S)
    assert answer.result(LIMIT_S) == (7, threading.get_ident())


def test_calls_are_made_in_the_order_in_which_they_came():
    calls, made = LoopCalls(), []
    for k in range(MAX_WAITING):
        calls.schedule(lambda k=k: made.append(k))
    calls.run()
    assert made == list(range(MAX_WAITING))


def test_what_comes_while_calls_are_made_waits_for_the_next_turn():
    calls, made = LoopCalls(), []

    def call() -> None:
        made.append(1)
        calls.schedule(call)

    calls.schedule(call)
    calls.run()
    assert made == [1]


def test_a_full_queue_holds_back_who_fills_it(other):
    calls, made = LoopCalls(), []

    def fill() -> None:
        for k in range(3 * MAX_WAITING):
            calls.schedule(lambda k=k: made.append(k))

    filling, n_waiting = other.submit(fill), []
    while len(made) < 3 * MAX_WAITING:
        n_waiting.append(len(calls._waiting))
        calls.wait(LIMIT_S)
    filling.result(LIMIT_S)
    assert max(n_waiting) <= MAX_WAITING
    assert made == list(range(3 * MAX_WAITING))


def test_who_asks_is_released_when_the_loop_ends(other):
    calls = LoopCalls()
    waiting = other.submit(calls.ask, lambda: 0)
    while not calls._waiting:
        threading.Event().wait(0.001)
    calls.close()
    with pytest.raises(CancelledError):
        waiting.result(LIMIT_S)
    with pytest.raises(CancelledError):
        calls.schedule(lambda: None)


def test_an_error_is_raised_in_the_loop_and_releases_who_asked(other):
    calls = LoopCalls()

    def fail() -> None:
        raise ZeroDivisionError

    waiting = other.submit(calls.ask, fail)
    with pytest.raises(ZeroDivisionError):
        calls.wait(LIMIT_S)
    with pytest.raises(CancelledError):
        waiting.result(LIMIT_S)
