# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `view`: a page in the browser that shows the robots that are heard, and steers them."""

import sys
import time
from collections.abc import Mapping

import numpy as np
import rclpy
from rosgraph_msgs.msg import Clock

from aerotwin_core.cli import say
from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.lockstep import create_wall_timer
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_view.defaults import NO_WORLD
from aerotwin_view.fault_panel import FaultPanel
from aerotwin_view.page import open_page
from aerotwin_view.parameters import ViewParameters
from aerotwin_view.path_lines import FLOWN
from aerotwin_view.places import Places
from aerotwin_view.robot_topics import ESTIMATES, kind_of, robot_of
from aerotwin_view.robots_scene import RobotsScene
from aerotwin_view.ros.commands import Commands
from aerotwin_view.ros.fault_link import FaultLink
from aerotwin_view.ros.heard_robots import HeardPose, HeardRobots
from aerotwin_view.ros.polled_topic import PolledTopic
from aerotwin_view.ros.shown_sensors import ShownSensors
from aerotwin_view.steering_panel import SteeringPanel, speed_text
from aerotwin_view.teach_panel import TeachPanel
from aerotwin_view.trails import Trails
from aerotwin_view.world_scene import show_world
from aerotwin_worlds import load_world

LOOK_S, DRAW_S, SENSORS_S = 1.0, 0.5, 0.2
GONE_NS = 5_000_000_000
"""A robot that is silent for so long in simulated time has left; its topics may still be there."""
_SECOND = 1e9
_NOT_YET_KNOWN = "_NODE_NAME_UNKNOWN_"
"""The middleware's name of a node whose endpoints it knows already."""


