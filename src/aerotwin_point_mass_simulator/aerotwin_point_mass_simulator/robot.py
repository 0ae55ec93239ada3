# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One point mass of a simulation: its start, its topics, its sensors, its collisions."""

from dataclasses import replace
from math import isfinite, radians
from typing import Any, Protocol

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray, rotation_from_quaternion, yaw_from_rotation
from aerotwin_core.messages import diagnostics_message, serialize, string_message
from aerotwin_faults.fault import AIR, LIDAR, RADAR
from aerotwin_multirotor_dynamics import layout, load_airframe, standing_pose
from aerotwin_multirotor_dynamics.truth_messages import TRUTH_FRAME, odometry_layout
from aerotwin_point_mass_simulator.pilot import PointMassPilot
from aerotwin_point_mass_simulator.pilots import PointMassPilots
from aerotwin_px4_bridge import Commander
from aerotwin_px4_bridge.odometry_transforms import OdometryTransforms
from aerotwin_simulator import topics
from aerotwin_simulator.airframe_mesh import airframe_shape
from aerotwin_simulator.collision import Collision, CollisionWatch, frame_lines
from aerotwin_simulator.controller_messages import AUTOPILOT_FRAME
from aerotwin_simulator.controllers import Backend
from aerotwin_simulator.fixed_frames import fixed_transforms
from aerotwin_simulator.fleet import VehiclePlan, mission_of
from aerotwin_simulator.payload import Payload
from aerotwin_simulator.robot import RobotShape, Status, Stepped
from aerotwin_simulator.robot_description import multirotor_description
from aerotwin_simulator.sensor_setup import Setup
from aerotwin_simulator.surroundings import Air, Surroundings
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.truth import TruthStep, rotation
from aerotwin_simulator.vehicle_faults import VehicleFaults

PUBLISHED = (
    topics.TRUTH_ODOM,
    topics.AUTOPILOT_ODOM,
    topics.AUTOPILOT_STATUS,
    topics.ROBOT_DESCRIPTION,
)
MOST_REMEMBERED = 200
"""Own transforms of one that are recognised when they are received: a thousand are many."""
_OK, _ERROR = 0, 2
_ORIGIN = 0.0, 0.0, 0.0


class PointMassRows(Stepped, Protocol):
    """What computes all point masses together: row i of its arrays is that of one."""

    pilots: PointMassPilots
    after: np.ndarray
    yaw: np.ndarray

    def estimated(self, row: int) -> tuple[int, FloatArray, FloatArray, float]:
        """Return stamp [ns], position (3,) [m], velocity (3,) [m/s] and yaw [rad] it knows of."""

    def put(self, row: int, p_map: FloatArray, v_map: FloatArray, yaw: float) -> None:
        """Move one to a position (3,) [m], velocity (3,) [m/s] and yaw [rad], at an instant."""

    def look_again(self) -> None:
        """Check all for collisions at the next step."""


