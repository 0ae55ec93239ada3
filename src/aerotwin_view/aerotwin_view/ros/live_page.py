# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a page shows of robots that are heard, and how it steers them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from rclpy.node import Node

from aerotwin_core.frames import FloatArray
from aerotwin_rendering import WorldQueries
from aerotwin_teleop.status import VehicleStatus
from aerotwin_view.page import Page, ShownText
from aerotwin_view.panels.doctor_panel import DoctorPanel
from aerotwin_view.panels.fault_panel import FaultPanel
from aerotwin_view.panels.places import Places
from aerotwin_view.panels.steering_panel import SteeringPanel
from aerotwin_view.panels.teach_panel import TeachPanel
from aerotwin_view.panels.vehicle_text import vehicle_text
from aerotwin_view.robot_topics import ESTIMATES, SETPOINT, SLAM, kind_of, topic_of
from aerotwin_view.ros.asked_doctor import asked_doctor
from aerotwin_view.ros.commands import Commands
from aerotwin_view.ros.fault_link import FaultLink
from aerotwin_view.ros.heard_pose import HeardPose
from aerotwin_view.ros.heard_robots import HeardRobots
from aerotwin_view.ros.heard_setpoint import HeardSetpoint
from aerotwin_view.ros.live_layers import LiveLayers
from aerotwin_view.ros.placed_estimates import PlacedEstimate, placed_estimates
from aerotwin_view.ros.polled_topic import TopicGraph
from aerotwin_view.ros.run_clock import RunClock
from aerotwin_view.ros.sensor_poses import SensorPoses
from aerotwin_view.ros.shown_camera import ShownCamera
from aerotwin_view.ros.shown_points import ShownPoints
from aerotwin_view.ros.simulator_settings import SimulatorSettings
from aerotwin_view.ros.slam_under_test import SlamUnderTest
from aerotwin_view.ros.steered_simulator import owner_of_time
from aerotwin_view.scene.kind_colours import FLOWN
from aerotwin_view.scene.robots_scene import RobotsScene
from aerotwin_view.scene.trails import Trails
from aerotwin_view.scene.world_scene import show_world
from aerotwin_worlds import World

LOOK_S, DRAW_S, SENSORS_S = 1.0, 0.5, 0.2
GONE_NS = 5_000_000_000
"""A robot that is silent for so long in simulated time has left; its topics may still be there."""


