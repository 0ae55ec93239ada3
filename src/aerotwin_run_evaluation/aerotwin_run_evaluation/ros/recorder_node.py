# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `recorder`: every topic that is published in, a bag out; where no simulator records."""

import sys
from dataclasses import dataclass

from rclpy.qos import DurabilityPolicy
from rosbags.typesys import TypesysError

from aerotwin_core.bag import BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import parameter
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.lockstep import create_wall_timer, publish_diagnostics
from aerotwin_core.ros.message_classes import message_class
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import IMU_DEPTH

OK, WARN = 0, 1
LOOK_PERIOD_S = 0.2
"""Between two looks for new topics, in wall time."""
LEFT_OUT = ("/clock", "/rosout", "/parameter_events")
"""Who plays the bag makes its own time; the others are those of this process's environment."""


@dataclass(frozen=True, kw_only=True)
class BagRecorderParameters:
    """The bag, and which topics it holds."""

    bag: str = parameter(text="folder of the new bag; must not exist")
    topics: tuple[str, ...] = parameter(
        (), text="topics that it holds; empty = all that are published but /clock and logs"
    )


class BagRecorderNode(ConfiguredNode):
    """Subscribes to what is published and writes it, stamped with the node's time."""

    def __init__(self) -> None:
        super().__init__("recorder")
        self._settings = p = declare_parameters(self, BagRecorderParameters)
        self._requested = {self.resolve_topic_name(name) for name in p.topics}
        self._writer = BagWriter(p.bag)
        self._known: set[str] = set()
        self._counts: dict[str, int] = {}
        self._lost: dict[str, int] = {}
        create_wall_timer(self, LOOK_PERIOD_S, self._look)
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"records with {p}")

    def destroy_node(self) -> None:
        """Close the bag."""
        self._writer.close()
        super().destroy_node()

    def _look(self) -> None:
        for name, types in self.get_topic_names_and_types():
            is_requested = name in self._requested if self._requested else name not in LEFT_OUT
            if is_requested and name not in self._known and self.count_publishers(name):
                self._known.add(name)
                self._add(name, types[0])

    def _add(self, name: str, msgtype: str) -> None:
        offers = [info.qos_profile for info in self.get_publishers_info_by_topic(name)]
        is_latched = all(qos.durability is DurabilityPolicy.TRANSIENT_LOCAL for qos in offers)
        try:
            kind = message_class(msgtype)
            self._writer.add_topic(name, msgtype, latched=is_latched)
        except (UserError, TypesysError, KeyError) as error:
            self.get_logger().warning(f"{name} is not recorded: {error}")
            return
        self._counts[name] = 0
        self.intakes.add(
            TopicSource(topic=name, kind=kind),
            lambda cdr: self._write(name, cdr),
            depth=IMU_DEPTH,
            is_latched=is_latched,
            is_raw=True,
            is_optional=True,
            on_lost=lambda total: self._lost.__setitem__(name, total),
        )

    def _write(self, name: str, cdr: bytes) -> None:
        self._counts[name] += 1
        self._writer.write(name, self.get_clock().now().nanoseconds, cdr)

    def _report(self) -> tuple[int, str, dict[str, str]]:
        values = {name: f"{n}, {self._lost.get(name, 0)} lost" for name, n in self._counts.items()}
        n_lost = sum(self._lost.values())
        text = f"{sum(self._counts.values())} messages in {self._settings.bag}, {n_lost} lost"
        return WARN if n_lost else OK, text, values


def main() -> int:
    """Run the node."""
    return run_node(BagRecorderNode)


if __name__ == "__main__":
    sys.exit(main())
