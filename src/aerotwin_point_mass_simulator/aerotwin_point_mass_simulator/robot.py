# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One point mass of a simulation: its start, its topics, its collisions."""

from dataclasses import replace
from math import isfinite
from typing import Any, Protocol

import numpy as np

from aerotwin_core.frames import FloatArray, rotation_from_quaternion, yaw_from_rotation
from aerotwin_multirotor_dynamics import layout, load_airframe, standing_pose
from aerotwin_multirotor_dynamics.robot_description import multirotor_description
from aerotwin_multirotor_dynamics.truth_messages import TRUTH_FRAME, odometry_layout
from aerotwin_point_mass_simulator.pilot import PointMassPilot
from aerotwin_point_mass_simulator.pilots import PointMassPilots
from aerotwin_px4_bridge.odometry_transforms import OdometryTransforms
from aerotwin_simulator import topics
from aerotwin_simulator.airframe_mesh import airframe_shape
from aerotwin_simulator.collision import CollisionWatch, frame_lines
from aerotwin_simulator.controller_outlets import AUTOPILOT_FRAME
from aerotwin_simulator.fixed_frames import fixed_transforms
from aerotwin_simulator.fleet import VehiclePlan, mission_of
from aerotwin_simulator.robot import RobotShape, Stepped
from aerotwin_simulator.simple_robot import SimpleRobot
from aerotwin_simulator.surroundings import Surroundings
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.truth import TruthStep, rotation

PUBLISHED = (
    topics.TRUTH_ODOM,
    topics.AUTOPILOT_ODOM,
    topics.AUTOPILOT_STATUS,
    topics.ROBOT_DESCRIPTION,
)
MOST_REMEMBERED = 200
"""Own transforms of one that are recognised when they are received: a thousand are many."""
STANDING_MARGIN_M = 0.1
_ORIGIN = 0.0, 0.0, 0.0


class PointMassRows(Stepped, Protocol):
    """What computes all point masses together: row i of its arrays is that of one."""

    pilots: PointMassPilots
    yaw: np.ndarray

    @property
    def after(self) -> np.ndarray:
        """State arrays at the end of the last step, (n, k)."""

    def estimated(self, row: int) -> tuple[int, FloatArray, FloatArray, float]:
        """Return stamp [ns], position (3,) [m], velocity (3,) [m/s] and yaw [rad] it knows of."""

    def put(self, row: int, p_map: FloatArray, v_map: FloatArray, yaw: float) -> None:
        """Move one to a position (3,) [m], velocity (3,) [m/s] and yaw [rad], at an instant."""

    def look_again(self) -> None:
        """Check all for collisions at the next step."""

    def leave(self, robot: "PointMassRobot") -> None:
        """Remove one."""


