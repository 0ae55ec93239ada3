# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lets vehicles join and leave a simulation, by the services of simulation_interfaces."""

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import Point, Pose, PoseStamped
from rclpy.node import Node
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import DeleteEntity, SpawnEntity
from std_msgs.msg import Header

from aerotwin_core.foreign_text import printable
from aerotwin_core.frames import FloatArray

_MOST_SHOWN = 300


class FleetCommands:
    """Calls the services of a simulator, whose answers are given to `notify`."""

    def __init__(self, node: Node, simulator: str, notify: Callable[[str], None]) -> None:
        self._notify = notify
        self._spawn = node.create_client(SpawnEntity, f"{simulator}/spawn_entity")
        self._delete = node.create_client(DeleteEntity, f"{simulator}/delete_entity")

    def add(self, p_map: FloatArray) -> None:
        """Let a vehicle like the flight's join on the ground at a place [m], under a new name."""
        x, y, z = map(float, p_map)
        pose = PoseStamped(header=Header(frame_id="map"), pose=Pose(position=Point(x=x, y=y, z=z)))
        request = SpawnEntity.Request(allow_renaming=True, initial_pose=pose)
        self._call(self._spawn, request, "add", lambda reply: f"{reply.entity_name} joined")

    def remove(self, name: str) -> None:
        """Take a vehicle out of the world; one without a name is the run's own, and stays."""
        if not name:
            self._notify("remove: the run's own vehicle stays; those that joined can leave")
            return
        request = DeleteEntity.Request(entity=name)
        self._call(self._delete, request, "remove", lambda _: f"{name} left")

    def _call(self, client: Any, request: Any, what: str, done: Callable[[Any], str]) -> None:
        if not client.service_is_ready():
            self._notify(f"{what}: there is no service {client.srv_name}")
            return

        def answered(future: Any) -> None:
            reply = future.result()
            is_done = reply.result.result == Result.RESULT_OK
            text = done(reply) if is_done else f"refused: {reply.result.error_message}"
            self._notify(f"{what}: {printable(text, _MOST_SHOWN)}")

        self._notify(f"{what}: asked; the simulation stands still meanwhile")
        client.call_async(request).add_done_callback(answered)
