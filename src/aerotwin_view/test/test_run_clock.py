# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the view says of the simulated time, from its start to its end."""

import time
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.ros
_PATIENCE_S = 20.0


@pytest.fixture
def nodes():
    import rclpy

    rclpy.init()
    made = [rclpy.create_node(name) for name in ("simulator", "listener")]
    yield made
    for node in made:
        node.destroy_node()
    rclpy.shutdown()


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_run_starts_runs_is_paused_and_ends_in_words(nodes):
    from builtin_interfaces.msg import Time
    from rosgraph_msgs.msg import Clock

    from aerotwin_view.ros.run_clock import RunClock

    simulator, listener = nodes
    clock = RunClock(listener, 0.0)
    assert clock.text(0.0, 0, None) == "0 robots; no simulation is heard"
    publisher = simulator.create_publisher(Clock, "/clock", 10)
    _until(lambda: clock.text(0.0, 1, None) == "1 robot; the simulation starts")

    def heard() -> bool:
        publisher.publish(Clock(clock=Time(sec=2)))
        clock.read(1.0)
        return clock.stamp_ns > 0

    _until(heard)
    assert (
        clock.text(1.0, 1, 0.0)
        == "2.0 s, 2.00 x real time, 1 robot; speed set: as fast as possible"
    )
    clock = RunClock(listener, 0.0)
    _until(heard)
    for _ in range(12):
        text = clock.text(1.0, 2, None)
    assert text == "2.0 s, paused, 2 robots"
    assert not clock.is_over and not clock.is_paused
    clock.read(3.0)
    assert clock.is_paused
    simulator.destroy_publisher(publisher)
    _until(lambda: clock.is_over)
    ended = clock.text(1.0, 1, 1.0)
    assert ended.startswith("the run ended at 2.0 s, 1 robot; its terminal says how")


def test_a_clock_that_rests_hears_nothing_until_it_is_read_again(nodes):
    from builtin_interfaces.msg import Time
    from rosgraph_msgs.msg import Clock

    from aerotwin_view.ros.run_clock import RunClock

    simulator, listener = nodes
    publisher = simulator.create_publisher(Clock, "/clock", 10)
    clock = RunClock(listener, 0.0)

    def heard(seconds: int) -> bool:
        publisher.publish(Clock(clock=Time(sec=seconds)))
        clock.read(1.0)
        return clock.stamp_ns == seconds * 1_000_000_000

    _until(lambda: heard(2))
    clock.rest()
    _until(lambda: publisher.get_subscription_count() == 0)
    _until(lambda: heard(3))
