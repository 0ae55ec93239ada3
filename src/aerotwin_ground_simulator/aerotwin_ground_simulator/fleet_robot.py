# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground robot in a simulation with other vehicles: `dynamics: ground_robot` of a fleet file."""

from dataclasses import replace
from typing import Any

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import (
    quaternion_from_rotation,
    quaternion_from_yaw,
    transform_from_pose,
)
from aerotwin_core.time import Schedule, from_seconds, to_seconds
from aerotwin_ground_dynamics import CommandDelay, GroundVehicle, NoGroundError, VelocityCommand
from aerotwin_ground_simulator import robot_messages
from aerotwin_ground_simulator.flat_scan import flat_scanner_of
from aerotwin_ground_simulator.fleet_driver import FleetDriver
from aerotwin_ground_simulator.robot import load_vehicle
from aerotwin_ground_simulator.robot_shape import (
    ground_robot_description,
    ground_robot_shape,
    outline_of,
)
from aerotwin_ground_simulator.simulation import stand_vehicle
from aerotwin_multirotor_dynamics import layout
from aerotwin_simulator import topics
from aerotwin_simulator.collision import CollisionWatch
from aerotwin_simulator.fixed_frames import sensor_transforms
from aerotwin_simulator.fleet import VehiclePlan
from aerotwin_simulator.robot import MakeRobot, RobotShape, Stepped
from aerotwin_simulator.simple_robot import SimpleRobot
from aerotwin_simulator.surroundings import Surroundings
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.truth import TruthStep

ODOM = Topic("odom", "nav_msgs/msg/Odometry", 100.0, frame_id="odom -> base_link")
"""Of the wheels."""
PUBLISHED = (
    topics.TRUTH_ODOM,
    ODOM,
    topics.AUTOPILOT_STATUS,
    topics.ROBOT_DESCRIPTION,
)
N_WHEELS = 4
SEED_STRIDE = 1_000_003
"""Between the seeds of the slip of robots of one run: the first has that of a robot alone."""


