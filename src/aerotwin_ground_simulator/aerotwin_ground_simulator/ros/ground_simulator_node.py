# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `ground_simulator`: cmd_vel in; scans of lidar and radar, odom, truth, /clock, tf out."""

import math
import sys
import time
from pathlib import Path
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, LaserScan, PointCloud2
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from aerotwin_core.errors import UserError
from aerotwin_core.messages import serialize, string_message, transform_message
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.lockstep import OVERRIDABLE, create_wall_timer, publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import CLOUD_DEPTH, IMAGE_DEPTH, IMU_DEPTH, LATCHED, reliable
from aerotwin_core.time import to_seconds
from aerotwin_ground_dynamics import NoGroundError, VelocityCommand
from aerotwin_ground_simulator import robot_messages
from aerotwin_ground_simulator.driven_path import DrivenPath, check_new
from aerotwin_ground_simulator.driving import PacedRobot, check_robot, robot_in_world
from aerotwin_ground_simulator.flat_scan import FlatScanner
from aerotwin_ground_simulator.robot import (
    describe_ground_robot,
    robot_transforms,
    unprocessed_lidar,
)
from aerotwin_ground_simulator.ros.parameters import GroundSimulatorParameters
from aerotwin_ground_simulator.sensing import LidarTurn
from aerotwin_ground_simulator.simulation import STEP_NS
from aerotwin_sensor_models import RadarScan

TICK_S = 0.005
OK, WARN = 0, 1


