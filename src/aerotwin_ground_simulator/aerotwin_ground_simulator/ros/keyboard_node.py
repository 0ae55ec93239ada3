# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `keyboard`: keys of a terminal in, cmd_vel out."""

import os
import select

from geometry_msgs.msg import TwistStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from aerotwin_core.cli import say
from aerotwin_core.ros.conversions import stamp_from_ns
from aerotwin_core.ros.lockstep import OVERRIDABLE, create_wall_timer
from aerotwin_core.ros.qos import reliable
from aerotwin_ground_simulator.keys import KeyDrive, KeyParameters

PERIOD_S = 0.1
DEPTH, MAX_BYTES = 10, 4096
FRAME = "base_link"


class KeyboardNode(Node):
    """Connects a terminal, read key by key from its descriptor, to a `KeyDrive`."""

    def __init__(self, descriptor: int, parameters: KeyParameters) -> None:
        super().__init__("keyboard")
        self._descriptor, self._drive = descriptor, KeyDrive(parameters)
        self._publish = self.create_publisher(
            TwistStamped, "cmd_vel", reliable(DEPTH), qos_overriding_options=OVERRIDABLE
        ).publish
        create_wall_timer(self, PERIOD_S, self._on_tick)

    def _on_tick(self) -> None:
        """Publish ten times a second, so that the robot knows that the driver is there."""
        before = self._drive.command
        if select.select([self._descriptor], [], [], 0.0)[0]:
            self._drive.on_keys(os.read(self._descriptor, MAX_BYTES) or b"q")
        command = self._drive.command
        message = TwistStamped()
        message.header.stamp = stamp_from_ns(self.get_clock().now().nanoseconds)
        message.header.frame_id = FRAME
        message.twist.linear.x, message.twist.angular.z = command.v_m_s, command.omega_rad_s
        self._publish(message)
        if command != before:
            say(f"{command.v_m_s:+.2f} m/s, {command.omega_rad_s:+.2f} rad/s")
        if self._drive.is_over:
            raise ExternalShutdownException
