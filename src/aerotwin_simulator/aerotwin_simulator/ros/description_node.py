# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `description`: robot_description and the frames of the rotors, beside nodes of sensors."""

import sys

from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from aerotwin_core.messages import serialize, string_message, transform_message
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import LATCHED
from aerotwin_multirotor_dynamics import load_airframe
from aerotwin_simulator.fixed_frames import describe_vehicle, rotor_transforms
from aerotwin_simulator.ros.node_parameters import DescriptionNodeParameters


class DescriptionNode(ConfiguredNode):
    """Publishes both once, latched; frames of sensors are on /tf_static by the sensors' nodes."""

    def __init__(self) -> None:
        super().__init__("description")
        flight = declare_parameters(self, DescriptionNodeParameters).flight
        rotors = rotor_transforms(load_airframe(flight.airframe))
        qos = {"qos_overriding_options": OVERRIDABLE}
        self._static = self.create_publisher(TFMessage, "/tf_static", LATCHED, **qos)
        self._static.publish(serialize(transform_message(rotors)))
        self._description = self.create_publisher(String, "robot_description", LATCHED, **qos)
        self._description.publish(serialize(string_message(describe_vehicle(flight))))
        self.get_logger().info(f"description of {flight.airframe}")


def main() -> int:
    """Run the node."""
    return run_node(DescriptionNode)


if __name__ == "__main__":
    sys.exit(main())