class LivePage:
    """Fills a page; reads only between `step` and `rest`.

    `node` sends and asks; `listener`, which is never spun, reads. `flight` is the text at the top,
    `simulator` the node that is steered, empty for who publishes /clock. There is no world until
    `show_world`.
    """

    def __init__(
        self,
        node: Node,
        listener: Node,
        page: Page,
        flight: ShownText,
        clock: RunClock,
        *,
        simulator: str,
    ) -> None:
        self._node, self._listener, self._page = node, listener, page
        self._flight, self._clock, self._named = flight, clock, simulator
        self._robots = RobotsScene(page)
        self._panel = SteeringPanel(page)
        self._faults = FaultPanel(page)
        self._fault_link: FaultLink | None = None
        self._heard = HeardRobots(listener)
        self._poses = SensorPoses(listener)
        self._slam = SlamUnderTest(listener)
        self._setpoint = HeardSetpoint(listener)
        with page.gui.add_folder("Sensors"):
            self._camera = ShownCamera(page, listener, self._poses)
            self._points = ShownPoints(page, listener, self._poses, self._slam)
        self._layers = LiveLayers(page, listener)
        self._trails = Trails(page)
        self._settings = settings = SimulatorSettings(node)
        self._doctor = DoctorPanel(page, lambda: asked_doctor(settings, self._panel, clock))
        self._teach = TeachPanel(page)
        self._commands = Commands(node, self._panel, self._forget_past)
        self._simulator = ""
        self._shown: list[tuple[str, int]] = []
        self._due = dict.fromkeys((LOOK_S, DRAW_S, SENSORS_S), 0.0)

    def close(self) -> None:
        """End what the doctor checks."""
        self._doctor.close()

    def show_world(self, world: World, queries: WorldQueries) -> None:
        """Show a world, and let places in it be clicked."""
        show_world(self._page, world)
        places = Places(self._page, world, queries)
        self._robots.see_past(queries.cast_one)
        self._points.measure_by(queries.distance)
        self._teach.edit_by(places.set_waypoints)
        self._commands.set_places(places)

    def rest(self) -> None:
        """Receive and steer nothing until the next step: nobody watches."""
        for part in (
            self._heard,
            self._camera,
            self._points,
            self._layers,
            self._slam,
            self._setpoint,
        ):
            part.rest()
        self._commands.rest()
        self._steer("")
        self._due |= dict.fromkeys(self._due, 0.0)

    def step(self, now_s: float) -> None:
        """Read, show and send; `now_s` is monotonic [s]."""
        is_looking = self._is_due(LOOK_S, now_s)
        if is_looking:
            self._heard.look(graph := self._listener.get_topic_names_and_types())
        self._heard.read()
        dt = self._clock.read(now_s)
        if self._clock.began_anew:
            self._forget_past()
        robots = self._show_robots()
        if is_looking:
            self._look(graph, robots)
        steered = self._panel.vehicle
        if (pose := robots.get(steered)) is not None:
            self._teach.add(steered, pose.stamp_ns, pose.p, pose.q_xyzw)
        if self._fault_link is not None:
            self._fault_link.step(steered)
        stamp_ns = self._clock.stamp_ns if pose is None else pose.stamp_ns
        status = self._commands.step(self._where(steered, robots), stamp_ns)
        self._slam.read()
        if self._is_due(SENSORS_S, now_s):
            self._camera.show()
            self._points.show(robots)
            self._layers.read()
        estimates = list(placed_estimates(self._heard, self._slam.placement))
        self._show_beside(robots, estimates, dt)
        if self._is_due(DRAW_S, now_s):
            self._add_to_trails(estimates)
            self._setpoint.read()
            if self._setpoint.p_map is not None:
                self._trails.add(SETPOINT, [steered], self._setpoint.p_map[None])
            self._trails.show()
            self._teach.draw()
            self._flight.set(self._text(now_s, status, pose, estimates))

    def _look(self, graph: TopicGraph, robots: Mapping[str, HeardPose]) -> None:
        """Look for what came or left."""
        self._poses.read()
        self._steer(self._named or owner_of_time(self._listener))
        self._settings.look()
        self._camera.look(graph)
        self._points.look(graph)
        self._layers.look(graph, robots, self._heard.rotors)
        self._panel.set_flight(self._commands.can_fly)
        vehicle = self._panel.vehicle
        has_slam = topic_of(vehicle, SLAM) in self._heard.estimates
        self._slam.look(vehicle, has_slam=has_slam)
        self._setpoint.look(graph, vehicle)
        if robots:
            self._robots.label_nearest(np.array([pose.p for pose in robots.values()]))

    def _steer(self, name: str) -> None:
        """Give orders to a simulator, to none if its name is empty."""
        if name != self._simulator:
            self._simulator = name
            if self._fault_link is not None:
                self._fault_link.close()
            self._fault_link = FaultLink(self._node, self._faults, name) if name else None
            self._settings.set_simulator(name)
        self._commands.set_simulator(name)

    def _show_beside(
        self, robots: Mapping[str, HeardPose], estimates: Sequence[PlacedEstimate], dt: float
    ) -> None:
        """Show what moves along with robots."""
        chosen = robots.get(self._panel.vehicle)
        self._camera.move(robots)
        self._layers.show(robots, dt)
        self._layers.show_estimates(estimates)
        self._layers.show_wind(self._settings.wind, None if chosen is None else chosen.p)

    def _forget_past(self) -> None:
        self._trails.clear()
        self._slam.clear()

    def _show_robots(self) -> dict[str, HeardPose]:
        """Show the robots whose pose is known; return their poses by name."""
        oldest_ns = max(self._clock.stamp_ns - GONE_NS, 0)
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
            p_map_body = np.array([pose.p for pose in poses.values()])
            self._robots.show(p_map_body, np.array([pose.q_xyzw for pose in poses.values()]))
            self._trails.add(FLOWN, list(poses), p_map_body)
        return poses

    def _add_to_trails(self, estimates: Sequence[PlacedEstimate]) -> None:
        of_kind: dict[str, list[PlacedEstimate]] = defaultdict(list)
        for each in estimates:
            of_kind[each.kind].append(each)
        for kind, several in of_kind.items():
            p_map = np.array([each.p_map for each in several])
            self._trails.add(kind, [each.robot for each in several], p_map)

    def _where(self, vehicle: str, robots: Mapping[str, HeardPose]) -> FloatArray | None:
        """Return where a vehicle is, by its own estimate if that is heard; None if it is not."""
        if vehicle not in robots:
            return None
        estimate = self._heard.poses.get(topic_of(vehicle, ESTIMATES[0]))
        return robots[vehicle].p if estimate is None or estimate.stamp_ns < 0 else estimate.p

    def _text(
        self,
        now_s: float,
        status: VehicleStatus | None,
        pose: HeardPose | None,
        estimates: Sequence[PlacedEstimate],
    ) -> str:
        """Return in words what is known of the run and of the chosen vehicle."""
        lines = [self._clock.text(now_s, len(self._shown), self._commands.speed)]
        if status is not None and pose is not None:
            x, y, z = pose.p
            name, by = status.name, kind_of(self._heard.motions[status.name])
            lines.append(f"{name or 'robot'} at {x:.1f}, {y:.1f}, {z:.1f} m in map by {by}")
        if status is not None and status.is_heard:
            own = (each for each in estimates if each.robot == status.name)
            covariances = (each.covariance for each in own if each.kind == ESTIMATES[0])
            lines.append(vehicle_text(status, next(covariances, None)))
        if self._settings.wind is not None:
            lines.append(self._settings.wind.text())
        return "\n".join(filter(None, [*lines, self._slam.text()]))

    def _is_due(self, period_s: float, now_s: float) -> bool:
        if now_s < self._due[period_s]:
            return False
        self._due[period_s] = now_s + period_s
        return True
