# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Publishers of the bridge, each at its rate in simulated time."""

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState

from aerotwin_core.messages import diagnostics_message, serialize
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.qos import IMU_DEPTH, reliable
from aerotwin_core.time import Schedule
from aerotwin_px4_bridge.ros.conversions import BridgeMessages
from aerotwin_px4_bridge.ros.flight import BridgeFlight

ESTIMATE_RATE_HZ, STATUS_RATE_HZ = 20.0, 1.0


class BridgePublishers:
    """Publishers of a bridge node, in its namespace."""

    def __init__(self, node: Node, flight: BridgeFlight) -> None:
        self._flight = flight
        self._messages = BridgeMessages(flight.parameters.n_rotors)
        self._estimate_due, self._status_due = Schedule(ESTIMATE_RATE_HZ), Schedule(STATUS_RATE_HZ)
        qos = {"qos_overriding_options": OVERRIDABLE}
        deep = reliable(IMU_DEPTH)
        self._rotors = node.create_publisher(JointState, "command/rotors", deep, **qos)
        self._odom = node.create_publisher(Odometry, "autopilot/odom", deep, **qos)
        self._status = node.create_publisher(DiagnosticArray, "autopilot/status", deep, **qos)
        self._setpoint = node.create_publisher(PoseStamped, "command/pose", deep, **qos)

    def send_command(self) -> None:
        """Publish the autopilot's rotor command, stamped with the sample it answers."""
        flight = self._flight
        self._rotors.publish(self._messages.rotors(flight.stamp_ns, flight.speeds))

    def publish_due(self) -> None:
        """Publish the autopilot's estimate, the mission's set-point and the status when due."""
        flight = self._flight
        for _ in self._estimate_due.until(flight.stamp_ns):
            estimate, setpoint = flight.client.estimate, flight.client.setpoint
            if estimate is not None and estimate.q_map_body is not None:
                self._odom.publish(self._messages.odometry(estimate))
            if setpoint is not None:
                self._setpoint.publish(self._messages.setpoint(flight.stamp_ns, setpoint))
        for stamp_ns in self._status_due.until(flight.stamp_ns):
            status = (f"autopilot {flight.parameters.instance}", *flight.report())
            self._status.publish(serialize(diagnostics_message(stamp_ns, [status])))
