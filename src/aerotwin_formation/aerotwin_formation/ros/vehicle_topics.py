# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The topics and services of one vehicle of a formation, and its pilot."""

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from aerotwin_core.foreign_text import shown
from aerotwin_core.frames import FloatArray, rotation_from_quaternion
from aerotwin_core.messages import stamp_ns
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.parameters import ConfiguredNode
from aerotwin_core.ros.qos import reliable
from aerotwin_formation.pilot import FormationPilot, PilotAction
from aerotwin_formation.report_text import report_to_text

REPORT = "formation/report"
DEPTH = 10


class PilotedVehicle:
    """Lets a pilot fly the vehicle of a namespace: it is asked at each message of its estimate."""

    def __init__(
        self,
        node: ConfiguredNode,
        name: str,
        pilot: FormationPilot,
        on_step: Callable[[FormationPilot], None],
    ) -> None:
        self.pilot, self._on_step = pilot, on_step
        self._velocity = node.create_publisher(
            TwistStamped, f"{name}/command/velocity", reliable(DEPTH)
        )
        self._report = node.create_publisher(String, f"{name}/{REPORT}", reliable(DEPTH))
        self._arm = node.create_client(SetBool, f"{name}/arm")
        self._take_off = node.create_client(Trigger, f"{name}/takeoff")
        self._land = node.create_client(Trigger, f"{name}/land")
        odometry = TopicSource(topic=f"{name}/autopilot/odom", kind=Odometry)
        node.intakes.add(odometry, self._on_odometry, depth=DEPTH)

    def _on_odometry(self, message: Odometry) -> None:
        position, velocity = motion_of(message)
        action = self.pilot.step(stamp_ns(message), position, velocity)
        self._command(action.order)
        self._publish(action, message)
        self._on_step(self.pilot)

    def _command(self, order: str) -> None:
        """Call services without waiting: an order without effect is repeated by the pilot."""
        if order == "take_off" and self._arm.service_is_ready():
            self._arm.call_async(SetBool.Request(data=True))
            self._take_off.call_async(Trigger.Request())
        elif order == "land" and self._land.service_is_ready():
            self._land.call_async(Trigger.Request())

    def _publish(self, action: PilotAction, odometry: Odometry) -> None:
        if action.velocity is not None:
            message = TwistStamped()
            message.header.stamp, message.header.frame_id = odometry.header.stamp, "map"
            linear = message.twist.linear
            linear.x, linear.y, linear.z = action.velocity.tolist()
            self._velocity.publish(message)
        if action.report is not None:
            self._report.publish(String(data=report_to_text(action.report)))


def motion_of(message: Odometry) -> tuple[FloatArray, FloatArray]:
    """Return position and velocity in map of an odometry, whose velocity is in body axes.

    Raises
    ------
    ValueError
        If a value is not finite, or the frame is not map.
    """
    frame = message.header.frame_id.rpartition("/")[2]
    if frame != "map":
        raise ValueError(f"header.frame_id must be map, got {shown(frame)}")
    p, q = message.pose.pose.position, message.pose.pose.orientation
    v = message.twist.twist.linear
    position, velocity = np.array([p.x, p.y, p.z]), np.array([v.x, v.y, v.z])
    quaternion = np.array([q.x, q.y, q.z, q.w])
    if not np.isfinite([*position, *velocity, *quaternion]).all() or not quaternion.any():
        raise ValueError("pose and twist must be finite, and the orientation a quaternion")
    return position, rotation_from_quaternion(quaternion) @ velocity