class ViewNode(ConfiguredNode):
    """Shows what is heard while somebody watches; nothing is read otherwise.

    `parameters`: those of this node if None. What is heard is read by a second node that is never
    spun: no message wakes this process.
    """

    def __init__(self, parameters: ViewParameters | None = None) -> None:
        super().__init__("view")
        self._p = p = parameters or declare_parameters(self, ViewParameters)
        self._page, self.address = open_page("aerotwin", host=p.host, port=p.port)
        world = None if p.world == NO_WORLD else load_world(p.world)
        self._flight = self._page.add_text("no robot is heard yet")
        self._robots = RobotsScene(self._page)
        self._panel = SteeringPanel(self._page)
        self._faults = FaultPanel(self._page)
        self._fault_link: FaultLink | None = None
        self._listener = rclpy.create_node("view_listener", use_global_arguments=False)
        self._heard = HeardRobots(self._listener)
        self._simulated_clock = PolledTopic(self._listener, "/clock", Clock)
        self._sensors = ShownSensors(self._page, self._listener)
        self._trails = Trails(self._page)
        self._places: Places | None = None
        show_world(self._page, world)
        if world is not None:
            self._places = Places(self._page, world)
        edit = None if self._places is None else self._places.set_ground_points
        self._teach = TeachPanel(self._page, edit)
        self._commands = Commands(self, self._panel, self._places, self._trails.clear)
        self._simulator = ""
        self._shown: list[tuple[str, int]] = []
        self._due = dict.fromkeys((LOOK_S, DRAW_S, SENSORS_S), 0.0)
        self._stamp_ns, self._paces = 0, [(time.monotonic(), 0)]
        create_wall_timer(self, 1.0 / p.rate_hz, self._on_tick)
        say(f"view: {self.address}")

    def destroy_node(self) -> None:
        """End the page, then the nodes."""
        self._page.stop()
        self._listener.destroy_node()
        super().destroy_node()

    def _on_tick(self) -> None:
        now_s = time.monotonic()
        if not self._page.get_clients():
            self._heard.rest()
            self._sensors.rest()
            self._commands.rest()
            self._steer("")
            self._due = dict.fromkeys(self._due, 0.0)
            return
        if self._is_due(LOOK_S, now_s):
            graph = self._listener.get_topic_names_and_types()
            self._heard.look(graph)
            self._sensors.look(graph)
            self._find_simulator()
        self._heard.read()
        if (clock := self._simulated_clock.take()) is not None:
            self._stamp_ns = ns_from_stamp(clock.clock)
        robots = self._show_robots()
        steered = self._panel.vehicle
        if (pose := robots.get(steered)) is not None:
            self._teach.add(steered, pose.stamp_ns, pose.p, pose.q_xyzw)
        if self._fault_link is not None:
            self._fault_link.step(steered)
        status = self._commands.step(self._where(steered, robots))
        if self._is_due(SENSORS_S, now_s):
            self._sensors.show(robots)
        if self._is_due(DRAW_S, now_s):
            self._draw_trails()
            self._teach.draw()
            lines = [self._time_line(now_s)]
            if status is not None:
                lines.append(status.words())
            self._flight.set("\n".join(lines))

    def _find_simulator(self) -> None:
        """Steer the simulator of the parameter, or the node that owns the time."""
        owners = {
            f"{each.node_namespace.rstrip('/')}/{each.node_name}"
            for each in self._listener.get_publishers_info_by_topic("/clock")
            if each.node_name != _NOT_YET_KNOWN
        }
        self._steer(self._p.simulator or (owners.pop() if len(owners) == 1 else ""))

    def _steer(self, name: str) -> None:
        """Give orders to a simulator, to none if its name is empty."""
        if name != self._simulator:
            self._simulator = name
            if self._fault_link is not None:
                self._fault_link.close()
            self._fault_link = FaultLink(self, self._faults, name) if name else None
        self._commands.set_simulator(name)

    def _show_robots(self) -> dict[str, HeardPose]:
        """Show the robots whose pose is known; return their poses by name."""
        oldest_ns = max(self._stamp_ns - GONE_NS, 0)
        poses = {
            name: self._heard.poses[topic]
            for name, topic in sorted(self._heard.motions.items())
            if topic in self._heard.poses and self._heard.poses[topic].stamp_ns >= oldest_ns
        }
        models = [self._heard.models.get(name) for name in poses]
        shown = [(name, id(model)) for name, model in zip(poses, models, strict=True)]
        if shown != self._shown:
            self._shown = shown
            self._robots.set_robots(list(poses), models)
            self._panel.set_vehicles(list(poses))
        if poses:
            self._robots.show(
                np.array([pose.p for pose in poses.values()]),
                np.array([pose.q_xyzw for pose in poses.values()]),
            )
        for name, pose in poses.items():
            self._trails.add(FLOWN, name, pose.p)
        return poses

    def _where(self, vehicle: str, robots: Mapping[str, HeardPose]) -> FloatArray | None:
        """Return where a vehicle is, by its own estimate if that is heard; None if it is not."""
        if vehicle not in robots:
            return None
        estimate = self._heard.poses.get(f"/{vehicle}/{ESTIMATES[0]}".replace("//", "/"))
        return robots[vehicle].p if estimate is None or estimate.stamp_ns < 0 else estimate.p

    def _draw_trails(self) -> None:
        for topic in self._heard.estimates():
            pose = self._heard.poses[topic]
            if pose.stamp_ns >= 0 and pose.frame == "map":
                self._trails.add(kind_of(topic), robot_of(topic), pose.p)
        self._trails.show()

    def _time_line(self, now_s: float) -> str:
        """Return the simulated time, and how it passes against wall time over some seconds."""
        self._paces = [*self._paces[-10:], (now_s, self._stamp_ns)]
        (first_s, first_ns), (last_s, last_ns) = self._paces[0], self._paces[-1]
        factor = (last_ns - first_ns) / _SECOND / max(last_s - first_s, 1e-3)
        if not self._stamp_ns:
            return f"{len(self._shown)} robots; nobody publishes a simulated time"
        state = "paused or ended" if last_ns == first_ns else f"{max(factor, 0.0):.2f} x real time"
        speed = self._commands.speed
        asked = "" if speed is None else f"; speed set: {speed_text(speed)}"
        return f"{self._stamp_ns / _SECOND:.1f} s, {state}, {len(self._shown)} robots{asked}"

    def _is_due(self, period_s: float, now_s: float) -> bool:
        if now_s < self._due[period_s]:
            return False
        self._due[period_s] = now_s + period_s
        return True


def run_view(parameters: ViewParameters | None = None) -> int:
    """Show until Ctrl-C; return the exit code."""
    return run_node(lambda: ViewNode(parameters))


def main() -> None:
    """Run the node."""
    sys.exit(run_view())


if __name__ == "__main__":
    main()
