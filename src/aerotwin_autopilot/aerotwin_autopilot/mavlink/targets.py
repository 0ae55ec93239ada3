# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Set-point messages (NED, with type masks) to targets in local axes."""

import math

import numpy as np

from aerotwin_autopilot.offboard import AttitudeTarget, OffboardTarget
from aerotwin_core.frames import map_body_from_quat_wxyz_ned_frd
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_px4_bridge.messages import enu_from_ned, yaw_map_from_ned

LOCAL_NED, LOCAL_OFFSET_NED, BODY_NED, BODY_OFFSET_NED, BODY_FRD = 1, 7, 8, 9, 12
GLOBAL, GLOBAL_RELATIVE, GLOBAL_INT, GLOBAL_RELATIVE_INT = 0, 3, 5, 6
YAW_BIT, YAW_RATE_BIT = 1 << 10, 1 << 11
FORCE_BIT = 1 << 9
IGNORE_RATES, IGNORE_THRUST, IGNORE_ATTITUDE = 0b111, 1 << 6, 1 << 7
"""ATTITUDE_TARGET_TYPEMASK."""

Triple = tuple[float, float, float]


def _masked(values: Triple, mask: int, shift: int, ignored: float) -> Triple:
    """Return three fields with `ignored` where the type mask says to ignore them."""
    x, y, z = (
        ignored if mask >> (shift + i) & 1 or not math.isfinite(v) else v
        for i, v in enumerate(values)
    )
    return x, y, z


def _target(message: object, position: Triple, turn: float | None) -> OffboardTarget:
    """Return the target of a message whose position is already in local axes.

    `turn` is the yaw that rotates velocity and acceleration when they are in body axes.
    """
    m, mask = message, message.type_mask  # type: ignore[attr-defined]
    v = enu_from_ned(_masked((m.vx, m.vy, m.vz), mask, 3, math.nan))  # type: ignore[attr-defined]
    a = enu_from_ned(_masked((m.afx, m.afy, m.afz), mask, 6, 0.0))  # type: ignore[attr-defined]
    if mask & FORCE_BIT:
        a = (0.0, 0.0, 0.0)
    if turn is not None:
        v, a = _turned(v, turn), _turned(a, turn)
    yaw, rate = m.yaw, m.yaw_rate  # type: ignore[attr-defined]
    return OffboardTarget(
        position=position,
        velocity=v,
        acceleration=a,
        yaw=math.nan
        if mask & YAW_BIT or not math.isfinite(yaw)
        else yaw_map_from_ned(math.remainder(yaw, math.tau)),
        yaw_rate=math.nan if mask & YAW_RATE_BIT or not math.isfinite(rate) else -rate,
    )


def _turned(vector: Triple, yaw: float) -> Triple:
    """Rotate a vector (right, forward, up) of a level vehicle into local axes."""
    right, forward, up = vector
    c, s = math.cos(yaw), math.sin(yaw)
    return forward * c + right * s, forward * s - right * c, up


def target_from_local(message: object, p_now: np.ndarray, yaw: float) -> OffboardTarget | None:
    """Return the target of a SET_POSITION_TARGET_LOCAL_NED, or None for an unknown frame."""
    m = message
    frame = m.coordinate_frame  # type: ignore[attr-defined]
    mask = m.type_mask  # type: ignore[attr-defined]
    provided = _masked((m.x, m.y, m.z), mask, 0, math.nan)  # type: ignore[attr-defined]
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
    message: object, plane: LocalTangentPlane, home: np.ndarray | None
) -> OffboardTarget | None:
    """Return the target of a SET_POSITION_TARGET_GLOBAL_INT, or None for an unknown frame."""
    m = message
    frame, mask = m.coordinate_frame, m.type_mask  # type: ignore[attr-defined]
    if frame not in (GLOBAL, GLOBAL_RELATIVE, GLOBAL_INT, GLOBAL_RELATIVE_INT):
        return None
    latitude, longitude = m.lat_int * 1e-7, m.lon_int * 1e-7  # type: ignore[attr-defined]
    altitude = m.alt  # type: ignore[attr-defined]
    if mask & 7 == 7:
        return _target(m, (math.nan, math.nan, math.nan), None)
    if abs(latitude) > 90.0 or abs(longitude) > 180.0 or not math.isfinite(altitude):
        return None
    if frame in (GLOBAL_RELATIVE, GLOBAL_RELATIVE_INT):
        altitude += plane.to_geodetic(home)[2] if home is not None else plane.origin.altitude_m
    east, north, up = plane.from_geodetic(latitude, longitude, altitude).tolist()
    north, east, down = _masked((north, east, -up), mask, 0, math.nan)
    return _target(m, enu_from_ned((north, east, down)), None)


def target_from_attitude(message: object) -> AttitudeTarget | None:
    """Return the target of a SET_ATTITUDE_TARGET; None when it is invalid.

    Thrust is mandatory; an attitude that is not a unit quaternion, rates that are not finite and
    a thrust outside [0, 1] are invalid.
    """
    m = message
    mask, thrust = m.type_mask, m.thrust  # type: ignore[attr-defined]
    if mask & IGNORE_THRUST or not 0.0 <= thrust <= 1.0:
        return None
    provided = (m.body_roll_rate, -m.body_pitch_rate, -m.body_yaw_rate)  # type: ignore[attr-defined]
    p, q, r = (0.0 if mask >> i & 1 else value for i, value in enumerate(provided))
    attitude = (math.nan,) * 4
    if not mask & IGNORE_ATTITUDE:
        quaternion = np.array(m.q)  # type: ignore[attr-defined]
        if not abs(float(quaternion @ quaternion) - 1.0) < 0.05:
            return None
        x, y, z, w = map_body_from_quat_wxyz_ned_frd(quaternion).tolist()
        attitude = (x, y, z, w)
    elif mask & IGNORE_RATES == IGNORE_RATES:
        return None
    if not math.isfinite(p + q + r):
        return None
    return AttitudeTarget(q_local_body=attitude, rate_body=(p, q, r), thrust=thrust)
