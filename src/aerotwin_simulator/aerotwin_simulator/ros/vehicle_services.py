# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Interfaces of a vehicle for other nodes: the services of its autopilot, and its input topics."""

from collections.abc import Callable, Container, Sequence
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from aerotwin_core.errors import UserError
from aerotwin_core.messages import deserialize, stamp_ns
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.parameters import ConfiguredNode
from aerotwin_px4_bridge.odometry_transforms import OdometryTransforms
from aerotwin_px4_bridge.setpoint_stream import Target
from aerotwin_simulator import topics
from aerotwin_simulator.controllers import Backend, Commanded
from aerotwin_simulator.controllers.commanded_autopilot import CommandedAutopilot
from aerotwin_simulator.controllers.topic_commands import TopicCommands
from aerotwin_simulator.robot import SimulatedRobot
from aerotwin_simulator.ros.setpoint_messages import (
    target_from_pose,
    target_from_twist,
    target_from_twist_stamped,
)
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.vehicle import SimulatedVehicle

TAKEOFF_HEIGHT_M = 2.5
"""MIS_TAKEOFF_ALT of PX4, for the service `takeoff`."""
CMD_VEL_DEPTH = 10
_SENT = "sent to the autopilot; whether it obeys is on /diagnostics"
Send = Callable[[Commanded], None]
Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def offer_services(
    node: Node, name: str, find: Callable[[], SimulatedRobot | None], on_loop: Wrap
) -> None:
    """Offer arm, takeoff, land, return, hold and resume; `on_loop` lets a callback run in the loop.

    `find` returns the vehicle of the name at the time of a request, None without a world.
    """
    prefix = f"{name}/" if name else ""

    def arm(request: SetBool.Request, reply: SetBool.Response) -> SetBool.Response:
        return _command(find(), lambda pilot: pilot.arm(request.data), reply)

    node.create_service(SetBool, f"{prefix}arm", on_loop(arm))
    sends: tuple[tuple[str, Send], ...] = (
        ("takeoff", lambda pilot: pilot.take_off(TAKEOFF_HEIGHT_M)),
        ("land", lambda pilot: pilot.land()),
        ("return", lambda pilot: pilot.return_home()),
        ("hold", lambda pilot: pilot.hold()),
        ("resume", lambda pilot: pilot.resume()),
    )
    for name, send in sends:
        node.create_service(
            Trigger,
            f"{prefix}{name}",
            on_loop(lambda _, reply, send=send: _command(find(), send, reply)),
        )


def _command(vehicle: SimulatedRobot | None, send: Send, reply: Any) -> Any:
    backend = None if vehicle is None else vehicle.backend
    if not isinstance(backend, Commanded) or not backend.is_connected:
        reply.success, reply.message = False, "no autopilot is connected"
        return reply
    try:
        send(backend)
    except UserError as error:
        reply.success, reply.message = False, str(error)
        return reply
    reply.success, reply.message = True, _SENT
    return reply


