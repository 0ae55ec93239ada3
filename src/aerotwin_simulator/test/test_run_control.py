# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""States of a run and orders of clients."""

import pytest

from aerotwin_simulator.run_control import ChangeOrder, OrderRefused, RunControl, RunState


@pytest.fixture
def paused():
    return RunControl(is_paused=True)


def test_steps_are_made_only_while_paused():
    control = RunControl(is_paused=False)
    with pytest.raises(OrderRefused, match="must be paused, it is PLAYING"):
        control.order_steps(3)
    control.pause()
    order = control.order_steps(2)
    assert not control.is_standing
    control.count_step()
    assert not order.ended.done()
    control.count_step()
    assert order.ended.result(0) == ""
    assert control.is_standing


def test_a_second_order_of_steps_is_refused_and_the_first_can_be_cancelled(paused):
    order = paused.order_steps(100)
    paused.count_step()
    with pytest.raises(OrderRefused, match="99 steps of another request"):
        paused.order_steps(1)
    paused.cancel_steps(order)
    assert order.ended.result(0) == "1 of 100 steps were made: cancelled"
    assert paused.is_standing


@pytest.mark.parametrize("interrupt", ["play", "begin_loading", "order_change", "close"])
def test_no_order_of_steps_waits_for_ever(paused, interrupt):
    order = paused.order_steps(100)
    arguments = {"order_change": [ChangeOrder(kind="all")], "close": ["over"]}
    getattr(paused, interrupt)(*arguments.get(interrupt, []))
    assert order.ended.result(0).startswith("0 of 100 steps were made: ")


def test_single_steps_add_up(paused):
    for _ in range(2):
        paused.step_once()
    for _ in range(2):
        assert not paused.is_standing
        paused.count_step()
    assert paused.is_standing


def test_a_change_sets_the_state_when_it_is_made(paused):
    change = paused.order_change(ChangeOrder(kind="unload", state=RunState.NO_WORLD))
    assert paused.is_ending
    with pytest.raises(OrderRefused, match="under way"):
        paused.order_change(ChangeOrder(kind="all"))
    paused.end_change()
    assert change.ended.result(0) == ""
    assert paused.state == RunState.NO_WORLD
    for order in (paused.play, paused.pause, paused.step_once):
        with pytest.raises(OrderRefused, match="load a world first"):
            order()


@pytest.mark.parametrize("kind", ["all", "load", "unload"])
def test_nothing_is_ordered_while_the_simulation_begins_anew(paused, kind):
    paused.order_change(ChangeOrder(kind=kind))
    for order in (paused.play, paused.pause, lambda: paused.order_steps(1)):
        with pytest.raises(OrderRefused, match="begins anew"):
            order()


def test_a_pause_during_a_reset_of_the_vehicles_holds():
    control = RunControl(is_paused=False)
    control.order_change(ChangeOrder(kind="vehicles"))
    control.pause()
    control.end_change()
    assert control.state == RunState.PAUSED


def test_a_change_that_fails_says_why_and_leaves_the_state(paused):
    change = paused.order_change(ChangeOrder(kind="vehicles"))
    assert not paused.is_ending
    paused.end_change("no ground")
    assert change.ended.result(0) == "no ground"
    assert paused.state == RunState.PAUSED
