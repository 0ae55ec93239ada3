# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `bridge`: IMU, magnetometer, barometer and GNSS in; command/rotors of an autopilot out."""

import sys

import rclpy
from rclpy.executors import ExternalShutdownException

from aerotwin_core.ros.lockstep import InputWatch, create_wall_timer, publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_px4_bridge.messages import Vector
from aerotwin_px4_bridge.ros.flight import BridgeFlight
from aerotwin_px4_bridge.ros.inlets import BridgeInlets
from aerotwin_px4_bridge.ros.parameters import BridgeParameters
from aerotwin_px4_bridge.ros.publishers import BridgePublishers


class BridgeNode(ConfiguredNode):
    """Connects topics to a `BridgeFlight`; the node ends with the flight."""

    def __init__(self) -> None:
        super().__init__("bridge")
        parameters = declare_parameters(self, BridgeParameters)
        self._flight = BridgeFlight(parameters)
        self.get_logger().info(f"bridge with {parameters}")
        self._start()
        self._sinks = BridgePublishers(self, self._flight)
        self._inlets = BridgeInlets(self, self._flight, self._on_imu)
        way_out = "are the nodes alive that answer command/rotors with it?"
        self._watch = InputWatch(self, "imu/data_raw", parameters.input_timeout_s, way_out)
        self._watch.mark_received()
        self._has_input = False
        create_wall_timer(self, parameters.ask_again_s, self._ask_again)
        publish_diagnostics(self, self._flight.report)
        self._sinks.send_command()

    def _start(self) -> None:
        try:
            self._flight.start(self._raise_if_stopped)
        except BaseException:
            self._flight.close()
            raise

    def _raise_if_stopped(self) -> None:
        if not self.context.ok():
            raise ExternalShutdownException

    def _on_imu(self, stamp_ns: int, specific_force: Vector, angular_velocity: Vector) -> None:
        """Exchange a step; it blocks, within the limits of the link: the loop waits for it."""
        self._has_input = True
        self._watch.mark_received()
        if self._flight.step(stamp_ns, specific_force, angular_velocity):
            self._sinks.send_command()
            self._sinks.publish_due()
        if self._flight.outcome is not None:
            self._end()

    def _ask_again(self) -> None:
        """Send the last command again when the loop has stopped: a message was lost."""
        if not self._has_input:
            self._flight.count_asked_again()
            self._sinks.send_command()
        self._has_input = False

    def _end(self) -> None:
        _, summary, _ = self._flight.report()
        self.get_logger().info(f"flight over: {self._flight.outcome}; {summary}")
        rclpy.try_shutdown(context=self.context)

    def destroy_node(self) -> None:
        """End the autopilot with the node."""
        self._flight.close()
        super().destroy_node()


def main() -> int:
    """Run the node."""
    return run_node(BridgeNode)


if __name__ == "__main__":
    sys.exit(main())
