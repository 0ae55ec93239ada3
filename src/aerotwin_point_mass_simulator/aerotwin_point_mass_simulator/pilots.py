# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What point masses fly: take-off, hover, set-points, way home, landing; all of them at once."""

from enum import IntEnum
from math import pi

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_formation.limits import limited
from aerotwin_px4_bridge.setpoint_stream import SILENCE_NS, SLOW_M_S, Target, VelocityTarget

APPROACH_1_S = 1.0
"""Speed towards a goal over the distance to it."""
TAKEOFF_M_S, LANDING_M_S = 1.5, 0.7
"""PX4's MPC_TKO_SPEED and MPC_LAND_SPEED."""
RETURN_HEIGHT_M = 5.0
"""Least height above the start on the way home."""
ARRIVED_M = 0.3
"""Distance at which a goal is reached; that of a take-off, as far as PX4's is off, is less."""
YAW_RATE_RAD_S = pi / 4.0
"""PX4's MPC_YAWRAUTO_MAX, 45 deg/s."""


class Flying(IntEnum):
    """What a point mass does."""

    STANDING = 0
    TAKING_OFF = 1
    HOLDING = 2
    FOLLOWING_POSE = 3
    FOLLOWING_VELOCITY = 4
    FOLLOWING_PATH = 5
    RETURNING = 6
    LANDING = 7


_FOLLOWING = (Flying.FOLLOWING_POSE, Flying.FOLLOWING_VELOCITY)