class GroundSimulatorNode(ConfiguredNode):
    """Connects topics to a `PacedRobot`."""

    def __init__(self) -> None:
        super().__init__("ground_simulator")
        self._options = p = declare_parameters(self, GroundSimulatorParameters)
        self._path = DrivenPath(Path(p.path_file)) if p.path_file else None
        self._robot = PacedRobot(
            robot_in_world(p, p.world, p.start),
            speed=p.speed,
            command_timeout_s=p.command_timeout_s,
            clock=time.monotonic,
        )
        if p.lidar.is_mounted:
            lidar = unprocessed_lidar(p.lidar.preset)
            self._flat_scanner = FlatScanner(lidar, p.T_base_lidar, p.scan)
        self._n_refused = self._n_ordered = 0
        self._wire()
        self.add_post_set_parameters_callback(self._on_parameters)
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"ground robot with {self._options}")
        create_wall_timer(self, TICK_S, self._tick)

    def _wire(self) -> None:
        qos: dict[str, Any] = {"qos_overriding_options": OVERRIDABLE}
        deep = reliable(IMU_DEPTH)
        self._publish_clock = self.create_publisher(Clock, "/clock", deep, **qos).publish
        self._publish_truth = self.create_publisher(Odometry, "truth/odom", deep, **qos).publish
        self._publish_odom = self.create_publisher(Odometry, "odom", deep, **qos).publish
        self._publish_tf = self.create_publisher(TFMessage, "/tf", deep, **qos).publish
        clouds, images = reliable(CLOUD_DEPTH), reliable(IMAGE_DEPTH)
        if self._options.lidar.is_mounted:
            self._publish_cloud = self.create_publisher(
                PointCloud2, "lidar/points", clouds, **qos
            ).publish
            self._publish_scan = self.create_publisher(LaserScan, "scan", deep, **qos).publish
        if self._options.radar.is_mounted:
            self._publish_polar = self.create_publisher(Image, "radar/polar", images, **qos).publish
            self._publish_targets = self.create_publisher(
                PointCloud2, "radar/points", clouds, **qos
            ).publish
        self._static = self.create_publisher(TFMessage, "/tf_static", LATCHED, **qos)
        self._static.publish(serialize(transform_message(robot_transforms(self._options))))
        self._description = self.create_publisher(String, "robot_description", LATCHED, **qos)
        self._description.publish(serialize(string_message(describe_ground_robot(self._options))))
        commands = [
            TopicSource(topic="cmd_vel", kind=TwistStamped, convert=lambda message: message.twist),
            TopicSource(topic="cmd_vel", kind=Twist),
        ]
        if not self._options.is_stamped:
            commands.reverse()
        self.intakes.add(commands, self._on_command, depth=IMU_DEPTH, is_optional=True)
        self.create_service(SetBool, "~/pause", self._on_pause)
        self.create_service(Trigger, "~/step", self._on_step)
        self.create_service(Trigger, "~/reset", self._on_reset)

    def destroy_node(self) -> None:
        """Close the file with the node."""
        if self._path is not None:
            self._path.close()
        super().destroy_node()

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            if parameter.name == "speed":
                self._robot.set_speed(float(parameter.value))

    def _on_command(self, message: Twist) -> None:
        v, omega = message.linear.x, message.angular.z
        if not math.isfinite(v + omega):
            self._n_refused += 1
            self.get_logger().warning("cmd_vel is not finite", throttle_duration_sec=5.0)
            return
        self._robot.set_command(VelocityCommand(v, omega))

    def _on_pause(self, request: SetBool.Request, reply: SetBool.Response) -> SetBool.Response:
        self._robot.pause(request.data)
        reply.success, reply.message = True, "paused" if request.data else "running"
        return reply

    def _on_step(self, _: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        if not self._robot.is_paused:
            reply.success = False
            reply.message = "expected a paused run, found it running; pause it"
            return reply
        self._n_ordered += 1
        reply.success, reply.message = True, f"one step of {STEP_NS * 1e-6:g} ms"
        return reply

    def _on_reset(self, _: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        if self._path is not None:
            reply.success = False
            reply.message = (
                f"path_file: expected none, found {self._options.path_file}, in which the path "
                "would jump; end this run and start another"
            )
            return reply
        self._robot.return_to_start()
        reply.success, reply.message = True, "the robot goes back to its start; time goes on"
        return reply

    def _tick(self) -> None:
        """Advance by the steps that are due, or were ordered."""
        n_ordered, self._n_ordered = self._n_ordered, 0
        for _ in range(n_ordered + self._robot.n_steps_due()):
            self._step()

    def _step(self) -> None:
        """Advance by a step and publish."""
        try:
            scans = self._robot.step()
        except NoGroundError as error:
            raise UserError(f"the robot has left its world: {error}") from None
        self._publish(scans)
        if 0.0 < self._options.duration_s <= to_seconds(self._robot.stamp_ns):
            raise ExternalShutdownException

    def _publish(self, scans: list) -> None:
        stamp_ns, vehicle = self._robot.stamp_ns, self._robot.vehicle
        self._publish_clock(robot_messages.clock(stamp_ns))
        self._publish_truth(robot_messages.truth_odometry(stamp_ns, vehicle))
        self._publish_odom(robot_messages.wheel_odometry(stamp_ns, vehicle))
        if self._options.publish_tf:
            self._publish_tf(robot_messages.odometry_transform(stamp_ns, vehicle))
        if self._path is not None:
            self._path.add(stamp_ns, vehicle.T_map_base)
        for scan in scans:
            self._publish_turn(scan)

    def _publish_turn(self, scan: LidarTurn | RadarScan) -> None:
        if isinstance(scan, RadarScan):
            polar, targets = robot_messages.radar_turn(scan)
            self._publish_polar(polar)
            self._publish_targets(targets)
            return
        self._publish_cloud(robot_messages.cloud(scan))
        twist = self._robot.vehicle.wheel_odometry.twist
        self._publish_scan(self._flat_scanner.scan(scan, twist))

    def _report(self) -> tuple[int, str, dict[str, str]]:
        values = {name: str(value) for name, value in self._robot.counters.items()}
        values["n_refused"] = str(self._n_refused)
        level = WARN if self._n_refused or self._robot.counters["n_steps_skipped"] else OK
        return level, f"{self._robot.stamp_ns * 1e-9:.1f} s driven", values


def _check() -> None:
    """Check the parameters; nothing is published."""
    node = ConfiguredNode("ground_simulator")
    p = declare_parameters(node, GroundSimulatorParameters)
    check_robot(p, p.world)
    if p.path_file:
        check_new(Path(p.path_file))


def main() -> int:
    """Run the node; where `CHECK_ONLY` is in the environment it ends after its checks."""
    return run_node(GroundSimulatorNode, check=_check)


if __name__ == "__main__":
    sys.exit(main())
