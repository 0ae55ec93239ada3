# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Entities: the vehicles, their states, bounds, categories and tags; named poses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3
from scipy.spatial.transform import Rotation
from simulation_interfaces.msg import Bounds, EntityCategory, EntityInfo, EntityState, NamedPose
from simulation_interfaces.srv import SetEntityState

from aerotwin_core.time import NANOSECONDS_PER_SECOND
from aerotwin_multirotor_dynamics import layout
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
from aerotwin_simulation_interfaces.ros.entity_filters import (
    CATEGORIES,
    EntityFilter,
    tags_filter,
)
from aerotwin_simulation_interfaces.ros.host import SimulatorHost
from aerotwin_simulator.robot import SINGLE, SimulatedRobot
from aerotwin_simulator.run_control import RunState
from aerotwin_simulator.simulation import Simulation

WORLD_FRAME = "map"
WORLD_FRAMES = ("", "world", WORLD_FRAME)
"""Frames in which poses are taken."""
MAX_TAGS, MAX_DESCRIPTION = 64, 1024
MAX_SPEED_M_S, MAX_RATE_RAD_S = 100.0, 100.0
"""Of a state that is set: the models of rotors and air know no faster multirotor."""


@dataclass
class Information:
    """Category, description and tags of an entity, as set last."""

    category: int
    description: str
    tags: list[str]


