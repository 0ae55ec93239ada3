# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Guidance: the set-point at each step, between two decisions of the state machine."""

import math

import numpy as np
from numba import types

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.control.setpoint import (
    P_ACCELERATION,
    P_POSITION,
    P_VELOCITY,
    P_YAW,
    P_YAW_RATE,
)
from aerotwin_autopilot.estimator.layout import O_POSITION
from aerotwin_core.kernel_cache import njit

APPROACH_1_S = 1.0  # slope of speed over distance close to the target
FOLLOW_1_S = 4.0
"""How fast the reference reaches its desired speed; four times the slope damps the arrival."""
BRAKING_SHARE = 0.7  # part of the acceleration limit that braking plans with; the rest corrects

VECTOR = types.float64[::1]


@njit(types.float64(types.float64, types.float64, types.float64), cache=True)
def approach_speed(distance, acceleration, limit):
    """Return the speed from which a distance suffices to stop: linear near, square root far."""
    knee = acceleration / APPROACH_1_S**2
    if distance < knee:
        return min(limit, APPROACH_1_S * distance)
    return min(limit, math.sqrt(2.0 * acceleration * (distance - 0.5 * knee)))


@njit(
    types.void(
        VECTOR, VECTOR, types.float64, types.float64, types.float64, types.float64,
        types.float64, types.float64,
    ),
    cache=True,
)  # fmt: skip
def move(reference, target, speed, climb, descent, acceleration, jerk, dt):
    """Advance a reference (position, velocity, acceleration: 9 numbers) towards a target.

    Horizontal axes move together along the straight line; the vertical one on its own.
    """
    ex, ey, ez = target[0] - reference[0], target[1] - reference[1], target[2] - reference[2]
    distance = math.hypot(ex, ey)
    braking = BRAKING_SHARE * acceleration
    along = approach_speed(distance, braking, speed) / distance if distance > 1e-9 else 0.0
    vertical = approach_speed(abs(ez), braking, climb if ez > 0.0 else descent)
    wx = FOLLOW_1_S * (along * ex - reference[3])
    wy = FOLLOW_1_S * (along * ey - reference[4])
    wz = FOLLOW_1_S * (math.copysign(vertical, ez) - reference[5])
    length = math.hypot(wx, wy)
    if length > acceleration:
        wx, wy = wx * acceleration / length, wy * acceleration / length
    wz = min(max(wz, -acceleration), acceleration)
    jx, jy, jz = wx - reference[6], wy - reference[7], wz - reference[8]
    length = math.sqrt(jx * jx + jy * jy + jz * jz)
    if length > jerk * dt:
        share = jerk * dt / length
        jx, jy, jz = jx * share, jy * share, jz * share
    reference[6] += jx
    reference[7] += jy
    reference[8] += jz
    for i in range(3):
        reference[i] += (reference[3 + i] + 0.5 * reference[6 + i] * dt) * dt
        reference[3 + i] += reference[6 + i] * dt


LONGEST_EXTRAPOLATION_S = 0.2
SCALAR = types.float64


@njit(types.void(VECTOR, at.GUIDANCE_TYPE, SCALAR), cache=True)
def _travel(setpoint, guidance, dt):
    """Move the reference towards the target and use it as the set-point."""
    g = guidance
    move(
        g.reference[:], g.target_m[:], g.speed_m_s, g.climb_m_s, g.descent_m_s, g.acceleration_m_s2,
        g.jerk_m_s3, dt,
    )  # fmt: skip
    setpoint[:9] = g.reference
    setpoint[P_YAW] = g.yaw_rad
    setpoint[P_YAW_RATE] = 0.0


