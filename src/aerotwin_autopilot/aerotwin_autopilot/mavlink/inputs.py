# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Input streams: set-points of offboard flight, sticks, and poses of external vision."""

import math
from typing import Any

import numpy as np

from aerotwin_autopilot.estimator.pose import NOT_SET, LevelVisionPose
from aerotwin_autopilot.manual_control import sticks_from_axes, sticks_from_pulses
from aerotwin_autopilot.mavlink.streams import MavlinkProtocol
from aerotwin_autopilot.mission import HIGHEST_M, LOWEST_M
from aerotwin_autopilot.offboard import AttitudeTarget, OffboardTarget
from aerotwin_core.frames import map_body_from_quat_wxyz_ned_frd
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_px4_bridge.messages import enu_from_ned, yaw_map_from_ned

LOCAL_NED, LOCAL_OFFSET_NED, BODY_NED, BODY_OFFSET_NED, BODY_FRD, LOCAL_FRD = 1, 7, 8, 9, 12, 20
GLOBAL, GLOBAL_RELATIVE, GLOBAL_INT, GLOBAL_RELATIVE_INT = 0, 3, 5, 6
"""MAV_FRAME; old senders say BODY_NED for BODY_FRD."""
YAW_BIT, YAW_RATE_BIT = 1 << 10, 1 << 11
FORCE_BIT = 1 << 9
IGNORE_RATES, IGNORE_THRUST, IGNORE_ATTITUDE = 0b111, 1 << 6, 1 << 7  # ATTITUDE_TARGET_TYPEMASK

OLDEST_S, NEWEST_S = 1.0, 0.02
"""A stamp within these of the present is on this clock; any other belongs to another."""
_X, _Y, _Z, _YAW = 0, 6, 11, 20
"""Indices of the variances in the upper triangle of a (6, 6) covariance."""

NAN = math.nan
Triple = tuple[float, float, float]


def _masked(values: Triple, mask: int, shift: int, ignored: float) -> Triple:
    """Return three fields with `ignored` where the type mask says to ignore them."""
    x, y, z = (
        ignored if mask >> (shift + i) & 1 or not math.isfinite(v) else v
        for i, v in enumerate(values)
    )
    return x, y, z


def _target(m: Any, position: Triple, turn: float | None) -> OffboardTarget:
    """Return the target of a message whose position is already in local axes.

    `turn` is the yaw that rotates velocity and acceleration when they are in body axes.
    """
    mask = m.type_mask
    v = enu_from_ned(_masked((m.vx, m.vy, m.vz), mask, 3, NAN))
    a = enu_from_ned(_masked((m.afx, m.afy, m.afz), mask, 6, 0.0))
    if mask & FORCE_BIT:
        a = (0.0, 0.0, 0.0)
    if turn is not None:
        v, a = _turned(v, turn), _turned(a, turn)
    yaw, rate = m.yaw, m.yaw_rate
    return OffboardTarget(
        position=position,
        velocity=v,
        acceleration=a,
        yaw=NAN
        if mask & YAW_BIT or not math.isfinite(yaw)
        else yaw_map_from_ned(math.remainder(yaw, math.tau)),
        yaw_rate=NAN if mask & YAW_RATE_BIT or not math.isfinite(rate) else -rate,
    )


def _turned(vector: Triple, yaw: float) -> Triple:
    """Rotate a vector (right, forward, up) of a level vehicle into local axes."""
    right, forward, up = vector
    c, s = math.cos(yaw), math.sin(yaw)
    return forward * c + right * s, forward * s - right * c, up


def target_from_local(m: Any, p_now: np.ndarray, yaw: float) -> OffboardTarget | None:
    """Return the target of a SET_POSITION_TARGET_LOCAL_NED, or None for an unknown frame."""
    frame = m.coordinate_frame
    mask = m.type_mask
    provided = _masked((m.x, m.y, m.z), mask, 0, NAN)
    position = enu_from_ned(provided)
    if frame == LOCAL_NED:
        return _target(m, position, None)
    if frame in (LOCAL_OFFSET_NED, BODY_OFFSET_NED, BODY_NED, BODY_FRD):
        turn = None if frame == LOCAL_OFFSET_NED else yaw
        offset = position if turn is None else _turned(position, yaw)
        x, y, z = (float(p + o) for p, o in zip(p_now, offset, strict=True))
        return _target(m, (x, y, z), turn)
    return None


def target_from_global(
    m: Any, plane: LocalTangentPlane, home: np.ndarray | None
) -> OffboardTarget | None:
    """Return the target of a SET_POSITION_TARGET_GLOBAL_INT, or None for an unknown frame."""
    frame, mask = m.coordinate_frame, m.type_mask
    if frame not in (GLOBAL, GLOBAL_RELATIVE, GLOBAL_INT, GLOBAL_RELATIVE_INT):
        return None
    latitude, longitude = m.lat_int * 1e-7, m.lon_int * 1e-7
    altitude = m.alt
    if mask & 7 == 7:
        return _target(m, (NAN, NAN, NAN), None)
    if abs(latitude) > 90.0 or abs(longitude) > 180.0 or not math.isfinite(altitude):
        return None
    if frame in (GLOBAL_RELATIVE, GLOBAL_RELATIVE_INT):
        altitude += plane.to_geodetic(home)[2] if home is not None else plane.origin.altitude_m
    east, north, up = plane.from_geodetic(latitude, longitude, altitude).tolist()
    north, east, down = _masked((north, east, -up), mask, 0, NAN)
    return _target(m, enu_from_ned((north, east, down)), None)


