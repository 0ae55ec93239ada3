# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `bridge`: IMU, magnetometer, barometer and GNSS in; command/rotors of an autopilot out."""

import sys
from collections.abc import Callable
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import FluidPressure, Imu, JointState, MagneticField, NavSatFix
from tf2_msgs.msg import TFMessage

from aerotwin_core.messages import diagnostics_message, serialize
from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.lockstep import (
    OVERRIDABLE,
    InputWatch,
    ReaderWait,
    create_wall_timer,
    publish_diagnostics,
)
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import IMU_DEPTH, reliable
from aerotwin_core.ros.sources import imu_sources
from aerotwin_core.time import Schedule
from aerotwin_px4_bridge.odometry_transforms import OdometryTransforms
from aerotwin_px4_bridge.ros import conversions as convert
from aerotwin_px4_bridge.ros.flight import BridgeFlight
from aerotwin_px4_bridge.ros.parameters import BridgeParameters

ESTIMATE_RATE_HZ, STATUS_RATE_HZ = 20.0, 1.0  # in simulated time


class BridgeNode(ConfiguredNode):
    """Connects topics to a `BridgeFlight`; the node ends with the flight."""

    def __init__(self) -> None:
        super().__init__("bridge")
        parameters = declare_parameters(self, BridgeParameters)
        self._flight = BridgeFlight(parameters)
        self.get_logger().info(f"bridge with {parameters}")
        self._start()
        self._messages = convert.BridgeMessages(parameters.n_rotors)
        self._estimate_due, self._status_due = Schedule(ESTIMATE_RATE_HZ), Schedule(STATUS_RATE_HZ)
        self._rotors = self._publisher(JointState, "command/rotors")
        self._odom = self._publisher(Odometry, "autopilot/odom")
        self._status = self._publisher(DiagnosticArray, "autopilot/status")
        self._setpoint = self._publisher(PoseStamped, "command/pose")
        self._transforms: OdometryTransforms | None = None
        if parameters.publish_tf:
            self._transforms = OdometryTransforms()
            self._tf = self._publisher(TFMessage, "/tf")
            tf = TopicSource(topic="/tf", kind=TFMessage)
            self.intakes.add(tf, self._on_transforms, depth=IMU_DEPTH, is_optional=True)
        self._listen(MagneticField, "imu/mag", self._on_magnetic_field)
        self._listen(FluidPressure, "air_pressure", self._on_pressure)
        self._listen(NavSatFix, "gnss/fix", self._on_gnss_fix)
        self._listen(TwistStamped, "gnss/velocity", self._on_velocity)
        self._listen(Imu, "imu/data_raw", self._on_imu)
        way_out = "are the nodes alive that answer command/rotors with it?"
        self._watch = InputWatch(self, "imu/data_raw", parameters.input_timeout_s, way_out)
        self._has_input = self._is_begun = False
        names = parameters.wait_for.split()
        self._readers = ReaderWait(self, "truth/odom", names, parameters.wait_for_s)
        create_wall_timer(self, parameters.ask_again_s, self._ask_again)
        publish_diagnostics(self, self._flight.report)
        self._begin()
        if not self._is_begun:
            self.get_logger().info(f"waiting for {', '.join(names)} to read truth/odom")

    def _start(self) -> None:
        try:
            self._flight.start(self._raise_if_stopped)
        except BaseException:
            self._flight.close()
            raise

    def _raise_if_stopped(self) -> None:
        if not self.context.ok():
            raise ExternalShutdownException

    def _publisher(self, cls: type, topic: str) -> Any:
        deep = reliable(IMU_DEPTH)
        return self.create_publisher(cls, topic, deep, qos_overriding_options=OVERRIDABLE)

    def _listen(self, cls: type, topic: str, on_message: Callable[[Any, int], None]) -> None:
        """Subscribe; messages with impossible values are counted and dropped."""

        def guarded(message: Any) -> None:
            try:
                on_message(message, ns_from_stamp(message.header.stamp))
            except ValueError as error:
                self._flight.count_refused()
                text = f"{topic} refused: {error}"
                self.get_logger().warning(text, throttle_duration_sec=5.0)

        sources = imu_sources() if cls is Imu else TopicSource(topic=topic, kind=cls)
        self.intakes.add(sources, guarded, depth=IMU_DEPTH)

    def _on_magnetic_field(self, message: MagneticField, _: int) -> None:
        self._flight.on_magnetic_field(convert.vector_from_message(message.magnetic_field))

    def _on_pressure(self, message: FluidPressure, _: int) -> None:
        self._flight.on_pressure(convert.pressure_from_message(message))

    def _on_gnss_fix(self, message: NavSatFix, stamp_ns: int) -> None:
        self._flight.on_gnss_fix(stamp_ns, convert.fix_from_message(message))

    def _on_velocity(self, message: TwistStamped, stamp_ns: int) -> None:
        self._flight.on_velocity(stamp_ns, convert.vector_from_message(message.twist.linear))

    def _on_transforms(self, message: TFMessage) -> None:
        """Leave transforms to other nodes that publish them."""
        assert self._transforms is not None
        _, warning = self._transforms.on_transforms(message)
        if warning:
            self.get_logger().warning(warning)

    def _on_imu(self, message: Imu, stamp_ns: int) -> None:
        """Exchange a step; it blocks, within the limits of the link: the loop waits for it."""
        specific_force = convert.vector_from_message(message.linear_acceleration)
        angular_velocity = convert.vector_from_message(message.angular_velocity)
        self._has_input = True
        self._watch.mark_received()
        is_first = self._flight.stamp_ns == 0
        if self._flight.step(stamp_ns, specific_force, angular_velocity):
            if is_first:  # the clock of the other side may begin anywhere
                self._estimate_due = Schedule(ESTIMATE_RATE_HZ, stamp_ns - 1)
                self._status_due = Schedule(STATUS_RATE_HZ, stamp_ns - 1)
            self._send_command()
            self._publish_due()
        if self._flight.outcome is not None:
            self._end()

    def _ask_again(self) -> None:
        """Send the last command again when the loop has stopped: a message was lost."""
        if not self._is_begun:
            self._begin()
        elif not self._has_input:
            self._flight.count_asked_again()
            self._send_command()
        self._has_input = False

    def _begin(self) -> None:
        """Send the first command as soon as every node reads the truth that must not miss any."""
        if self._readers.is_over():
            self._is_begun = True
            self._watch.mark_received()
            self._send_command()

    def _send_command(self) -> None:
        """Publish the autopilot's rotor command, stamped with the sample it answers."""
        flight = self._flight
        self._rotors.publish(self._messages.rotors(flight.stamp_ns, flight.speeds))

    def _publish_due(self) -> None:
        """Publish the autopilot's estimate, the mission's set-point and the status when due."""
        flight = self._flight
        for _ in self._estimate_due.until(flight.stamp_ns):
            estimate, setpoint = flight.client.estimate, flight.client.setpoint
            if estimate is not None and estimate.q_map_body is not None:
                self._odom.publish(self._messages.odometry(estimate))
            cdr = None if self._transforms is None else self._transforms.pack(estimate)
            if cdr is not None:
                self._tf.publish(cdr)
            if setpoint is not None:
                self._setpoint.publish(self._messages.setpoint(flight.stamp_ns, setpoint))
        for stamp_ns in self._status_due.until(flight.stamp_ns):
            status = (f"autopilot {flight.parameters.instance}", *flight.report())
            self._status.publish(serialize(diagnostics_message(stamp_ns, [status])))

    def _end(self) -> None:
        _, summary, _ = self._flight.report()
        self.get_logger().info(f"flight over: {self._flight.outcome}; {summary}")
        rclpy.try_shutdown(context=self.context)

    def destroy_node(self) -> None:
        """End the autopilot with the node."""
        self._flight.close()
        super().destroy_node()


def _check() -> None:
    """Check the parameters and the ports; nothing is started or published."""
    BridgeFlight(declare_parameters(ConfiguredNode("bridge"), BridgeParameters)).close()


def main() -> int:
    """Run the node; where `CHECK_ONLY` is in the environment it ends after its checks."""
    return run_node(BridgeNode, check=_check)


if __name__ == "__main__":
    sys.exit(main())