class VehicleInputs:
    """Input topics from other nodes, the vehicles that use them, and their handlers.

    `wait_for` is the name of the topic that answers frames of the vehicles `answered`, "" for none;
    transforms of the vehicles `with_slam` are reserved for a SLAM. `topics` are those to subscribe
    to, for the vehicles and for the bag; `from_others` are those that this node publishes, too:
    without a SLAM each message of /tf is one of its own.
    """

    def __init__(
        self,
        node: Node,
        vehicles: Sequence[SimulatedRobot],
        wait_for: str = "",
        *,
        with_slam: Container[str] = (),
        answered: Container[str] = ("",),
    ) -> None:
        self._node = node
        self._transforms: dict[str, OdometryTransforms] = {}
        self._commanded: dict[str, SimulatedRobot] = {}
        self._seeing: dict[str, SimulatedVehicle] = {}
        self._steered: dict[str, SimulatedRobot] = {}
        self._targeted: dict[str, SimulatedRobot] = {}
        required: list[Topic] = []
        for vehicle in vehicles:
            place = topics.below(vehicle.name)
            is_multirotor = isinstance(vehicle, SimulatedVehicle)
            if is_multirotor or any(map(vehicle.parameters.has, topics.AWAITED)):
                self._hear_slam(vehicle, required, has_slam=vehicle.name in with_slam)
            if wait_for and vehicle.name in answered:
                required.append(place(topics.ANSWERS[wait_for]))
            if is_multirotor and isinstance(vehicle.backend, TopicCommands):
                required.append(place(topics.ROTOR_COMMAND))
                name = required[-1].name
                self._commanded[name] = vehicle
                vehicle.ask_for_commander(lambda name=name: self._is_published(name))
            if is_multirotor and vehicle.parameters.vision.source == "topic":
                required.append(place(topics.EXTERNAL_ODOM))
                self._seeing[required[-1].name] = vehicle
            if takes_setpoints(vehicle):
                for topic in map(place, topics.SETPOINT_COMMANDS):
                    required.append(topic)
                    self._targeted[topic.name] = vehicle
            if is_multirotor and vehicle.parameters.rc == "joy":
                required.append(place(topics.JOY))
                self._steered[required[-1].name] = vehicle
        if len(self._targeted) > 1:
            required.append(topics.FORMATION_PLAN)
        self.topics = list(dict.fromkeys(required))
        self.from_others = [] if with_slam or not self._transforms else [topics.TF]

    def _hear_slam(self, vehicle: SimulatedRobot, required: list[Topic], *, has_slam: bool) -> None:
        """Listen to what a SLAM says of a vehicle, which may be started by anybody."""
        place = topics.below(vehicle.name)
        required += [place(topic) for topic in topics.FROM_SLAM]
        if vehicle.transforms is not None:
            if has_slam:
                vehicle.transforms.reserve()
            self._transforms[place(topics.SLAM_ODOM).name] = vehicle.transforms

    def on_topic_message(self, topic: Topic, cdr: bytes) -> bool:
        """Pass one message to its vehicle; return False for one that a vehicle itself published."""
        if topic.name == topics.TF.name and self._transforms:
            return self._compare_transforms(deserialize(cdr, topic.msgtype))
        if topic.name in self._transforms:
            self._transforms[topic.name].on_pose_of_slam()
        if topic.name in self._seeing:
            self._seeing[topic.name].on_external_odometry_message(deserialize(cdr, topic.msgtype))
        elif topic.name in self._targeted:
            is_pose = topic.msgtype == topics.SETPOINT.msgtype
            convert = target_from_pose if is_pose else target_from_twist_stamped
            self._set_target(self._targeted[topic.name], topic.name, convert, cdr, topic.msgtype)
        elif topic.name in self._steered:
            self._steer(self._steered[topic.name].backend, deserialize(cdr, topic.msgtype))
        elif topic.name in self._commanded:
            backend = self._commanded[topic.name].backend
            if isinstance(backend, TopicCommands):
                message = deserialize(cdr, topic.msgtype)
                backend.on_rotor_command(stamp_ns(message), message.velocity.tolist())
        return True

    def _compare_transforms(self, message: Any) -> bool:
        """Leave transforms to other nodes that publish them; return whether these are theirs."""
        is_foreign = True
        for transforms in self._transforms.values():
            is_others, warning = transforms.on_transforms(message)
            is_foreign &= is_others
            if warning:
                self._node.get_logger().warning(warning)
        return is_foreign

    def _steer(self, backend: Backend, message: Any) -> None:
        """Pass on the axes of a sensor_msgs/Joy; warn if they are no stick positions."""
        if not isinstance(backend, CommandedAutopilot):
            return
        try:
            backend.sticks.set(message.axes.tolist())
        except ValueError as error:
            self._node.get_logger().warning(f"joy: {error}", throttle_duration_sec=1.0)

    def _set_target(
        self,
        vehicle: SimulatedRobot,
        name: str,
        convert: Callable[[Any], Target],
        cdr: bytes,
        msgtype: str,
    ) -> None:
        """Pass on a set-point; warn if it is none."""
        try:
            set_target(vehicle, convert(deserialize(cdr, msgtype)))
        except ValueError as error:
            self._node.get_logger().warning(f"{name}: {error}", throttle_duration_sec=1.0)

    def _is_published(self, name: str) -> bool:
        return bool(self._node.count_publishers(self._node.resolve_topic_name(name)))


def takes_setpoints(vehicle: SimulatedRobot) -> bool:
    """Return whether a vehicle flies set-points from outside."""
    backend = vehicle.backend
    return isinstance(backend, Commanded) and backend.takes_setpoints


def set_target(vehicle: SimulatedRobot | None, target: Target) -> None:
    """Let a vehicle fly a set-point if it takes any; raises ValueError if it is not finite."""
    backend = None if vehicle is None else vehicle.backend
    if isinstance(backend, Commanded) and backend.takes_setpoints:
        backend.set_target(target)


def listen_for_cmd_vel(
    node: ConfiguredNode,
    name: str,
    find: Callable[[], SimulatedRobot | None],
    schedule: Callable[[Callable[[], None]], object],
) -> None:
    """Subscribe to a vehicle's `cmd_vel`, of either type; `schedule` calls in the loop."""
    topic = f"{name}/{topics.CMD_VEL}" if name else topics.CMD_VEL

    def receive(target: Target) -> None:
        schedule(lambda: set_target(find(), target))

    node.intakes.add(
        [
            TopicSource(topic=topic, kind=TwistStamped, convert=target_from_twist_stamped),
            TopicSource(topic=topic, kind=Twist, convert=target_from_twist),
        ],
        receive,
        depth=CMD_VEL_DEPTH,
        is_optional=True,
    )
