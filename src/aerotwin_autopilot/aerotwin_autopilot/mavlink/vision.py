# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""External vision messages (ODOMETRY, VISION_POSITION_ESTIMATE) to poses in map axes."""

import math
from typing import Any

from aerotwin_autopilot.estimator.pose import NOT_SET, LevelVisionPose

LOCAL_NED, LOCAL_FRD = 1, 20
BODY_FRAMES = (8, 12)
"""MAV_FRAME_BODY_NED (as old senders say) and BODY_FRD, for the velocity."""

OLDEST_S, NEWEST_S = 1.0, 0.02
"""A stamp within these of the present is on this clock; any other belongs to another."""

NAN = math.nan
Triple = tuple[float, float, float]
_X, _Y, _Z, _YAW = 0, 6, 11, 20
"""Indices of the variances in the upper triangle of a (6, 6) covariance."""


def pose_from_odometry(message: Any, arrival_s: float, delay_s: float) -> LevelVisionPose | None:
    """Return the pose of an ODOMETRY; None for an unknown frame or failed tracking.

    Position and attitude are in MAV_FRAME_LOCAL_NED (converted to east, north, up) or LOCAL_FRD
    (level, any heading); the velocity is in body axes, or in those of the position.
    """
    m = message
    if m.frame_id not in (LOCAL_NED, LOCAL_FRD) or m.quality < 0:
        return None
    w, x, y, z = m.q
    has_attitude = abs(w * w + x * x + y * y + z * z - 1.0) < 0.05  # False for NaN
    heading = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    velocity = NOT_SET
    if m.child_frame_id == m.frame_id:
        velocity = _up(m.vx, m.vy, m.vz)
    elif m.child_frame_id in BODY_FRAMES and has_attitude:
        velocity = _up(*_turned((w, x, y, z), (m.vx, m.vy, m.vz)))
    pose, speed = m.pose_covariance, m.velocity_covariance
    return LevelVisionPose(
        arrival_s=arrival_s,
        measured_s=_measured(m.time_usec, arrival_s, delay_s),
        position=_up(m.x, m.y, m.z),
        yaw=math.pi / 2.0 - heading if has_attitude else NAN,
        velocity=velocity,
        position_std_m=_std((pose[_X], pose[_Y], pose[_Z])),
        yaw_std_rad=_std((pose[_YAW],)),
        velocity_std_m_s=_std((speed[_X], speed[_Y], speed[_Z])),
        is_aligned=m.frame_id == LOCAL_NED,
        reset_counter=m.reset_counter,
    )


def pose_from_vision(message: Any, arrival_s: float, delay_s: float) -> LevelVisionPose:
    """Return the pose of a VISION_POSITION_ESTIMATE: position and angles in a north-east frame."""
    m = message
    covariance = m.covariance
    return LevelVisionPose(
        arrival_s=arrival_s,
        measured_s=_measured(m.usec, arrival_s, delay_s),
        position=_up(m.x, m.y, m.z),
        yaw=math.pi / 2.0 - math.remainder(m.yaw, math.tau) if math.isfinite(m.yaw) else NAN,
        position_std_m=_std((covariance[_X], covariance[_Y], covariance[_Z])),
        yaw_std_rad=_std((covariance[_YAW],)),
        is_aligned=True,
        reset_counter=m.reset_counter,
    )


def _up(first: float, second: float, down: float) -> Triple:
    """Return (north, east, down) as (east, north, up); the same turns any level frame."""
    return second, first, -down


def _measured(stamp_us: int, arrival_s: float, delay_s: float) -> float:
    stamp_s = stamp_us * 1e-6
    is_ours = arrival_s - OLDEST_S < stamp_s < arrival_s + NEWEST_S
    return stamp_s if is_ours else arrival_s - delay_s


def _std(variances: tuple[float, ...]) -> float:
    """Return the root of the mean variance; NaN where one is missing or not positive."""
    mean = sum(variances) / len(variances)
    return math.sqrt(mean) if math.isfinite(mean) and min(variances) > 0.0 else NAN


def _turned(q_wxyz: tuple[float, float, float, float], vector: Triple) -> Triple:
    """Return a vector rotated by a unit quaternion."""
    w, x, y, z = q_wxyz
    a, b, c = vector
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        a + w * tx + y * tz - z * ty,
        b + w * ty + z * tx - x * tz,
        c + w * tz + x * ty - y * tx,
    )
