# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import time

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip("rclpy")

import rclpy  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402

from aerotwin_core.errors import UserError  # noqa: E402
from aerotwin_core.ros.lockstep import InputWatch, publish_diagnostics  # noqa: E402
from aerotwin_core.ros.qos import reliable  # noqa: E402

PATIENCE_S = 120.0  # of a loaded machine; no test waits for it to pass


@pytest.fixture
def node():
    rclpy.init()
    made = rclpy.create_node("watched", namespace="uav1")
    yield made
    made.destroy_node()
    rclpy.try_shutdown()


def spin_until(node, condition) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    deadline = time.monotonic() + PATIENCE_S
    try:
        while not condition() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.05)
    finally:
        executor.shutdown()


def test_an_input_that_stays_away_ends_the_node_with_its_topic_and_the_way_out(node):
    watch = InputWatch(node, "imu/data_raw", 0.2, "look at the sensors")
    watch.mark_received()
    expected = r"nothing came on /uav1/imu/data_raw for 0.2 s of wall time; look at the sensors"
    with pytest.raises(UserError, match=expected):
        spin_until(node, lambda: False)


@pytest.mark.parametrize(("limit_s", "is_fed"), [(0.1, False), (0.0, True)])
def test_a_watch_waits_for_the_first_input_and_without_a_limit_for_ever(node, limit_s, is_fed):
    watch = InputWatch(node, "imu/data_raw", limit_s, "")
    if is_fed:
        watch.mark_received()
    start = time.monotonic()
    spin_until(node, lambda: time.monotonic() - start > 0.5)


def test_a_report_stands_on_diagnostics_under_the_name_of_the_node(node):
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

    received = []
    node.create_subscription(DiagnosticArray, "/diagnostics", received.append, reliable(10))
    publish_diagnostics(node, lambda: (1, "2 steps lost", {"n_lost": "2"}))
    spin_until(node, lambda: received)
    (status,) = received[0].status
    assert (status.name, status.message) == ("uav1/watched", "2 steps lost")
    assert status.level == DiagnosticStatus.WARN
    assert [(item.key, item.value) for item in status.values] == [("n_lost", "2")]