class PointMassRobot:
    """A point mass; attributes are those of `SimulatedRobot`, `row` is its row in the group.

    It looks like its airframe, and collides like it. Raises UserError if its start lies beside the
    world or touches something, or a parameter names what does not exist.
    """

    backend: Backend
    row: int

    def __init__(
        self, group: PointMassRows, plan: VehiclePlan, surroundings: Surroundings, stamp_ns: int
    ) -> None:
        self._group, self._plan, self._around = group, plan, surroundings
        self.name, self.parameters = plan.name, plan.parameters
        self.airframe = load_airframe(plan.parameters.airframe)
        self.outcome: str | None = None
        self.is_success = False
        self.n_missed = 0
        self.commanders: tuple[Commander, ...] = ()
        self._mission = mission_of(plan)
        self._payload = Payload(plan.parameters, surroundings, plan.name, stamp_ns)
        scanners = [name for name in (LIDAR, RADAR) if plan.parameters.has(name)]
        self.faults = VehicleFaults(self.airframe, cameras=self._payload.names, scanners=scanners)
        self._payload.apply_faults(self.faults)
        self._inputs = np.zeros(layout.COMMAND)
        self._inputs[layout.GROUND_NORMAL + 2] = 1.0
        self.air = Air(plan.parameters, self._inputs, self.faults.of(AIR))
        self.step = TruthStep(stamp_ns, stamp_ns, *np.zeros((2, layout.N_HEAD)))
        self._stand()
        self._watch = self._new_watch()
        self._collision: Collision | None = None
        place = self._place = topics.below(plan.name)
        self._truth_topic, self._odom_topic = place(topics.TRUTH_ODOM), place(topics.AUTOPILOT_ODOM)
        self._truth = odometry_layout(topics.frame(plan.name, TRUTH_FRAME))
        self._estimate = odometry_layout(topics.frame(plan.name, AUTOPILOT_FRAME))
        self._tf = replace(topics.TF, source=plan.name)
        self.transforms: OdometryTransforms | None = None
        if plan.parameters.publish_tf:
            self.transforms = OdometryTransforms(topics.frame(plan.name, ""), MOST_REMEMBERED)

    def _stand(self) -> None:
        """Find its start on the ground."""
        around, plan = self._around, self._plan
        x, y = around.world.start_p_map[:2] + np.array([plan.start_east_m, plan.start_north_m])
        height = float(around.queries.height(x, y))
        if not isfinite(height):
            raise ParameterError(
                f"{self.title}: its start ({x:.1f}, {y:.1f}) m in map lies beside the world "
                f"{around.world.name}; choose another start_east_m and start_north_m"
            )
        level, _ = standing_pose(self.airframe, ground_point=(x, y, height))
        self.p_map_start, self.standing_m = level, float(level[2]) - height
        yaw = plan.start_yaw_deg
        self.yaw_start = around.world.start_yaw if yaw is None else radians(yaw)
        self._set_ground_at(level)

    def take_row(self, row: int) -> None:
        """Be this row of the group's arrays from now on."""
        self.row = row

    def begin_step(self, begin_ns: int, end_ns: int, start: np.ndarray, end: np.ndarray) -> None:
        """Set its motion over a step [ns], as the state arrays at both ends; blow the wind."""
        self.step = TruthStep(begin_ns, end_ns, start, end)
        self.air.blow(start, begin_ns)

    def reset_controller(self) -> None:
        """Give it a fresh controller at its start."""
        group = self._group
        pilot = PointMassPilot(group.pilots, self.row, self._mission, group.estimated)
        self.backend = self.pilot = pilot

    # -- what it is --------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """Its name in messages."""
        return self.name or f"vehicle {self.parameters.fleet.instance}"

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return f"point mass {self.parameters.airframe}"

    @property
    def shape(self) -> RobotShape:
        """What others see and hit."""
        return airframe_shape(self.airframe)

    @property
    def stepped(self) -> Stepped:
        """All point masses, which are computed together."""
        return self._group

    @property
    def truth(self) -> np.ndarray:
        """Its state array; not to change."""
        return self._group.after[self.row]

    @property
    def p_map_body(self) -> np.ndarray:
        """Position (3,) [m]."""
        return self.truth[layout.POSITION]

    @property
    def ground_m(self) -> float:
        """Height of the ground below it in map [m]."""
        return float(self._inputs[layout.GROUND_POINT + 2])

    @property
    def wind_map(self) -> np.ndarray:
        """Velocity of the air around it (3,) [m/s]."""
        return self.air.wind_map

    @property
    def is_crashed(self) -> bool:
        """Whether it hit something."""
        return self._collision is not None

    @property
    def box_map(self) -> np.ndarray:
        """Lowest and highest corner of its outline in map, (2, 3) [m]."""
        outline = np.vstack(frame_lines(self.airframe))
        corners = outline @ rotation(self.truth).T + self.p_map_body
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    @property
    def look_back_s(self) -> float:
        """Time that the longest reading takes that is made when it is complete [s]."""
        return self._payload.look_back_s

    @property
    def awaited_topics(self) -> tuple[Topic, ...]:
        """Topics of a reading, one of which nodes that answer read; the truth if others render."""
        return self._payload.awaited_topics or (self._truth_topic,)

    @property
    def published(self) -> list[Topic]:
        """The topics of its own equipment."""
        return [*map(self._place, PUBLISHED), *self._payload.topics]

    def sensor_setup(self) -> Setup:
        """Return what its lidar and radar are."""
        return self._payload.setup()

    def static_transforms(self) -> list[Any]:
        """Return the frames of its sensors and rotors as TransformStamped messages."""
        return fixed_transforms(self.parameters, self.airframe, [], self.name, has_imu=False)

    def publish_description(self) -> None:
        """Publish its URDF."""
        urdf = multirotor_description(self.airframe, self.static_transforms(), self.name)
        cdr = serialize(string_message(urdf))
        self._around.sinks.publish_cdr(self._place(topics.ROBOT_DESCRIPTION), 0, cdr)

    # -- life --------------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Render and cast rays once, so that no step of the flight pays for compilation."""
        self._around.queries.warm_up()
        self._payload.warm_up()

    def reset(self, stamp_ns: int) -> None:
        """Reset it to its start, with a fresh controller."""
        self.faults.clear()
        self._payload.restart(stamp_ns)
        self._payload.apply_faults(self.faults)
        self.outcome, self.is_success, self._collision = None, False, None
        self._watch = self._new_watch()
        self._group.look_again()
        self._group.pilots.stand(self.row, self.p_map_start)
        self._set_ground_at(self.p_map_start)
        self._group.put(self.row, self.p_map_start, np.zeros(3), self.yaw_start)
        self.reset_controller()

    def close(self) -> None:
        """Do nothing."""

    def place(
        self, p_map: np.ndarray, q_map_body: np.ndarray, v_map: np.ndarray, omega_body: np.ndarray
    ) -> str:
        """Move it between two steps, upright; return why it cannot be there, "" if it is."""
        ground, _ = self._around.queries.ground_plane(p_map)
        if not (isfinite(ground[2]) and p_map[2] > ground[2]):
            x, y, z = p_map
            return f"({x:.1f}, {y:.1f}, {z:.1f}) m is beside or below the ground of the world"
        before, yaw_before = self.truth.copy(), float(self._group.yaw[self.row])
        yaw = yaw_from_rotation(rotation_from_quaternion(q_map_body))
        self._set_ground_at(p_map)
        self._group.put(self.row, p_map, v_map, yaw)
        watch = self._new_watch()
        if (met := watch.check_state(self.truth)) is not None:
            p_before = before[layout.POSITION]
            self._set_ground_at(p_before)
            self._group.put(self.row, p_before, before[layout.VELOCITY], yaw_before)
            return f"it would touch {met.what}"
        self._watch = watch
        self._group.look_again()
        self._group.pilots.stay(self.row, p_map, is_up=p_map[2] - ground[2] > self.standing_m + 0.1)
        return ""

    def _new_watch(self) -> CollisionWatch:
        return CollisionWatch(
            self._around.queries, self.airframe, self._inputs, self.parameters.step_s
        )

    # -- in the loop -------------------------------------------------------------------------------

    def set_ground(self, p_map: np.ndarray, height_m: float) -> None:
        """Set the height above the ground at a position (3,) [m]; beside the world it is lost."""
        if not isfinite(height_m):
            self.end("it left the world", is_success=False)
            return
        point = self._inputs[layout.GROUND_POINT : layout.GROUND_POINT + 3]
        point[:] = p_map[0], p_map[1], p_map[2] - height_m

    def _set_ground_at(self, p_map: np.ndarray) -> None:
        height = float(self._around.queries.height_above_ground(p_map[None])[0])
        self.set_ground(p_map, height)

    def look_again(self) -> None:
        """Check for collisions at the next step, because an obstacle came into the world."""
        self._group.look_again()

    def check_collision(self, distance_m: float) -> int:
        """Check whether it touches anything but the ground below it.

        The nearest surface is so far from its centre [m]. Returns the steps after which it must be
        checked again.
        """
        met = self._watch.check_at(self.truth, distance_m)
        if met is not None:
            self.hit(met)
        return self._watch.n_steps_free

    def hit(self, collision: Collision) -> None:
        """Crash; the first collision is the one that is reported."""
        self._collision = self._collision or collision

    def check_end(self) -> None:
        """Check whether its run is over."""
        if self._collision is not None:
            self.end(f"the vehicle crashed: {self._collision}", is_success=False)
        elif self.backend.failure is not None:
            self.end(self.backend.failure, is_success=False)
        elif self.backend.is_finished:
            self.end("the mission is flown", is_success=True)

    def end(self, outcome: str, *, is_success: bool) -> None:
        """Set the outcome of its run; the first one stays."""
        if self.outcome is None or self.is_success:
            self.outcome, self.is_success = outcome, is_success

    def publish_motion(
        self, stamp_ns: int, motion: list[float], estimated_p_map: list[float]
    ) -> None:
        """Publish its true motion and its estimate at an instant [ns].

        `motion` are position, attitude xyzw, velocity and angular velocity in body axes.
        """
        sinks, estimate = self._around.sinks, [*estimated_p_map, *motion[3:]]
        sinks.publish_cdr(self._truth_topic, stamp_ns, self._truth.pack(stamp_ns, motion))
        sinks.publish_cdr(self._odom_topic, stamp_ns, self._estimate.pack(stamp_ns, estimate))
        if self.transforms is None:
            return
        cdr = self.transforms.pack_poses(stamp_ns, _ORIGIN, estimated_p_map, motion[3:7])
        if cdr is not None:
            sinks.add([self._tf])
            sinks.publish_cdr(self._tf, stamp_ns, cdr)

    @property
    def has_mission(self) -> bool:
        """Whether it flies a mission."""
        return self._mission is not None

    @property
    def has_payload(self) -> bool:
        """Whether it carries cameras or scanners, or is the one that nodes answer."""
        return bool(self._payload.topics) or self._around.wait is not None

    def publish_payload(self) -> None:
        """Publish what its cameras and scanners saw in the last step."""
        self._payload.publish(self.step)

    def publish_status(self, stamp_ns: int) -> Status:
        """Publish the status of its controller, and return it."""
        backend = self.backend
        values, level = {"phase": backend.phase, **backend.counters()}, _OK
        if self.outcome is not None and not self.is_success:
            level, values["outcome"] = _ERROR, self.outcome
        status = f"point mass {self.title}", level, backend.phase, values
        cdr = serialize(diagnostics_message(stamp_ns, [status]))
        self._around.sinks.publish_cdr(self._place(topics.AUTOPILOT_STATUS), stamp_ns, cdr)
        return status
