# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What other nodes can tell a vehicle: the services of its autopilot, and its input topics."""

from collections.abc import Callable, Sequence
from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from aerotwin_core.errors import UserError
from aerotwin_core.messages import deserialize, stamp_ns
from aerotwin_simulator import topics
from aerotwin_simulator.controllers import onboard
from aerotwin_simulator.controllers.mavlink_autopilot import MavlinkAutopilot
from aerotwin_simulator.controllers.topic_commands import TopicCommands
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.vehicle import SimulatedVehicle

TAKEOFF_HEIGHT_M = 2.5
"""MIS_TAKEOFF_ALT of PX4, for the service `takeoff`."""
Send = Callable[[onboard.OnboardLink], None]


def offer_services(node: Node, vehicle: SimulatedVehicle) -> None:
    """Offer `arm`, `takeoff`, `land` and `hold` of one vehicle."""
    prefix = f"{vehicle.name}/" if vehicle.name else ""

    def arm(request: SetBool.Request, reply: SetBool.Response) -> SetBool.Response:
        return _command(vehicle, lambda link: onboard.send_arm(link, request.data), reply)

    node.create_service(SetBool, f"{prefix}arm", arm)
    sends: tuple[tuple[str, Send], ...] = (
        ("takeoff", lambda link: onboard.send_takeoff(link, TAKEOFF_HEIGHT_M)),
        ("land", onboard.send_land),
        ("hold", onboard.send_hold),
    )
    for name, send in sends:
        node.create_service(
            Trigger,
            f"{prefix}{name}",
            lambda _, reply, send=send: _command(vehicle, send, reply),
        )


def _command(vehicle: SimulatedVehicle, send: Send, reply: Any) -> Any:
    backend = vehicle.backend
    if not isinstance(backend, MavlinkAutopilot) or not backend.link.is_connected:
        reply.success, reply.message = False, "no autopilot is connected"
        return reply
    try:
        send(backend.client.link)
    except UserError as error:
        reply.success, reply.message = False, str(error)
        return reply
    reply.success, reply.message = True, "sent to the autopilot"
    return reply


class VehicleInputs:
    """Hands messages of other nodes to the vehicles that they are for.

    Parameters
    ----------
    node : Node
        Who looks for publishers.
    vehicles : sequence of SimulatedVehicle
        All of the simulation.
    """

    def __init__(self, node: Node, vehicles: Sequence[SimulatedVehicle]) -> None:
        self._node = node
        self._by_command = {
            topics.below(vehicle.name)(topics.ROTOR_COMMAND).name: vehicle for vehicle in vehicles
        }
        for name, vehicle in self._by_command.items():
            vehicle.has_commander = lambda name=name: self._is_published(name)

    def receive(self, topic: Topic, cdr: bytes) -> None:
        """Take one message."""
        vehicle = self._by_command.get(topic.name)
        if vehicle is not None and isinstance(vehicle.backend, TopicCommands):
            message = deserialize(cdr, topic.msgtype)
            vehicle.backend.receive(stamp_ns(message), list(message.velocity))

    def _is_published(self, name: str) -> bool:
        return bool(self._node.count_publishers(self._node.resolve_topic_name(name)))