class FleetGroundRobot(SimpleRobot):
    """A ground robot; attributes are those of `SimulatedRobot`, `driver` is its controller.

    Its `base_link` is on the ground between its wheels. Raises UserError if there is no such
    vehicle file, it carries a stereo pair, or it would start in something.
    """

    def __init__(self, plan: VehiclePlan, surroundings: Surroundings, stamp_ns: int = 0) -> None:
        if plan.parameters.camera.is_rendered:
            raise ParameterError(
                f"{plan.name}: camera.is_rendered: expected false for a ground robot, found true; "
                "a stereo pair is at base_link, on the ground: put cameras into a file "
                "(camera.file)"
            )
        super().__init__(plan, surroundings, stamp_ns)
        settings = plan.parameters.ground_robot
        self._wheels = load_vehicle(settings.vehicle)
        contacts = self._wheels.wheels.contacts_base
        self._shape, self._outline = ground_robot_shape(contacts), outline_of(contacts)
        self._scanner = flat_scanner_of(plan.parameters, plan.name)
        self._silence_ns = from_seconds(settings.command_timeout_s)
        self._latency_ns = from_seconds(settings.latency_s)
        self._due = Schedule(plan.parameters.truth_rate_hz, stamp_ns)
        self._tf = replace(topics.TF, source=plan.name)
        self._begin(stamp_ns)
        self._watch.refuse_start(self.truth, self.title, surroundings.world.name)

    def _begin(self, stamp_ns: int) -> None:
        """Stand at the start, with a fresh controller."""
        own = self.parameters
        self._vehicle: GroundVehicle = stand_vehicle(
            self._around.queries,
            self._wheels,
            seed=own.seed + SEED_STRIDE * own.fleet.instance,
            T_map_base=transform_from_pose(self._ground_start, quaternion_from_yaw(self.yaw_start)),
        )
        self._delay = CommandDelay(self._latency_ns)
        self.backend = self.driver = FleetDriver()
        self._now_ns = self._heard_ns = stamp_ns
        state = self._state(np.zeros(layout.N_HEAD), 0.0)
        self.step = TruthStep(stamp_ns, stamp_ns, state, state.copy())
        self._watch = self._new_watch()

    def _new_watch(self) -> CollisionWatch:
        return CollisionWatch(
            self._around.queries, self._outline, self._inputs, self.parameters.step_s
        )

    # -- what it is --------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return f"ground robot {self.parameters.ground_robot.vehicle}"

    @property
    def shape(self) -> RobotShape:
        """What others see and hit."""
        return self._shape

    @property
    def stepped(self) -> Stepped:
        """Itself."""
        return self

    @property
    def robots(self) -> "tuple[FleetGroundRobot]":
        """Itself."""
        return (self,)

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Its state before and after the step, (1, N_HEAD)."""
        return self.step.ends

    @property
    def box_map(self) -> np.ndarray:
        """Lowest and highest corner of its outline in map, (2, 3) [m]."""
        T = self._vehicle.T_map_base
        corners = self._shape.hull.corners @ T[:3, :3].T + T[:3, 3]
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    @property
    def published(self) -> list[Topic]:
        """The topics of its own equipment."""
        own = [*map(self._place, PUBLISHED), *self._payload.topics]
        return own if self._scanner is None else [*own, self._scanner.topic]

    @property
    def awaited_topics(self) -> tuple[Topic, ...]:
        """Topics of a reading, one of which nodes that answer it read; a lidar's, its scan, too."""
        found = super().awaited_topics
        if self._scanner is None or self._scanner.cloud not in found:
            return found
        return (*found, self._scanner.topic)

    def static_transforms(self) -> list[Any]:
        """Return the frames of its sensors as TransformStamped messages."""
        return sensor_transforms(self.parameters, self.name)

    def publish_description(self) -> None:
        """Publish its URDF."""
        contacts = self._wheels.wheels.contacts_base
        self.publish_urdf(ground_robot_description(contacts, self.static_transforms(), self.name))

    # -- life --------------------------------------------------------------------------------------

    def reset(self, stamp_ns: int) -> None:
        """Reset it to its start, with a fresh controller."""
        self.forget_run(stamp_ns)
        self._begin(stamp_ns)

    def place(
        self, p_map: np.ndarray, q_map_body: np.ndarray, v_map: np.ndarray, omega_body: np.ndarray
    ) -> str:
        """Put it at rest on the ground there, at the heading; return why it cannot be there."""
        try:
            vehicle = stand_vehicle(
                self._around.queries,
                self._wheels,
                seed=0,  # of a vehicle that only finds the ground
                T_map_base=transform_from_pose(p_map, q_map_body),
            )
        except NoGroundError as error:
            return str(error)
        T_before, T = self._vehicle.T_map_base, vehicle.T_map_base
        state = self.step.end.copy()
        state[layout.POSITION], state[layout.ROTATION] = T[:3, 3], T[:3, :3].ravel()
        self._set_ground(T)
        watch = self._new_watch()
        if (met := watch.check_state(state)) is not None:
            self._set_ground(T_before)
            return f"it would touch {met.what}"
        self._watch = watch
        self._vehicle.place(T, ground=vehicle.ground)
        self._state(self.step.end, 0.0)
        self.step.start[:] = self.step.end
        return ""

    def look_again(self) -> None:
        """Check for collisions at the next step, because an obstacle came into the world."""
        self._watch.look_again()

    # -- in the loop -------------------------------------------------------------------------------

    def move(self, begin_ns: int, end_ns: int) -> bool:
        """Move by one step; return whether it could, for otherwise its run is over."""
        self._now_ns = end_ns
        command = self.driver.command
        if self.driver.take_news():
            self._heard_ns = begin_ns
        elif begin_ns - self._heard_ns > self._silence_ns:
            self.driver.stop()
            command = VelocityCommand()
        self._delay.set_command(begin_ns, command)
        before, yaw_rate = self.step.end, self._vehicle.twist.omega_rad_s
        dt = to_seconds(end_ns - begin_ns)
        try:
            self._vehicle.step(dt, self._delay.acting(begin_ns))
        except NoGroundError as error:
            self.end(f"it left the world: {error}", is_success=False)
            return False
        turned = (self._vehicle.twist.omega_rad_s - yaw_rate) / dt
        after = self._state(np.zeros(layout.N_HEAD), turned)
        after[layout.ACCELERATION] = (after[layout.VELOCITY] - before[layout.VELOCITY]) / dt
        self.step = TruthStep(begin_ns, end_ns, before, after)
        if (met := self._watch.check_state(after)) is not None:
            self.hit(met)
        return True

    def measure(self) -> None:
        """Publish its motion if that is due, and what cameras and scanners saw."""
        sinks, vehicle = self._around.sinks, self._vehicle
        if sinks.is_empty:
            return
        if self._due.until(self._now_ns):
            now_ns, name = self._now_ns, self.name
            truth = robot_messages.truth_odometry(now_ns, vehicle, name)
            sinks.publish_cdr(self._place(topics.TRUTH_ODOM), now_ns, truth)
            wheels = robot_messages.wheel_odometry(now_ns, vehicle, name)
            sinks.publish_cdr(self._place(ODOM), now_ns, wheels)
            if self.parameters.publish_tf:
                sinks.add([self._tf])
                edge = robot_messages.odometry_transform(now_ns, vehicle, name)
                sinks.publish_cdr(self._tf, now_ns, edge)
        self._publish_payload()

    def _publish_payload(self) -> None:
        """Publish what cameras and scanners saw, and the scan of each turn of the lidar."""
        scanner = self._scanner
        if scanner is None:
            self.publish_payload()
            return
        for _, cloud in self._payload.publish(self.step, frozenset([scanner.cloud.name])):
            end_ns, scan = scanner.scan_of_cloud(cloud, self._vehicle.wheel_odometry.twist)
            self._around.sinks.publish_cdr(scanner.topic, end_ns, scan)

    def send_readings(self) -> None:
        """Send nothing: its controller is a node."""

    def receive_command(self, end_ns: int) -> None:
        """Check whether its run is over."""
        self.check_end()

    def _state(self, state: np.ndarray, turn_rate_change: float) -> np.ndarray:
        """Write its motion into a state array (k,) and return it."""
        T, twist = self._vehicle.T_map_base, self._vehicle.twist
        R = T[:3, :3]
        state[layout.POSITION], state[layout.ROTATION] = T[:3, 3], R.ravel()
        state[layout.QUATERNION] = quaternion_from_rotation(R)
        state[layout.VELOCITY] = R @ (twist.v_m_s, 0.0, 0.0)
        state[layout.ANGULAR_VELOCITY] = (0.0, 0.0, twist.omega_rad_s)
        state[layout.ANGULAR_ACCELERATION] = (0.0, 0.0, turn_rate_change)
        state[layout.BATTERY_CHARGE] = state[layout.AIR_DENSITY] = 1.0
        state[layout.N_CONTACTS], state[layout.IS_CRASHED] = N_WHEELS, self.is_crashed
        self._set_ground(T)
        return state

    def _set_ground(self, T_map_base: np.ndarray) -> None:
        """Set the plane of its wheels as the ground, which it may touch."""
        self._inputs[layout.GROUND_POINT : layout.GROUND_POINT + 3] = T_map_base[:3, 3]
        self._inputs[layout.GROUND_NORMAL : layout.GROUND_NORMAL + 3] = T_map_base[:3, 2]


def make_ground_robots() -> MakeRobot:
    """Return what makes the ground robots of one simulation."""
    return FleetGroundRobot
