# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from aerotwin_core.errors import UserError

pytestmark = pytest.mark.ros


def test_a_type_of_this_installation_is_found():
    from nav_msgs.msg import Odometry
    from std_msgs.msg import String

    from aerotwin_core.ros.message_classes import message_class

    assert message_class("std_msgs/msg/String") is String
    assert message_class("nav_msgs/msg/Odometry") is Odometry


def test_a_message_type_that_ros_does_not_know_is_reported():
    from aerotwin_core.ros.message_classes import message_class

    with pytest.raises(UserError, match=r"no_such_msgs/msg/Sonar: .* no_such_msgs"):
        message_class("no_such_msgs/msg/Sonar")
    with pytest.raises(UserError, match="Sonar: expected one of this ROS installation"):
        message_class("Sonar")
