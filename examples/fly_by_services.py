# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Launch a simulation, arm, take off, fly by velocities and land as a ROS node; plot the height."""

import argparse
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

LAUNCH = Path(__file__).resolve().parents[1] / "launch" / "sitl_flight.launch.yaml"
ARGUMENTS = ["world:=meadow", "mission:=none", "camera:=false", "slam:=none", "speed:=10.0"]


class Pilot(Node):
    """Commands one vehicle; the topics and services of a fleet's are below its name."""

    def __init__(self, simulation: subprocess.Popen) -> None:
        super().__init__("example_pilot")
        self.simulation = simulation
        self.phase, self.heights = "", [(0.0, 0.0)]  # simulated time [s], height in map [m]
        self.velocity = self.create_publisher(TwistStamped, "command/velocity", 10)
        self.create_subscription(DiagnosticArray, "autopilot/status", self._on_status, 10)
        self.create_subscription(Odometry, "autopilot/odom", self._on_odometry, 10)

    def _on_status(self, message: DiagnosticArray) -> None:
        self.phase = message.status[0].message

    def _on_odometry(self, message: Odometry) -> None:
        stamp = message.header.stamp
        self.heights.append((stamp.sec + stamp.nanosec * 1e-9, message.pose.pose.position.z))

    def call(self, kind: type, service: str, **values: bool) -> None:
        """Call a service until it is not refused: it cannot arm before its estimate is good."""
        client, reply = self.create_client(kind, service), None
        while not client.service_is_ready():
            self.hear()
        while reply is None or not reply.success:
            self.hear()
            future = client.call_async(kind.Request(**values))
            rclpy.spin_until_future_complete(self, future, timeout_sec=10.0)
            reply = future.result()

    def hear(self) -> None:
        """Wait for a message."""
        rclpy.spin_once(self, timeout_sec=1.0)
        if self.simulation.poll() is not None:
            raise SystemExit("the simulation has ended")

    def until(self, phase: str) -> None:
        """Wait for a phase, as the status says it."""
        while self.phase != phase:
            self.hear()
        print(f"{phase} at {self.heights[-1][0]:.1f} s, {self.heights[-1][1]:.1f} m", flush=True)

    def fly(self, up_m_s: float, duration_s: float) -> None:
        """Fly ahead and up for a simulated time; when set-points cease it hovers."""
        command = TwistStamped()
        command.header.frame_id = "base_link"  # or map
        command.twist.linear.x, command.twist.linear.z = 1.0, up_m_s
        end_s = self.heights[-1][0] + duration_s
        while self.heights[-1][0] < end_s:
            self.velocity.publish(command)
            self.hear()


def main(folder: Path) -> None:
    """Fly, and draw the height over time."""
    folder.mkdir(parents=True, exist_ok=True)
    simulation = subprocess.Popen(["aerotwin", "launch", LAUNCH, *ARGUMENTS], cwd=folder)
    rclpy.init()
    pilot = Pilot(simulation)
    try:
        pilot.call(SetBool, "arm", data=True)
        pilot.call(Trigger, "takeoff")
        pilot.until("in the air")
        pilot.fly(up_m_s=1.0, duration_s=5.0)
        pilot.fly(up_m_s=-0.5, duration_s=5.0)
        pilot.call(Trigger, "land")
        pilot.until("ready for a client")  # it has landed and disarmed
    finally:
        simulation.terminate()
        simulation.wait()
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    axes.plot(*np.array(pilot.heights[1:]).T)
    axes.set(xlabel="simulated time [s]", ylabel="height in map [m], as estimated")
    figure.savefig(folder / "fly_by_services.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/examples"))
    main(parser.parse_args().output)
