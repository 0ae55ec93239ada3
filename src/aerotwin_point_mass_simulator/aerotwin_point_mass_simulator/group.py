# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""All point masses of a simulation, computed together."""

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.seeds import seed_sequence
from aerotwin_core.time import Schedule
from aerotwin_formation.fleet_noise import FleetNoise, estimate_errors
from aerotwin_formation.point_mass import PointMassState, at_rest, point_mass_step
from aerotwin_multirotor_dynamics import layout
from aerotwin_point_mass_simulator.pilots import Flying, PointMassPilots
from aerotwin_point_mass_simulator.robot import PointMassRobot
from aerotwin_sensor_models.imu import GRAVITY
from aerotwin_simulator.collision import check_together
from aerotwin_simulator.fleet import VehiclePlan
from aerotwin_simulator.robot import MakeRobot
from aerotwin_simulator.surroundings import CLEAR_M, STEPS_WHEN_CLEAR, Surroundings


class PointMasses:
    """Steps the point masses of a simulation; `join` makes one more.

    Row i of all arrays is that of robot i. States (n, k) are laid out as in
    `aerotwin_multirotor_dynamics.layout`; those at the begin of the step are kept. Yaw is all of
    their attitude.
    """

    def __init__(self) -> None:
        self.robots: list[PointMassRobot] = []
        self.pilots = PointMassPilots()
        self._before = self._after = np.zeros((0, layout.N_HEAD))
        self._is_arranged = True  # otherwise robots came or went since the arrays were made
        self.yaw = np.zeros(0)
        self._was_armed = np.zeros(0, bool)
        self._motion = at_rest(np.zeros((0, 3)))
        self._errors: FleetNoise
        self._now_ns = 0
        self._n_steps = 0

    def join(
        self, plan: VehiclePlan, surroundings: Surroundings, stamp_ns: int = 0
    ) -> PointMassRobot:
        """Return one more, which stands at its start; errors as those of `SimulatedVehicle`."""
        robot = PointMassRobot(self, plan, surroundings, stamp_ns)
        if not self.robots:
            p = plan.parameters.point_mass
            self._now_ns, self._settings = stamp_ns, p
            self._dt, self._due = plan.parameters.step_s, Schedule(p.rate_hz, stamp_ns)
            self._sinks, self._queries = surroundings.sinks, surroundings.queries
            rng = seed_sequence(plan.parameters.seed, 0, "point mass estimates")
            self._errors = estimate_errors(p.estimate, 0, rng)
        self.robots.append(robot)
        self._errors.join()
        self.pilots.join(robot.p_map_start)
        self.yaw = np.append(self.yaw, robot.yaw_start)
        here = at_rest(robot.p_map_start[None], wind=robot.wind_map)
        self._motion = _stacked([self._motion, here])
        robot.take_row(len(self.robots) - 1)
        self._is_arranged = False
        robot.reset_controller()
        return robot

    def leave(self, robot: PointMassRobot) -> None:
        """Remove one."""
        row = robot.row
        self.robots.remove(robot)
        self.pilots.leave(row)
        self._errors.leave(row)
        self.yaw = np.delete(self.yaw, row)
        self._motion = PointMassState(
            **{name: np.delete(value, row, axis=0) for name, value in vars(self._motion).items()}
        )
        for new_row, other in enumerate(self.robots[row:], row):
            other.take_row(new_row)
        self._is_arranged = False

    @property
    def after(self) -> FloatArray:
        """States after the step."""
        self._arrange()
        return self._after

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """States before and after the step."""
        self._arrange()
        return self._before, self._after

    def put(self, row: int, p_map: FloatArray, v_map: FloatArray, yaw: float) -> None:
        """Move one to a position (3,) [m], velocity (3,) [m/s] and yaw [rad], at an instant."""
        self._arrange()
        self._motion.position[row], self._motion.velocity[row] = p_map, v_map
        self._motion.acceleration[row], self.yaw[row] = 0.0, yaw
        self._ground[row] = self.robots[row].ground_m
        self._write()
        self._before[row] = self._after[row]

    def look_again(self) -> None:
        """Check all for collisions at the next step."""
        self._arrange()
        self._n_steps_free[:] = 0

    def estimated(self, row: int) -> tuple[int, FloatArray, FloatArray, float]:
        """Return stamp [ns], position (3,) [m], velocity (3,) [m/s] and yaw [rad] it knows of."""
        p_map = self._motion.position[row] + self._error[row]
        return self._now_ns, p_map, self._motion.velocity[row].copy(), float(self.yaw[row])

    # -- a step of all ---------------------------------------------------------------------------

    def move(self, begin_ns: int, end_ns: int) -> bool:
        """Move all by one step."""
        self._arrange()
        self._before[:] = self._after
        for row, robot in enumerate(self.robots):
            robot.begin_step(begin_ns, end_ns)
            if robot.air.blow(robot.step.start, begin_ns):
                self._wind[row] = robot.wind_map
        for robot in self._with_end:
            robot.poll()
        self._errors.advance(self._dt)
        p, motion = self._settings, self._motion
        estimate = motion.position + self._error
        velocity, yaw_rate = self.pilots.commands(
            begin_ns, estimate, motion.velocity, self.yaw, p.maximum_speed_m_s
        )
        moved = point_mass_step(p, motion, velocity, self._dt, wind=self._wind)
        self._motion = self._on_ground(motion, moved)
        self.yaw = self.yaw + yaw_rate * self._dt
        self._now_ns = end_ns
        self._write(yaw_rate)
        self._check_collisions()
        self._show_armed()
        return True

    def measure(self) -> None:
        """Publish motions that are due, and what cameras and scanners saw."""
        if self._sinks.is_empty:
            return
        if self._due.until(self._now_ns):
            self._publish_motions()
        for robot in self._with_payload:
            robot.publish_payload()

    def send_readings(self) -> None:
        """Send nothing: their pilots know the true motion."""

    def receive_command(self, end_ns: int) -> None:
        """Check whose run is over."""
        for robot in self.robots:
            robot.check_end()

    def _on_ground(self, before: PointMassState, moved: PointMassState) -> PointMassState:
        """Return the motion as the ground lets it be: who stands does not move, none sinks."""
        self._measure_ground(moved.position)
        stands = self.pilots.mode == Flying.STANDING
        lowest = self._ground + self._standing
        is_down = (moved.position[:, 2] <= lowest) & ~stands
        moved.position[stands] = before.position[stands]
        moved.velocity[stands], moved.acceleration[stands] = 0.0, 0.0
        moved.position[is_down, 2] = lowest[is_down]
        moved.velocity[is_down, 2] = np.maximum(moved.velocity[is_down, 2], 0.0)
        self.pilots.land_on_ground(is_down, moved.position + self._error)
        return moved

    def _publish_motions(self) -> None:
        state = self._after
        R_map_body = state[:, layout.ROTATION].reshape(-1, 3, 3)
        true = np.hstack(
            [
                state[:, layout.POSITION],
                state[:, layout.QUATERNION],
                np.einsum("nij,ni->nj", R_map_body, state[:, layout.VELOCITY]),
                state[:, layout.ANGULAR_VELOCITY],
            ]
        )
        estimated = true.copy()
        estimated[:, :3] = self._motion.position + self._error
        for outlets, motions in zip(self._outlets, (true, estimated), strict=True):
            outlets.publish(self._now_ns, motions)
        poses = estimated[:, :3].tolist(), estimated[:, 3:7].tolist()
        for robot, p_map, q_map_body in zip(self.robots, *poses, strict=True):
            robot.publish_transforms(self._now_ns, p_map, q_map_body)

    def _check_collisions(self) -> None:
        """Check those that may touch something by now, in one query of the world."""
        self._n_steps_free -= 1
        flies = self.pilots.mode != Flying.STANDING
        due = np.flatnonzero((self._n_steps_free <= 0) & flies)
        if len(due):
            robots = [self.robots[row] for row in due.tolist()]
            found = check_together(self._queries, [(r.watch, r.truth) for r in robots])
            for robot, met in zip(robots, found, strict=True):
                if met is not None:
                    robot.hit(met)
            self._n_steps_free[due] = [robot.watch.n_steps_free for robot in robots]

    def _show_armed(self) -> None:
        is_armed = self.pilots.is_armed
        for row in np.flatnonzero(is_armed != self._was_armed).tolist():
            self.robots[row].show_armed(bool(is_armed[row]))
        self._was_armed = is_armed.copy()

    def _measure_ground(self, p_map: FloatArray) -> None:
        """Measure the height of the ground below all: at every fourth step, or near it."""
        self._n_steps += 1
        is_low = p_map[:, 2] - self._ground < CLEAR_M
        look = np.flatnonzero(is_low | (self._n_steps % STEPS_WHEN_CLEAR == 0))
        look = look[self.pilots.mode[look] != Flying.STANDING]
        if len(look):
            heights = self._queries.height_above_ground(p_map[look])
            for row, height in zip(look.tolist(), heights.tolist(), strict=True):
                self.robots[row].set_ground(p_map[row], height)
            self._ground[look] = p_map[look, 2] - heights

    @property
    def _error(self) -> FloatArray:
        """What estimates of positions are off (n, 3) [m]."""
        return self._errors.values

    def _arrange(self) -> None:
        """Make the arrays of as many rows as there are robots, once for all that came or went."""
        if self._is_arranged:
            return
        self._is_arranged = True
        n = len(self.robots)
        self._before, self._after = (np.zeros((n, layout.N_HEAD)) for _ in range(2))
        self._n_steps_free, self._was_armed = np.zeros(n, np.int64), np.zeros(n, bool)
        self._standing = np.array([robot.standing_m for robot in self.robots])
        self._ground = np.array([robot.ground_m for robot in self.robots])
        self._with_end = [robot for robot in self.robots if robot.has_end]
        self._with_payload = [robot for robot in self.robots if robot.has_payload]
        of_robots = zip(*(robot.outlets for robot in self.robots), strict=True)
        self._outlets = [self._sinks.block(outlets) for outlets in of_robots]
        self._write()
        self._before[:] = self._after
        self._wind = np.array([robot.wind_map for robot in self.robots]).reshape(-1, 3)
        for robot, start, end in zip(self.robots, self._before, self._after, strict=True):
            robot.take_states(self._now_ns, start, end)

    def _write(self, yaw_rate: FloatArray | float = 0.0) -> None:
        """Write the motion into the states after the step."""
        state, motion = self._after, self._motion
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        state[:, layout.POSITION], state[:, layout.VELOCITY] = motion.position, motion.velocity
        state[:, layout.ACCELERATION] = motion.acceleration
        state[:, layout.QUATERNION.start + 2] = np.sin(self.yaw / 2.0)
        state[:, layout.QUATERNION.start + 3] = np.cos(self.yaw / 2.0)
        state[:, layout.ANGULAR_VELOCITY.start + 2] = yaw_rate
        rotation = state[:, layout.ROTATION]
        rotation[:, 0], rotation[:, 4], rotation[:, 8] = c, c, 1.0
        rotation[:, 1], rotation[:, 3] = -s, s
        x, y, z = motion.acceleration.T
        force = state[:, layout.SPECIFIC_FORCE]
        force[:, 0], force[:, 1], force[:, 2] = c * x + s * y, c * y - s * x, z + GRAVITY
        state[:, layout.BATTERY_CHARGE] = state[:, layout.AIR_DENSITY] = 1.0
        state[:, layout.N_CONTACTS] = self.pilots.mode == Flying.STANDING
        state[:, layout.IS_CRASHED] = [robot.is_crashed for robot in self.robots]


def _stacked(parts: list[PointMassState]) -> PointMassState:
    return PointMassState(
        **{name: np.vstack([vars(part)[name] for part in parts]) for name in vars(parts[0])}
    )


def make_point_masses() -> MakeRobot:
    """Return what makes the point masses of one simulation."""
    return PointMasses().join
