# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `formation`: flies vehicles in formation, by what each received over topics.

A process hosts the pilots of one vehicle (`numbers`), some, or all: pilots share nothing but the
process, as a vehicle's own estimate and reports are all that its pilot is given.
"""

import sys
from dataclasses import dataclass
from functools import partial

from rosgraph_msgs.msg import Clock
from std_msgs.msg import Header, String

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import parameter
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import LATCHED, reliable
from aerotwin_core.time import to_seconds
from aerotwin_formation.messages import LEADER, VehicleReport
from aerotwin_formation.mission import load_mission
from aerotwin_formation.pilot import FUTURE_NS, FormationPilot, PilotParameters
from aerotwin_formation.report_text import plan_to_text, report_from_text
from aerotwin_formation.ros.vehicle_topics import REPORT, PilotedVehicle

PATTERN, PLAN = "formation/pattern", "/formation/plan"
REPORT_DEPTH, PATTERN_DEPTH, ACK_DEPTH = 50, 10, 100
MOST_HOSTED = 2000
WARN_PERIOD_S = 10.0


@dataclass(frozen=True, kw_only=True)
class FormationNodeParameters(PilotParameters):
    """The vehicles of a formation, and which of them fly from this process."""

    n_vehicles: int = parameter(
        9, minimum=2, maximum=MOST_HOSTED, text="vehicles of the formation, with the leader"
    )
    prefix: str = parameter("uav", text="their namespaces without the number: uav0, uav1, ...")
    numbers: tuple[int, ...] = parameter(
        (), text="vehicles that fly from this process; 0 is the leader; empty = all"
    )
    mission: str = parameter(
        "none", text="file of the leader's route and patterns; none = this process has no leader"
    )
    seed: int = parameter(0, minimum=0, text="of the link between the vehicles")

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(not 0 <= number < self.n_vehicles for number in self.hosted):
            raise ParameterError(
                f"numbers: expected some from 0 to {self.n_vehicles - 1}, found {self.numbers}; "
                "0 is the leader"
            )
        if len(set(self.hosted)) < len(self.hosted):
            raise ParameterError(f"numbers: expected different ones, found {self.numbers}")
        if (LEADER in self.hosted) != (self.mission != "none"):
            raise ParameterError(
                f"mission: expected a file where the leader, 0, flies, and none elsewhere, found "
                f"'{self.mission}' with numbers {list(self.hosted)}"
            )

    @property
    def hosted(self) -> tuple[int, ...]:
        """Numbers of the vehicles that fly from this process."""
        return self.numbers or tuple(range(self.n_vehicles))


class FormationNode(ConfiguredNode):
    """The pilots of this process, and the topics between vehicles."""

    def __init__(self) -> None:
        super().__init__("formation")
        self._settings = p = declare_parameters(self, FormationNodeParameters)
        has_leader = p.mission != "none"
        mission = load_mission(p.mission, p.n_vehicles, p.separation) if has_leader else None
        self._phases: dict[int, str] = {}
        self._last_plan, self._last_refused = (-1, 0), ""
        self._pilots = [
            FormationPilot(
                p, p.n_vehicles, k, mission=mission if k == LEADER else None, seed=p.seed
            )
            for k in p.hosted
        ]
        self._vehicles = [
            PilotedVehicle(self, f"{p.prefix}{pilot.number}", pilot, self._on_step)
            for pilot in self._pilots
        ]
        self._listen()
        self.get_logger().info(f"formation with {p}")

    def _listen(self) -> None:
        p = self._settings
        for sender in range(p.n_vehicles):
            source = TopicSource(topic=f"{p.prefix}{sender}/{REPORT}", kind=String)
            callback = partial(self._on_report, sender)
            self.intakes.add(source, callback, depth=REPORT_DEPTH, is_optional=True)
        if LEADER in p.hosted:
            self._plan = self.create_publisher(String, PLAN, LATCHED)
            source = TopicSource(topic=PATTERN, kind=String)
            self.intakes.add(source, self._on_pattern, depth=PATTERN_DEPTH, is_optional=True)
            self._ack = self.create_publisher(
                Header, f"{p.prefix}{LEADER}/step/ack", reliable(ACK_DEPTH)
            )
            self.create_subscription(Clock, "/clock", self._on_clock, reliable(ACK_DEPTH))

    def _on_clock(self, message: Clock) -> None:
        """Answer the simulator, which waits when this process falls behind."""
        self._ack.publish(Header(stamp=message.clock))

    def _on_report(self, sender: int, message: String) -> None:
        """Give a report to the links of all others here; what is none raises ValueError."""
        report = report_from_text(message.data, self._settings.n_vehicles)
        if report.sender != sender:
            raise ValueError(f"sender: expected {sender} on its topic, found {report.sender}")
        self._pass_on(report)

    def _pass_on(self, report: VehicleReport) -> None:
        for pilot in self._pilots:
            if pilot.number == report.sender:
                continue
            n_before = pilot.n_skipped
            pilot.receive(report)
            if pilot.n_skipped > n_before:
                self.get_logger().warning(
                    f"{self._settings.prefix}{pilot.number}: report of "
                    f"{self._settings.prefix}{report.sender} skipped, it is more than "
                    f"{to_seconds(FUTURE_NS):g} s ahead of its own estimate ({pilot.n_skipped} "
                    "so far); is the simulation of the vehicle running?",
                    throttle_duration_sec=WARN_PERIOD_S,
                )

    def _on_pattern(self, message: String) -> None:
        """Change to a pattern by its name or path, or land."""
        (leader,) = (pilot.leader for pilot in self._pilots if pilot.leader is not None)
        try:
            leader.order(message.data)
        except ParameterError as error:
            raise ValueError(str(error)) from error
        self.get_logger().info(f"pattern {message.data} is next")

    def _on_step(self, pilot: FormationPilot) -> None:
        """Log what changes, and publish new plans of the leader."""
        if self._phases.get(pilot.number) != pilot.phase:
            self._phases[pilot.number] = pilot.phase
            name = f"{self._settings.prefix}{pilot.number}"
            self.get_logger().info(f"{name}: {pilot.phase}")
        if pilot.leader is None:
            return
        plan = pilot.plan  # a leader that began anew counts from zero again
        if plan is not None and (plan.number, plan.start_ns) != self._last_plan:
            self._last_plan = plan.number, plan.start_ns
            self._plan.publish(String(data=plan_to_text(plan, self._settings.separation)))
        if pilot.leader.refused != self._last_refused:
            self._last_refused = pilot.leader.refused
            if self._last_refused:
                self.get_logger().warning(f"a pattern was refused: {self._last_refused}")


def main() -> int:
    """Run the node."""
    return run_node(FormationNode)


if __name__ == "__main__":
    sys.exit(main())
