# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""By which of its topics a robot is drawn."""

import time

import pytest

from aerotwin_core.messages import odometry_message, serialize

pytestmark = pytest.mark.ros

_PATIENCE_S = 20.0
_TRUTH, _SLAM = "/truth/odom", "/slam/odom"
_UNIT, _ZERO = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)


def test_a_robot_whose_truth_ends_stays_where_it_was_although_its_slam_goes_on():
    import rclpy
    from nav_msgs.msg import Odometry

    from aerotwin_view.ros.heard_robots import HeardRobots

    rclpy.init()
    node, listener = rclpy.create_node("flight"), rclpy.create_node("listener")
    try:
        heard = HeardRobots(listener)
        publishers = {t: node.create_publisher(Odometry, t, 10) for t in (_TRUTH, _SLAM)}

        def is_found(n_truths: int) -> bool:
            for topic, publisher in publishers.items():
                p = (20.0 if topic == _TRUTH else 1.0, 0.0, 0.0)
                message = odometry_message(1, "odom", "base_link", p, _UNIT, _ZERO, _ZERO)
                publisher.publish(serialize(message))
            heard.look(listener.get_topic_names_and_types())
            heard.read()
            is_heard = heard.poses.get(_TRUTH) is not None and heard.poses[_TRUTH].stamp_ns > 0
            return is_heard and listener.count_publishers(_TRUTH) == n_truths

        for n_truths in (1, 0):
            end = time.monotonic() + _PATIENCE_S
            while not is_found(n_truths):
                assert time.monotonic() < end
                time.sleep(0.05)
            if n_truths:
                node.destroy_publisher(publishers.pop(_TRUTH))
        assert heard.estimates == [_SLAM]
        assert heard.motions == {"": _TRUTH}
        assert heard.poses[_TRUTH].p[0] == 20.0
    finally:
        node.destroy_node()
        listener.destroy_node()
        rclpy.try_shutdown()
