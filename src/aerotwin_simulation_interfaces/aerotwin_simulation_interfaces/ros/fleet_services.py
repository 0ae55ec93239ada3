# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Entities that come and go: vehicles that join a running simulation, and leave it."""

import dataclasses
import re
from collections.abc import Callable
from math import degrees, isfinite
from typing import Any

import numpy as np
from simulation_interfaces.msg import Resource, Spawnable
from simulation_interfaces.srv import SpawnEntity

from aerotwin_core.documents import DocumentError, parse_yaml
from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import rotation_from_quaternion, yaw_from_rotation
from aerotwin_core.parameters import load_parameters
from aerotwin_simulation_interfaces.ros.answers import (
    FAILED,
    INCORRECT_STATE,
    NOT_FOUND,
    UNSUPPORTED,
    RequestRefused,
    on_loop,
    require_world,
    shown,
)
from aerotwin_simulation_interfaces.ros.entity_services import (
    WORLD_FRAMES,
    EntityServices,
)
from aerotwin_simulation_interfaces.ros.host import SimulatorHost
from aerotwin_simulator.controller_settings import AUTOPILOTS
from aerotwin_simulator.fleet import plan_joining
from aerotwin_simulator.fleet_file import FleetVehicle
from aerotwin_simulator.robot import SINGLE
from aerotwin_simulator.run_control import FleetOrder
from aerotwin_simulator.simulation import Simulation

KEYS = frozenset(
    {
        *("dynamics", "ground_vehicle", "airframe", "controller", "instance"),
        *("imu", "barometer", "magnetometer", "gnss", "range_finder", "optical_flow", "airspeed"),
        *("external_vision", "camera", "camera_preset", "lidar", "radar"),
    }
)
"""Keys of a fleet file's vehicle that a request may set, by names: paths and programs are of the
launch, or whoever reaches a topic could read and start what he likes."""
_NAME = re.compile(r"[A-Za-z0-9_]{1,64}")
CONTROLLERS = (*AUTOPILOTS, "ros2")
MAX_TEXT = 65_536
Response = SpawnEntity.Response