def target_from_attitude(m: Any) -> AttitudeTarget | None:
    """Return the target of a SET_ATTITUDE_TARGET; None when it is invalid.

    Thrust is mandatory; an attitude that is not a unit quaternion, rates that are not finite and
    a thrust outside [0, 1] are invalid.
    """
    mask, thrust = m.type_mask, m.thrust
    if mask & IGNORE_THRUST or not 0.0 <= thrust <= 1.0:
        return None
    provided = (m.body_roll_rate, -m.body_pitch_rate, -m.body_yaw_rate)
    p, q, r = (0.0 if mask >> i & 1 else value for i, value in enumerate(provided))
    attitude = (NAN,) * 4
    if not mask & IGNORE_ATTITUDE:
        quaternion = np.array(m.q)
        if not abs(float(quaternion @ quaternion) - 1.0) < 0.05:
            return None
        x, y, z, w = map_body_from_quat_wxyz_ned_frd(quaternion).tolist()
        attitude = (x, y, z, w)
    elif mask & IGNORE_RATES == IGNORE_RATES:
        return None
    if not math.isfinite(p + q + r):
        return None
    return AttitudeTarget(q_local_body=attitude, rate_body=(p, q, r), thrust=thrust)


def pose_from_odometry(m: Any, arrival_s: float, delay_s: float) -> LevelVisionPose | None:
    """Return the pose of an ODOMETRY; None for an unknown frame or failed tracking.

    Position and attitude are in MAV_FRAME_LOCAL_NED (converted to east, north, up) or LOCAL_FRD
    (level, any heading); the velocity is in body axes, or in those of the position.
    """
    if m.frame_id not in (LOCAL_NED, LOCAL_FRD) or m.quality < 0:
        return None
    w, x, y, z = m.q
    has_attitude = abs(w * w + x * x + y * y + z * z - 1.0) < 0.05  # False for NaN
    heading = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    velocity = NOT_SET
    if m.child_frame_id == m.frame_id:
        velocity = _up(m.vx, m.vy, m.vz)
    elif m.child_frame_id in (BODY_NED, BODY_FRD) and has_attitude:
        velocity = _up(*_rotated((w, x, y, z), (m.vx, m.vy, m.vz)))
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


def pose_from_vision(m: Any, arrival_s: float, delay_s: float) -> LevelVisionPose:
    """Return the pose of a VISION_POSITION_ESTIMATE: position and angles in a north-east frame."""
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


def _rotated(q_wxyz: tuple[float, float, float, float], vector: Triple) -> Triple:
    """Return a vector rotated by a unit quaternion."""
    w, x, y, z = q_wxyz
    a, b, c = vector
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (
        a + w * tx + y * tz - z * ty,
        b + w * ty + z * tx - x * tz,
        c + w * tz + x * ty - y * tx,
    )


class MavlinkInputs(MavlinkProtocol):
    """Passes set-points, sticks and poses to the autopilot."""

    def _receive(self, target: Any) -> None:
        if target is not None:
            self._autopilot.modes.offboard.on_target(target, self._autopilot.arrival_s)

    def _on_set_position_target_local_ned(self, _: Any, message: Any) -> None:
        modes = self._autopilot.modes
        if self._autopilot.estimator.is_initialised:
            self._receive(target_from_local(message, modes.position, modes.yaw))

    def _on_set_position_target_global_int(self, _: Any, message: Any) -> None:
        plane = self._autopilot.estimator.plane
        if plane is not None:
            self._receive(target_from_global(message, plane, self._autopilot.modes.home))

    def _on_set_attitude_target(self, _: Any, message: Any) -> None:
        self._receive(target_from_attitude(message))

    def _on_manual_control(self, _: Any, message: Any) -> None:
        """Take the sticks of a ground station, for this vehicle or for all (0)."""
        if message.target in (0, self._autopilot.instance + 1):
            axes = message.x, message.y, message.z, message.r
            self._autopilot.on_sticks(sticks_from_axes(*axes))

    def _on_rc_channels_override(self, _: Any, message: Any) -> None:
        m = message
        pulses_us = m.chan1_raw, m.chan2_raw, m.chan3_raw, m.chan4_raw
        self._autopilot.on_sticks(sticks_from_pulses(pulses_us))

    def _on_odometry(self, _: Any, message: Any) -> None:
        a = self._autopilot
        pose = pose_from_odometry(message, a.arrival_s, a.parameters.estimator.vision_delay_s)
        if pose is not None:
            a.on_external_odometry(pose)

    def _on_vision_position_estimate(self, _: Any, message: Any) -> None:
        a = self._autopilot
        delay_s = a.parameters.estimator.vision_delay_s
        a.on_external_odometry(pose_from_vision(message, a.arrival_s, delay_s))

    def _on_set_gps_global_origin(self, _: Any, message: Any) -> None:
        """Set the origin on Earth of the vision frame."""
        latitude, longitude = message.latitude * 1e-7, message.longitude * 1e-7
        altitude = message.altitude * 1e-3
        is_plausible = LOWEST_M <= altitude <= HIGHEST_M
        if is_plausible and abs(latitude) <= 90.0 and abs(longitude) <= 180.0:
            self._autopilot.estimator.set_origin(
                GeodeticPoint(latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude)
            )