class PointMassPilots:
    """Modes and goals of n point masses; `join` and `leave` change n.

    Attributes
    ----------
    mode : (n,) array
        A `Flying` each.
    goal, feed : (n, 3) arrays
        Position to be at [m], and its velocity [m/s], in map; of `FOLLOWING_VELOCITY` feed alone.
    n_ignored : (n,) array
        Set-points for one that does not fly, or that was taken from who sent them.
    """

    def __init__(self) -> None:
        self.mode = np.zeros(0, np.int64)
        self.is_armed = np.zeros(0, bool)
        self.goal, self.feed, self.home = (np.zeros((0, 3)) for _ in range(3))
        self.yaw_goal, self.yaw_rate = np.zeros(0), np.zeros(0)  # NaN: no goal
        self.n_ignored = np.zeros(0, np.int64)
        self._is_body, self._is_barred = np.zeros(0, bool), np.zeros(0, bool)
        self._heard_ns = np.zeros(0, np.int64)
        self._now_ns = 0

    def join(self, p_map: FloatArray) -> None:
        """Add one that stands at a position (3,) [m]."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(
                    self,
                    name,
                    np.concatenate([value, np.zeros((1, *value.shape[1:]), value.dtype)]),
                )
        self.goal[-1] = self.home[-1] = p_map
        self.yaw_goal[-1] = np.nan

    def leave(self, row: int) -> None:
        """Remove one."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, np.delete(value, row, axis=0))

    def only(self, row: int) -> "PointMassPilots":
        """Return a copy of one alone."""
        alone = PointMassPilots()
        for name, value in vars(self).items():
            setattr(
                alone, name, value[row : row + 1].copy() if isinstance(value, np.ndarray) else value
            )
        return alone

    # -- orders to one -------------------------------------------------------------------------

    def is_flying(self, row: int) -> bool:
        """Whether one is off the ground, or on its way there."""
        return bool(self.mode[row] != Flying.STANDING)

    def fly_to(self, row: int, mode: Flying, p_map: FloatArray) -> None:
        """Fly one to a position (3,) in map [m], at its present yaw."""
        self.mode[row], self.goal[row], self.feed[row] = mode, p_map, 0.0
        self.yaw_goal[row], self.yaw_rate[row] = np.nan, 0.0
        self.is_armed[row] = True

    def stand(self, row: int, p_map: FloatArray) -> None:
        """Let one stand at a position (3,) [m], disarmed, as one that joins."""
        self.mode[row], self.goal[row], self.feed[row] = Flying.STANDING, p_map, 0.0
        self.yaw_goal[row], self.yaw_rate[row] = np.nan, 0.0
        self.is_armed[row] = self._is_barred[row] = False

    def stay(self, row: int, p_map: FloatArray, *, is_up: bool) -> None:
        """Let one that was moved to a position (3,) [m] stay there, in the air or on the ground."""
        if is_up:
            self.fly_to(row, Flying.HOLDING, p_map)
        else:
            self.stand(row, p_map)

    def take_control(self, row: int) -> None:
        """Ignore set-points for one until they have ceased once, because another order follows."""
        self._is_barred[row] = True

    def follow_path(self, row: int, p_map: FloatArray, v_map: FloatArray, yaw: float) -> None:
        """Set the point (3,) [m] and velocity (3,) [m/s] of a path at which one should be now."""
        self.mode[row], self.goal[row], self.feed[row] = Flying.FOLLOWING_PATH, p_map, v_map
        self.yaw_goal[row] = yaw

    def set_target(self, row: int, target: Target) -> None:
        """Let one fly a set-point, unless it stands, lands or was taken from who sends them."""
        self._heard_ns[row] = self._now_ns
        if self._is_barred[row] or self.mode[row] in (Flying.STANDING, Flying.LANDING):
            self.n_ignored[row] += 1
            return
        if isinstance(target, VelocityTarget):
            self.mode[row] = Flying.FOLLOWING_VELOCITY
            self.feed[row], self._is_body[row] = target.velocity, target.is_body
            self.yaw_goal[row], self.yaw_rate[row] = np.nan, target.yaw_rate
            return
        self.fly_to(row, Flying.FOLLOWING_POSE, target.p_map)
        self.yaw_goal[row] = np.nan if target.yaw is None else target.yaw

    # -- all of them -----------------------------------------------------------------------------

    def commands(
        self, stamp_ns: int, p_map: FloatArray, v_map: FloatArray, yaw: FloatArray, fastest: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the velocities (n, 3) [m/s] and yaw rates (n,) [rad/s] to fly from now on.

        Positions, velocities (n, 3) and yaws (n,) are where they think they are.
        """
        self._now_ns = stamp_ns
        is_silent = stamp_ns - self._heard_ns > SILENCE_NS
        self._is_barred &= ~is_silent
        self._stop_the_silent(is_silent, p_map, v_map)
        self._go_on(p_map)
        velocity = self.feed + limited(APPROACH_1_S * (self.goal - p_map), fastest)
        by_velocity = self.mode == Flying.FOLLOWING_VELOCITY
        if by_velocity.any():
            velocity[by_velocity] = self._feed_map(by_velocity, yaw)
        climbing, sinking = self.mode == Flying.TAKING_OFF, self.mode == Flying.LANDING
        velocity[climbing, 2] = np.clip(velocity[climbing, 2], -TAKEOFF_M_S, TAKEOFF_M_S)
        velocity[sinking, 2] = -LANDING_M_S
        velocity[self.mode == Flying.STANDING] = 0.0
        return velocity, self._yaw_rates(yaw)

    def land_on_ground(self, is_down: np.ndarray, p_map: FloatArray) -> None:
        """Let those stand that reached the ground (n,) as they land."""
        landed = is_down & (self.mode == Flying.LANDING)
        self.mode[landed], self.is_armed[landed] = Flying.STANDING, False
        self.goal[landed] = p_map[landed]

    def _stop_the_silent(self, is_silent: np.ndarray, p_map: FloatArray, v_map: FloatArray) -> None:
        """Stop those whose velocities have ceased, and then let them hold their place."""
        left = is_silent & (self.mode == Flying.FOLLOWING_VELOCITY)
        self.feed[left], self.yaw_rate[left] = 0.0, 0.0
        stopped = left & (np.linalg.norm(v_map, axis=1) < SLOW_M_S)
        self.mode[stopped], self.goal[stopped] = Flying.HOLDING, p_map[stopped]

    def _go_on(self, p_map: FloatArray) -> None:
        """Let those that are where they were to go do what follows."""
        is_there = np.linalg.norm(self.goal - p_map, axis=1) < ARRIVED_M
        self.mode[is_there & (self.mode == Flying.TAKING_OFF)] = Flying.HOLDING
        home = is_there & (self.mode == Flying.RETURNING)
        self.mode[home] = Flying.LANDING

    def _feed_map(self, which: np.ndarray, yaw: FloatArray) -> FloatArray:
        """Return the velocities (m, 3) of some in map axes."""
        x, y, z = self.feed[which].T
        angle = np.where(self._is_body[which], yaw[which], 0.0)
        c, s = np.cos(angle), np.sin(angle)
        return np.column_stack([c * x - s * y, s * x + c * y, z])

    def _yaw_rates(self, yaw: FloatArray) -> FloatArray:
        off = (self.yaw_goal - yaw + pi) % (2.0 * pi) - pi
        towards = np.clip(2.0 * off, -YAW_RATE_RAD_S, YAW_RATE_RAD_S)
        rates = np.where(np.isnan(self.yaw_goal), self.yaw_rate, towards)
        return np.where(self.mode == Flying.STANDING, 0.0, rates)