class FleetServices:
    """Handlers of the services that add and remove entities; they work on the loop."""

    def __init__(self, node: SimulatorHost, entities: EntityServices) -> None:
        self._node, self._entities = node, entities

    def get_spawnables(self, request: Any, response: Any) -> None:
        """List what can join: a vehicle, described as in a fleet file."""
        text = (
            "a vehicle: resource_string is YAML with keys of a vehicle in a fleet file, "
            f"{', '.join(sorted(KEYS))}; empty for one as the flight's parameters say"
        )
        response.spawnables = [
            Spawnable(entity_resource=Resource(resource_string="{}"), description=text)
        ]

    def spawn_entity(self, request: Any, response: Any) -> None:
        """Let a vehicle join at a pose, at rest on the ground; its autopilot starts first."""
        entry, names = self._entry(request), []
        self._between_steps(lambda: names.append(self._join(request, entry)))
        (response.entity_name,) = names

    def delete_entity(self, request: Any, _: Any) -> None:
        """Take a vehicle out of the world."""
        self._between_steps(lambda: self._leave(request.entity))

    def refuse_many(self, _: Any, __: Any) -> None:
        """Entities join one by one."""
        raise RequestRefused(UNSUPPORTED, "entities are spawned one by one: spawn_entity")

    def _between_steps(self, act: Callable[[], None]) -> None:
        """Act between two steps, and wait for it; raises RequestRefused if that fails."""
        refused: list[RequestRefused] = []

        def carry_out() -> None:
            try:
                act()
            except RequestRefused as error:
                refused.append(error)

        control = self._node.control
        order = on_loop(self._node, control.order_fleet, FleetOrder(carry_out=carry_out))
        reason = order.ended.result()
        if refused:
            raise refused[0]
        if reason:
            raise RequestRefused(FAILED, reason)

    def _entry(self, request: Any) -> FleetVehicle:
        """Return what joins. Raises RequestRefused for what is not an entry of a fleet file."""
        resource = request.entity_resource
        if resource.uri:
            raise RequestRefused(
                Response.UNSUPPORTED_FORMAT,
                "entity_resource.uri must be empty, got "
                f"'{shown(resource.uri)}'; describe the vehicle in resource_string",
            )
        if len(resource.resource_string) > MAX_TEXT:
            text = f"resource_string must have at most {MAX_TEXT} characters"
            raise RequestRefused(Response.RESOURCE_PARSE_ERROR, text)
        if request.entity_namespace not in ("", request.name, f"/{request.name}"):
            text = "entity_namespace must be empty or the name: topics are below the name"
            raise RequestRefused(Response.NAMESPACE_INVALID, text)
        try:
            content = parse_yaml(resource.resource_string or "{}")
            if not isinstance(content, dict):
                raise ParameterError("resource_string: expected keys with values")
            if "slam" in content:
                raise ParameterError(
                    "resource_string: slam: expected none, as SLAMs are started at the launch and "
                    "a spawned vehicle has none; name it in a fleet file, with joins_at_s"
                )
            if refused := sorted({*map(str, content)} - KEYS):
                raise ParameterError(
                    f"resource_string: expected keys of {', '.join(sorted(KEYS))}, found "
                    f"{shown(', '.join(refused))}; others are set in a fleet file at the launch"
                )
            paths = [v for v in content.values() if isinstance(v, str) and not _NAME.fullmatch(v)]
            if paths:
                raise ParameterError(
                    f"resource_string: expected names of presets, found '{shown(paths[0])}'; "
                    "files are named in a fleet file at the launch"
                )
            entry = load_parameters(
                FleetVehicle, {"name": "vehicle", **content}, where="resource_string"
            )
        except (DocumentError, ParameterError) as error:
            raise RequestRefused(Response.RESOURCE_PARSE_ERROR, str(error)) from None
        if entry.controller is not None and entry.controller not in CONTROLLERS:
            text = f"resource_string: controller must be one of {', '.join(CONTROLLERS)}"
            raise RequestRefused(Response.RESOURCE_PARSE_ERROR, text)
        return entry

    def _join(self, request: Any, entry: FleetVehicle) -> str:
        simulation = self._simulation()
        name = self._name(request, [each.name or SINGLE for each in simulation.vehicles])
        east_m, north_m, yaw_deg = _start(request.initial_pose, simulation)
        try:
            entry = dataclasses.replace(
                entry, name=name, start_east_m=east_m, start_north_m=north_m, start_yaw_deg=yaw_deg
            )
        except ParameterError as error:
            raise RequestRefused(Response.NAME_INVALID, str(error)) from None
        simulation.join(plan_joining(self._node.parameters, entry, simulation.instances))
        return name

    @staticmethod
    def _name(request: Any, taken: list[str]) -> str:
        """Return the name of one that joins. Raises RequestRefused if it is taken."""
        if request.name and request.name not in taken:
            return str(request.name)
        if not request.allow_renaming:
            code = Response.NAME_NOT_UNIQUE if request.name else Response.NAME_INVALID
            text = f"name '{shown(request.name)}' is taken or empty; choose one or allow_renaming"
            raise RequestRefused(code, text)
        stem = request.name or "uav"
        return next(name for k in range(len(taken) + 1) if (name := f"{stem}{k}") not in taken)

    def _leave(self, name: str) -> None:
        simulation = self._simulation()
        if name not in [vehicle.name or SINGLE for vehicle in simulation.vehicles]:
            raise RequestRefused(NOT_FOUND, f"no entity '{shown(name)}'")
        simulation.leave(name)
        self._entities.forget(name)

    def _simulation(self) -> Simulation:
        require_world(self._node.control.state)
        if self._node.simulation is None:
            raise RequestRefused(INCORRECT_STATE, "no world is loaded; load one first")
        return self._node.simulation


def _start(pose: Any, simulation: Simulation) -> tuple[float, float, float]:
    """Return the start of a PoseStamped from that of the world: east, north [m], yaw [deg]."""
    if pose.header.frame_id not in WORLD_FRAMES:
        text = f"frame_id must be one of {WORLD_FRAMES}, got '{shown(pose.header.frame_id)}'"
        raise RequestRefused(Response.INVALID_POSE, text)
    p, q = pose.pose.position, pose.pose.orientation
    quaternion = np.array([q.x, q.y, q.z, q.w])
    if not (isfinite(p.x + p.y) and abs(float(np.linalg.norm(quaternion)) - 1.0) < 0.01):
        text = "the position must be finite and the quaternion of length 1"
        raise RequestRefused(Response.INVALID_POSE, text)
    x, y = simulation.world.start_p_map[:2]
    yaw = yaw_from_rotation(rotation_from_quaternion(quaternion / np.linalg.norm(quaternion)))
    return float(p.x - x), float(p.y - y), degrees(yaw)
