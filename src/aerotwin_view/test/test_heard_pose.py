# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses read from the bytes of odometry messages."""

import numpy as np
import pytest

from aerotwin_core.messages import odometry_message, serialize

pytestmark = pytest.mark.ros

ZERO = (0.0, 0.0, 0.0)
Q = np.array([0.1, -0.2, 0.3, 0.4])


@pytest.mark.parametrize("frame", ["", "m", "map", "odom", "uav10/odom", "/world"])
@pytest.mark.parametrize("child", ["", "b", "base", "base_link", "uav10/base_link"])
def test_the_pose_is_that_of_the_message_whatever_its_frames_are_called(frame, child):
    from aerotwin_view.ros.heard_robots import HeardPose

    stamp_ns = 1_234_567_890_123_456_789
    message = odometry_message(stamp_ns, frame, child, (1.5, -2.5, 3.5), Q, ZERO, ZERO)
    pose = HeardPose()
    pose.set(serialize(message))
    assert (pose.stamp_ns, pose.frame) == (stamp_ns, frame.strip("/"))
    np.testing.assert_array_equal(pose.p, (1.5, -2.5, 3.5))
    np.testing.assert_allclose(pose.q_xyzw, Q / np.linalg.norm(Q))


@pytest.mark.parametrize(("p", "q"), [((np.nan, 0.0, 0.0), Q), (ZERO, (0.0, 0.0, 0.0, 0.0))])
def test_what_is_no_pose_is_left_out(p, q):
    from aerotwin_view.ros.heard_robots import HeardPose

    pose = HeardPose()
    pose.set(serialize(odometry_message(5, "map", "base_link", p, q, ZERO, ZERO)))
    assert pose.stamp_ns == -1
