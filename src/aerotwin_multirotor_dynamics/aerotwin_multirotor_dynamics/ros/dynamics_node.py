# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `dynamics`: command/rotors in; rotors, truth/* and /clock out."""

import sys

from geometry_msgs.msg import AccelStamped, TwistStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.lockstep import (
    OVERRIDABLE,
    InputWatch,
    create_wall_timer,
    publish_diagnostics,
)
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import IMU_DEPTH, reliable
from aerotwin_core.time import Schedule
from aerotwin_multirotor_dynamics.ros.conversions import (
    DynamicsTruthMessages,
    speeds_from_joint_state,
)
from aerotwin_multirotor_dynamics.ros.paced_vehicle import PacedVehicle
from aerotwin_multirotor_dynamics.ros.parameters import DynamicsParameters

CLOCK_RATE_HZ = 100.0
OK, WARN = 0, 1


class DynamicsNode(ConfiguredNode):
    """Wires topics to a `PacedVehicle`."""

    def __init__(self) -> None:
        super().__init__("dynamics")
        parameters = declare_parameters(self, DynamicsParameters)
        self._is_lockstep = parameters.pace == "lockstep"
        self._vehicle = PacedVehicle(parameters)
        self._messages = DynamicsTruthMessages(self._vehicle.n_rotors)
        self._clock_due = Schedule(CLOCK_RATE_HZ)
        self._has_clock = parameters.clock
        self._wire()
        self._watch = InputWatch(
            self, "command/rotors", parameters.input_timeout_s, "is its publisher still alive?"
        )
        if not self._is_lockstep:
            create_wall_timer(self, parameters.step_s, self._advance)
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"dynamics with {parameters}")

    def _wire(self) -> None:
        qos = {"qos_overriding_options": OVERRIDABLE}
        deep = reliable(IMU_DEPTH)
        self._publish_rotors = self.create_publisher(JointState, "rotors", deep, **qos).publish
        self._publish_accel = self.create_publisher(
            AccelStamped, "truth/accel", deep, **qos
        ).publish
        self._publish_vibration = [
            self.create_publisher(cls, f"truth/vibration/{name}", deep, **qos).publish
            for name, cls in (("accel", AccelStamped), ("twist", TwistStamped))
        ]
        self._publish_odom = self.create_publisher(Odometry, "truth/odom", deep, **qos).publish
        if self._has_clock:
            self._publish_clock = self.create_publisher(Clock, "/clock", deep, **qos).publish
        self.create_subscription(JointState, "command/rotors", self._on_command, deep, **qos)

    def _on_command(self, message: JointState) -> None:
        self._watch.mark_received()
        try:
            speeds = speeds_from_joint_state(message, self._vehicle.n_rotors)
            stamp_ns = ns_from_stamp(message.header.stamp)
        except ValueError as error:
            self._vehicle.count_refused()
            self.get_logger().warning(f"command/rotors {error}", throttle_duration_sec=5.0)
            return
        if not self._is_lockstep:
            self._vehicle.set_speeds(speeds)
        elif self._vehicle.answer(stamp_ns, speeds):
            self._publish()
        else:
            self._say_ahead(stamp_ns)

    def _say_ahead(self, stamp_ns: int) -> None:
        self.get_logger().warning(
            f"command/rotors answers {stamp_ns} ns, but it is "
            f"{self._vehicle.stamp_ns} ns; stamp it with truth/odom's, or start both sides anew",
            throttle_duration_sec=5.0,
        )

    def _advance(self) -> None:
        self._vehicle.advance()
        self._publish()

    def _publish(self) -> None:
        """Publish the state; truth/odom last, which clients wait for."""
        stamp_ns, state = self._vehicle.stamp_ns, self._vehicle.state_vector
        if self._has_clock:
            for due_ns in self._clock_due.until(stamp_ns):
                self._publish_clock(self._messages.clock(due_ns))
        odometry, accel, rotors = self._messages.motion(stamp_ns, state)
        self._publish_rotors(rotors)
        self._publish_accel(accel)
        added = self._messages.vibration(stamp_ns, self._vehicle.vibration)
        for publish, cdr in zip(self._publish_vibration, added, strict=True):
            publish(cdr)
        self._publish_odom(odometry)

    def _report(self) -> tuple[int, str, dict[str, str]]:
        counters = self._vehicle.counters
        values = {name: str(getattr(counters, name)) for name in counters.__slots__}
        values["stamp_s"] = f"{self._vehicle.stamp_ns * 1e-9:.3f}"
        if self._vehicle.is_crashed:
            return WARN, "crashed", values
        return (WARN if counters.n_lost else OK), f"{counters.n_lost} steps lost", values


def main() -> int:
    """Run the node."""
    return run_node(DynamicsNode)


if __name__ == "__main__":
    sys.exit(main())