@njit(types.void(VECTOR, at.GUIDANCE_TYPE, VECTOR, SCALAR), cache=True)
def _descend(setpoint, guidance, estimate, dt):
    """Command a descent without a height: the ground is detected by contact, its height is unknown.

    With a NaN target there is no position either: then the vehicle descends where its estimated
    velocity is zero.
    """
    reference, height = guidance.reference, estimate[O_POSITION + 2]
    is_blind = math.isnan(guidance.target_m[0])
    speed = min(reference[5], 0.0)
    speed = max(guidance.sink_m_s, speed - guidance.acceleration_m_s2 * dt)
    if is_blind:
        setpoint[:9] = 0.0
        setpoint[P_POSITION] = setpoint[P_POSITION + 1] = math.nan
        setpoint[P_YAW], setpoint[P_YAW_RATE] = guidance.yaw_rad, 0.0
    else:
        guidance.target_m[2] = reference[2] = height
        _travel(setpoint, guidance, dt)
    reference[2], reference[5], reference[8] = height, speed, 0.0
    setpoint[P_POSITION + 2] = math.nan
    setpoint[P_VELOCITY + 2] = speed
    setpoint[P_ACCELERATION + 2] = 0.0


@njit(types.void(VECTOR, at.GUIDANCE_TYPE, SCALAR, SCALAR), cache=True)
def _follow(setpoint, guidance, time_s, dt):
    """Extrapolate a received set-point to time_s.

    Between two messages the position moves on with the velocity, and the velocity with the
    acceleration: the loops see a smooth path, not a staircase at the sender's rate. A missing yaw
    is constant, or turns with the yaw rate.
    """
    stream = guidance.stream
    ahead = min(max(time_s - guidance.received_s, 0.0), LONGEST_EXTRAPOLATION_S)
    for i in range(3):
        p = stream[P_POSITION + i]
        v = stream[P_VELOCITY + i]
        a = stream[P_ACCELERATION + i]
        moving = 0.0 if math.isnan(v) else v
        setpoint[P_POSITION + i] = p + (moving + 0.5 * a * ahead) * ahead
        setpoint[P_VELOCITY + i] = v + a * ahead
        setpoint[P_ACCELERATION + i] = a
    yaw, rate = stream[P_YAW], stream[P_YAW_RATE]
    if math.isnan(rate):
        rate = 0.0
    if math.isnan(yaw):
        guidance.yaw_rad += rate * dt
    else:
        guidance.yaw_rad = yaw + rate * ahead
    setpoint[P_YAW] = guidance.yaw_rad
    setpoint[P_YAW_RATE] = rate


@njit(types.void(VECTOR, at.GUIDANCE_TYPE, VECTOR, SCALAR, SCALAR), cache=True)
def guide(setpoint, guidance, estimate, time_s, dt):
    """Write the set-point of this step by the law that the state machine selected."""
    kind = guidance.kind
    if kind == at.TRAVEL:
        _travel(setpoint, guidance, dt)
    elif kind == at.DESCEND:
        _descend(setpoint, guidance, estimate, dt)
    elif kind == at.STREAM:
        _follow(setpoint, guidance, time_s, dt)


class Guidance:
    """The state machine's access to the guidance law, in its record of the arena."""

    def __init__(self, values: np.void) -> None:
        self.values = values
        self.reference, self.target = values["reference"], values["target_m"]
        self.stream = values["stream"]

    def start(self, position: np.ndarray, velocity: np.ndarray) -> None:
        """Begin at a position and velocity, with the position as target."""
        self.reference[:3] = position
        self.reference[3:6] = velocity
        self.reference[6:] = 0.0
        self.target[:] = position

    def limit(
        self, *, speed: float, climb: float, descent: float, acceleration: float, jerk: float
    ) -> None:
        """Set the limits [m/s], [m/s^2], [m/s^3] on the way to the target."""
        values = self.values
        values["speed_m_s"], values["climb_m_s"], values["descent_m_s"] = speed, climb, descent
        values["acceleration_m_s2"], values["jerk_m_s3"] = acceleration, jerk

    @property
    def kind(self) -> float:
        """The law: one of STAND, TRAVEL, DESCEND, STREAM, ATTITUDE."""
        return float(self.values["kind"])

    @kind.setter
    def kind(self, value: float) -> None:
        self.values["kind"] = value

    @property
    def yaw(self) -> float:
        """Desired yaw, from east [rad]."""
        return float(self.values["yaw_rad"])

    @yaw.setter
    def yaw(self, value: float) -> None:
        self.values["yaw_rad"] = value

    @property
    def distance(self) -> float:
        """Distance from the reference to the target [m]."""
        return float(np.linalg.norm(self.target - self.reference[:3]))
