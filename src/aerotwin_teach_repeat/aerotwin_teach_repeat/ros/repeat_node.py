# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `repeat`: scans and odom in; cmd_vel, map -> odom, route and route graph out."""

import sys

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Path
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from aerotwin_core.frames import invert_transform
from aerotwin_core.ros.lockstep import OVERRIDABLE, publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import LATCHED, reliable
from aerotwin_teach_repeat.repeat import Repeater, RepeatParameters, RepeatState, RepeatStep
from aerotwin_teach_repeat.repeat.step import ENDED
from aerotwin_teach_repeat.ros.node_parameters import TRACKERS, RepeatNodeParameters, part
from aerotwin_teach_repeat.ros.route_messages import (
    command_message,
    edge_message,
    graph_markers,
    path_message,
)
from aerotwin_teach_repeat.ros.scan_intake import BaseScan, ScanIntake
from aerotwin_teach_repeat.ros.senses import Senses, make_senses
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_teach_repeat.tracking import RoutePath, TrackerParameters

COMMAND_DEPTH = 10
OK, WARN, ERROR = 0, 1, 2


class RepeatNode(ConfiguredNode):
    """Wires topics and services to a `Repeater`."""

    def __init__(self) -> None:
        super().__init__("repeat")
        p = declare_parameters(self, RepeatNodeParameters)
        self._graph = RouteGraph.load(p.route_graph)
        self._route_ids = route_of(self._graph, p.start_id, p.goal_id)
        self._senses = make_senses(self._graph, self._route_ids, p)
        self._settings = p = self._senses.parameters
        self._repeater = make_repeater(self._graph, self._route_ids, self._senses)
        self._step: RepeatStep | None = None
        self._n_reported = self._n_localised = self._heard_ns = 0
        self._is_quiet, self._is_mounted = True, False
        self._wire()
        self._intake = ScanIntake(self, p.base_frame, self._on_scan, self._senses.sources)
        publish_diagnostics(self, self._report)
        self.create_timer(p.control_period_s, self._on_tick)
        self.get_logger().info(f"route of {len(self._route_ids)} vertices, with {p}")
        if p.is_started_at_once:
            self._repeater.start(is_anywhere=p.is_start_anywhere)

    def _wire(self) -> None:
        p, qos = self._settings, {"qos_overriding_options": OVERRIDABLE}
        self._publish_command = self.create_publisher(
            TwistStamped, "cmd_vel", reliable(COMMAND_DEPTH), **qos
        ).publish
        self._publish_tf = self.create_publisher(TFMessage, "/tf", reliable(100)).publish
        route = path_message(self._graph.poses_map(self._route_ids), p.map_frame)
        self._route = self.create_publisher(Path, "route", LATCHED, **qos)
        self._route.publish(route)
        self._markers = self.create_publisher(MarkerArray, "route_graph", LATCHED, **qos)
        self._markers.publish(graph_markers(self._graph, p.map_frame))
        for name in ("start", "pause", "cancel"):
            act = getattr(self, f"_{name}")
            self.create_service(Trigger, f"~/{name}", lambda _, answer, act=act: act(answer))

    def _on_scan(self, scan: BaseScan) -> None:
        if not self._is_mounted:
            self._senses.mount(scan.T_base_sensor)
            self._is_mounted = True
        step = self._repeater.on_scan(
            scan.points_base, scan.times_s, scan.stamp_ns, scan.wheel_twist
        )
        self._n_localised += step.is_localised
        self._publish(step)
        p = self._settings
        if p.publish_tf and step.T_map_base is not None and scan.T_odom_base is not None:
            T_map_odom = step.T_map_base @ invert_transform(scan.T_odom_base)
            self._publish_tf(edge_message(T_map_odom, scan.stamp_ns, (p.map_frame, p.odom_frame)))
        self._heard_ns = 0

    def _on_tick(self) -> None:
        stamp_ns = self.get_clock().now().nanoseconds
        if stamp_ns > 0:
            # Of the first tick after a scan: a search is slow, and simulated time stands still.
            self._heard_ns = self._heard_ns or stamp_ns
            wheels = self._intake.wheel_twist
            self._publish(self._repeater.on_tick(stamp_ns, wheels, self._heard_ns))

    def _publish(self, step: RepeatStep) -> None:
        """Publish the command, until an ended repeat has commanded standstill."""
        self._step = step
        stands = step.v_m_s == 0.0 and step.omega_rad_s == 0.0
        if not (self._is_quiet and step.state in ENDED and stands):
            stamp_ns = self.get_clock().now().nanoseconds
            frame_id = self._settings.base_frame
            self._publish_command(command_message(step.v_m_s, step.omega_rad_s, stamp_ns, frame_id))
        self._is_quiet = step.state in ENDED and stands
        for change in self._repeater.transitions[self._n_reported :]:
            self.get_logger().info(f"{change.before} -> {change.after}: {change.reason}")
        self._n_reported = len(self._repeater.transitions)

    def _start(self, answer: Trigger.Response) -> Trigger.Response:
        try:
            if self._repeater.state is RepeatState.PAUSED:
                self._repeater.resume()
            else:
                self._repeater.start(is_anywhere=self._settings.is_start_anywhere)
            answer.success = True
        except ValueError as error:
            answer.message = str(error)
            return answer
        return self._answer(answer)

    def _pause(self, answer: Trigger.Response) -> Trigger.Response:
        self._repeater.pause()
        answer.success = self._repeater.state is RepeatState.PAUSED
        return self._answer(answer)

    def _cancel(self, answer: Trigger.Response) -> Trigger.Response:
        self._repeater.cancel()
        answer.success = self._repeater.state in ENDED
        return self._answer(answer)

    def _answer(self, answer: Trigger.Response) -> Trigger.Response:
        answer.message = f"{self._repeater.state}: {self._repeater.reason}"
        return answer

    def _report(self) -> tuple[int, str, dict[str, str]]:
        """Return state, reason and progress for /diagnostics."""
        state, step = self._repeater.state, self._step
        values = {name: str(value) for name, value in self._intake.counters.items()}
        values["n_localised"] = str(self._n_localised)
        if step is not None:
            values |= {
                "progress": f"{step.progress:.4f}", "s_m": f"{step.s_m:.2f}",
                "lateral_m": f"{step.lateral_m:.3f}", "blind_m": f"{step.blind_m:.2f}",
            }  # fmt: skip
        calm = {RepeatState.IDLE, RepeatState.REPEATING, RepeatState.PAUSED, RepeatState.FINISHED}
        level = ERROR if state is RepeatState.FAILED else OK if state in calm else WARN
        return level, f"{state}: {self._repeater.reason}", values


def route_of(graph: RouteGraph, start_id: int, goal_id: int) -> list[int]:
    """Return the vertices from start to goal; -1 stands for an end of the graph's first run."""
    run = graph.runs[0]
    if start_id < 0 and goal_id < 0:
        return list(run)
    return graph.route(run[0] if start_id < 0 else start_id, run[-1] if goal_id < 0 else goal_id)


def make_repeater(graph: RouteGraph, route_ids: list[int], senses: Senses) -> Repeater:
    """Return the repeater of a route, configured by the parameters."""
    p = senses.parameters
    route = RoutePath(graph.poses_map(route_ids))
    tracker = TRACKERS[p.tracker](route, part(TrackerParameters, p))
    parameters = part(RepeatParameters, p)
    return Repeater(graph, route_ids, senses.localizer, senses.odometry, tracker, parameters)


def main() -> int:
    """Run the node."""
    return run_node(RepeatNode)


if __name__ == "__main__":
    sys.exit(main())