class PointMassRobot(SimpleRobot):
    """A point mass; attributes are those of `SimulatedRobot`, `row` is its row in the group.

    It looks like its airframe, and collides like it. `pilot` is its controller, `watch` looks for
    walls; `outlets` are those of its true motion and of its estimate.
    """

    row: int
    pilot: PointMassPilot | None = None

    def __init__(
        self, group: PointMassRows, plan: VehiclePlan, surroundings: Surroundings, stamp_ns: int
    ) -> None:
        self.airframe = load_airframe(plan.parameters.airframe)
        super().__init__(plan, surroundings, stamp_ns, self.airframe)
        self._group, self._mission = group, mission_of(plan)
        level, _ = standing_pose(self.airframe, ground_point=self._ground_start)
        self.p_map_start, self.standing_m = level, float(level[2] - self._ground_start[2])
        self._set_ground_at(level)
        self._frame = frame_lines(self.airframe)
        self.watch = self._new_watch()
        self._left: np.ndarray | None = None
        self.outlets = [
            surroundings.sinks.outlet(
                self._place(topic), odometry_layout(topics.frame(plan.name, name))
            )
            for topic, name in (
                (topics.TRUTH_ODOM, TRUTH_FRAME),
                (topics.AUTOPILOT_ODOM, AUTOPILOT_FRAME),
            )
        ]
        self._tf = replace(topics.TF, source=plan.name)
        if plan.parameters.publish_tf:
            self.transforms = OdometryTransforms(topics.frame(plan.name, ""), MOST_REMEMBERED)

    def take_row(self, row: int) -> None:
        """Be this row of the group's arrays from now on."""
        self.row = row
        if self.pilot is not None:
            self.pilot.take_row(row)

    def reset_controller(self) -> None:
        """Give it a fresh controller at its start."""
        group = self._group
        self.pilot = PointMassPilot(
            group.pilots,
            self.row,
            self._mission,
            group.estimated,
            ends_landed=self.parameters.mission.landing_ends_flight,
        )
        self.backend = self.pilot

    # -- what it is --------------------------------------------------------------------------------

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
        return self._group.after[self.row] if self._left is None else self._left

    @property
    def box_map(self) -> np.ndarray:
        """Lowest and highest corner of its outline in map, (2, 3) [m]."""
        corners = np.vstack(self._frame) @ rotation(self.truth).T + self.p_map_body
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    @property
    def has_end(self) -> bool:
        """Whether its task ends: a mission, or a flight without one."""
        return self.has_mission or self.parameters.mission.landing_ends_flight

    @property
    def has_mission(self) -> bool:
        """Whether it flies a mission."""
        return self._mission is not None

    @property
    def published(self) -> list[Topic]:
        """The topics of its own equipment."""
        return [*map(self._place, PUBLISHED), *self._payload.topics]

    def static_transforms(self) -> list[Any]:
        """Return the frames of its sensors and rotors as TransformStamped messages."""
        return fixed_transforms(self.parameters, self.airframe, [], self.name, has_imu=False)

    def publish_description(self) -> None:
        """Publish its URDF."""
        self.publish_urdf(
            multirotor_description(
                self.airframe, self.static_transforms(), topics.frame(self.name, "")
            )
        )

    def leave(self) -> None:
        """Leave the group, with the last state as one of its own."""
        super().leave()
        self._left = self.truth.copy()
        assert self.pilot is not None
        self.pilot.detach()
        self.step = TruthStep(self.step.start_ns, self.step.end_ns, self._left, self._left)
        self._group.leave(self)

    # -- life --------------------------------------------------------------------------------------

    def reset(self, stamp_ns: int) -> None:
        """Reset it to its start, with a fresh controller."""
        self.forget_run(stamp_ns)
        self.watch = self._new_watch()
        self._group.look_again()
        self._group.pilots.stand(self.row, self.p_map_start)
        self._set_ground_at(self.p_map_start)
        self._group.put(self.row, self.p_map_start, np.zeros(3), self.yaw_start)
        self.reset_controller()

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
        self.watch = watch
        self._group.look_again()
        is_up = p_map[2] - ground[2] > self.standing_m + STANDING_MARGIN_M
        self._group.pilots.stay(self.row, p_map, is_up=is_up)
        return ""

    def _new_watch(self) -> CollisionWatch:
        return CollisionWatch(
            self._around.queries, self._frame, self._inputs, self.parameters.step_s
        )

    # -- in the loop -------------------------------------------------------------------------------

    def take_states(self, now_ns: int, start: np.ndarray, end: np.ndarray) -> None:
        """Have these state arrays at both ends of a step from now on, which the group writes."""
        self.step = TruthStep(now_ns, now_ns, start, end)

    def begin_step(self, begin_ns: int, end_ns: int) -> None:
        """Set the instants of a step [ns]."""
        self.step.start_ns, self.step.end_ns = begin_ns, end_ns

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

    def poll(self) -> None:
        """Advance its task to the present instant."""
        assert self.pilot is not None
        self.pilot.poll()

    def show_armed(self, is_armed: bool) -> None:
        """Show whether it is armed."""
        assert self.pilot is not None
        self.pilot.show_armed(is_armed)

    def look_again(self) -> None:
        """Check for collisions at the next step, because an obstacle came into the world."""
        self._group.look_again()

    def publish_transforms(
        self, stamp_ns: int, p_map: list[float], q_map_body: list[float]
    ) -> None:
        """Publish its estimated position [m] and attitude xyzw at an instant [ns]."""
        if self.transforms is None:
            return
        cdr = self.transforms.pack_poses(stamp_ns, _ORIGIN, p_map, q_map_body)
        if cdr is not None:
            sinks = self._around.sinks
            sinks.add([self._tf])
            sinks.publish_cdr(self._tf, stamp_ns, cdr)