class EntityServices:
    """Handlers of the services about entities; all but their filters run on the loop."""

    def __init__(self, node: SimulatorHost) -> None:
        self._node = node
        self._information: dict[str, Information] = {}

    # -- entities -----------------------------------------------------------------------------

    def get_entities(self, request: Any, response: Any) -> None:
        """List the names of the entities that pass the filters."""
        entity_filter = EntityFilter(request.filters)
        boxes = on_loop(self._node, self._boxes)
        response.entities = [name for name in boxes if self._passes(entity_filter, name, boxes)]

    def get_entities_states(self, request: Any, response: Any) -> None:
        """Report the states of the entities that pass the filters, of one instant."""
        entity_filter = EntityFilter(request.filters)

        def read() -> tuple[dict[str, np.ndarray], dict[str, EntityState]]:
            states = {name: self._state(vehicle) for name, vehicle in self._vehicles().items()}
            return self._boxes(), states

        boxes, states = on_loop(self._node, read)
        response.entities = [name for name in boxes if self._passes(entity_filter, name, boxes)]
        response.states = [states[name] for name in response.entities]

    def get_entity_state(self, request: Any, response: Any) -> None:
        """Report the true state of an entity."""
        response.state = on_loop(self._node, lambda: self._state(self._vehicle(request.entity)))

    def set_entity_state(self, request: Any, _: Any) -> None:
        """Place an entity while time stands still; accelerations follow from forces."""
        on_loop(self._node, self._place, request)

    def get_entity_bounds(self, request: Any, response: Any) -> None:
        """Report the axis-aligned box of an entity at its pose, in map."""
        box = on_loop(self._node, lambda: self._vehicle(request.entity).box_map)
        response.bounds.type = Bounds.TYPE_BOX
        response.bounds.points = [_vector(box[1]), _vector(box[0])]

    def get_entity_info(self, request: Any, response: Any) -> None:
        """Report category, description and tags."""
        on_loop(self._node, self._vehicle, request.entity)
        known = self._info(request.entity)
        response.info = EntityInfo(
            category=EntityCategory(category=known.category),
            description=known.description,
            tags=known.tags,
        )

    def set_entity_info(self, request: Any, _: Any) -> None:
        """Replace category, description and tags."""
        on_loop(self._node, self._vehicle, request.entity)
        info = request.info
        if info.category.category not in CATEGORIES:
            text = f"category must be one of {CATEGORIES}, got {info.category.category}"
            raise RequestRefused(FAILED, text)
        if len(info.tags) > MAX_TAGS or len(info.description) > MAX_DESCRIPTION:
            text = f"at most {MAX_TAGS} tags and {MAX_DESCRIPTION} characters are kept"
            raise RequestRefused(FAILED, text)
        self._information[request.entity] = Information(
            info.category.category, info.description, list(info.tags)
        )

    def forget(self, name: str) -> None:
        """Forget what was set of an entity that leaves."""
        self._information.pop(name, None)

    # -- named poses --------------------------------------------------------------------------

    def get_named_poses(self, request: Any, response: Any) -> None:
        """List the start of the world."""
        matches = tags_filter(request.tags)
        pose = on_loop(self._node, self._start)
        response.poses = [pose] if matches(pose.tags) else []

    def _start(self) -> NamedPose:
        world = self._simulation().world
        pose = NamedPose(name="start", description=f"start of {world.name}", tags=["spawn"])
        pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = map(
            float, world.start_p_map
        )
        quaternion = Rotation.from_euler("z", world.start_yaw).as_quat()
        _set_quaternion(pose.pose.orientation, quaternion)
        return pose

    # -- not there ----------------------------------------------------------------------------

    def refuse_pose_bounds(self, _: Any, __: Any) -> None:
        """Named poses are points."""
        raise RequestRefused(UNSUPPORTED, "named poses have no bounds")

    # -- on the loop --------------------------------------------------------------------------

    def _simulation(self) -> Simulation:
        require_world(self._node.control.state)
        if self._node.simulation is None:
            raise RequestRefused(INCORRECT_STATE, "no world is loaded; load one first")
        return self._node.simulation

    def _vehicles(self) -> dict[str, SimulatedRobot]:
        return {vehicle.name or SINGLE: vehicle for vehicle in self._simulation().vehicles}

    def _vehicle(self, name: str) -> SimulatedRobot:
        vehicles = self._vehicles()
        if name not in vehicles:
            text = f"no entity '{shown(name)}'; there are: {', '.join(vehicles)}"
            raise RequestRefused(NOT_FOUND, text)
        return vehicles[name]

    def _boxes(self) -> dict[str, np.ndarray]:
        return {name: vehicle.box_map for name, vehicle in self._vehicles().items()}

    def _passes(self, entity_filter: EntityFilter, name: str, boxes: dict[str, Any]) -> bool:
        known = self._info(name)
        return entity_filter.passes(name, known.category, known.tags, boxes[name])

    def _info(self, name: str) -> Information:
        if name not in self._information:
            vehicle = on_loop(self._node, self._vehicle, name)
            own = vehicle.parameters
            self._information[name] = Information(
                EntityCategory.CATEGORY_ROBOT,
                vehicle.kind,
                [own.dynamics, own.airframe],
            )
        return self._information[name]

    def _state(self, vehicle: SimulatedRobot) -> EntityState:
        truth = vehicle.truth
        message = EntityState()
        seconds, nanoseconds = divmod(self._simulation().stamp_ns, NANOSECONDS_PER_SECOND)
        message.header.stamp.sec, message.header.stamp.nanosec = seconds, nanoseconds
        message.header.frame_id = WORLD_FRAME
        R_map_body = truth[layout.ROTATION].reshape(3, 3)
        position = message.pose.position
        position.x, position.y, position.z = truth[layout.POSITION].tolist()
        _set_quaternion(message.pose.orientation, truth[layout.QUATERNION])
        message.twist.linear = _vector(truth[layout.VELOCITY])
        message.twist.angular = _vector(R_map_body @ truth[layout.ANGULAR_VELOCITY])
        message.acceleration.linear = _vector(truth[layout.ACCELERATION])
        message.acceleration.angular = _vector(R_map_body @ truth[layout.ANGULAR_ACCELERATION])
        return message

    def _place(self, request: Any) -> None:
        vehicle, state = self._vehicle(request.entity), request.state
        invalid = SetEntityState.Response.INVALID_POSE
        if self._node.control.state not in (RunState.PAUSED, RunState.STOPPED):
            raise RequestRefused(INCORRECT_STATE, "pause first: the state is set at standstill")
        if state.header.frame_id not in WORLD_FRAMES:
            text = f"frame_id must be one of {WORLD_FRAMES}, got '{shown(state.header.frame_id)}'"
            raise RequestRefused(invalid, text)
        truth = vehicle.truth
        position, quaternion = truth[layout.POSITION].copy(), truth[layout.QUATERNION].copy()
        velocity = truth[layout.VELOCITY].copy()
        omega_map = truth[layout.ROTATION].reshape(3, 3) @ truth[layout.ANGULAR_VELOCITY]
        if request.set_pose:
            p, q = state.pose.position, state.pose.orientation
            position, quaternion = np.array([p.x, p.y, p.z]), np.array([q.x, q.y, q.z, q.w])
            norm = float(np.linalg.norm(quaternion))
            if not np.isfinite(position).all() or not abs(norm - 1.0) < 0.01:
                text = "the position must be finite and the quaternion of length 1"
                raise RequestRefused(invalid, text)
        if request.set_twist:
            v, w = state.twist.linear, state.twist.angular
            velocity, omega_map = np.array([v.x, v.y, v.z]), np.array([w.x, w.y, w.z])
            is_slow = bool((np.abs(velocity) <= MAX_SPEED_M_S).all())
            if not (is_slow and (np.abs(omega_map) <= MAX_RATE_RAD_S).all()):
                text = (
                    f"the twist must be finite, of at most {MAX_SPEED_M_S:g} m/s and "
                    f"{MAX_RATE_RAD_S:g} rad/s"
                )
                raise RequestRefused(FAILED, text)
        omega_body = Rotation.from_quat(quaternion).inv().apply(omega_map)
        if reason := vehicle.place(position, quaternion, velocity, omega_body):
            raise RequestRefused(invalid, reason)


def _vector(values: np.ndarray) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)


def _set_quaternion(quaternion: Any, xyzw: np.ndarray) -> None:
    quaternion.x, quaternion.y, quaternion.z, quaternion.w = np.asarray(xyzw).tolist()
