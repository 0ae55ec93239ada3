# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Payload of each telemetry message, from the autopilot's state, in NED and FRD."""

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.attitude import rotation_entries
from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.estimator import layout as lay
from aerotwin_autopilot.estimator.kernel import covariance_at_present
from aerotwin_autopilot.mavlink.codec import LAYOUTS, clipped
from aerotwin_autopilot.mavlink.identity import IDENTITY_BUILDERS
from aerotwin_autopilot.mavlink.status import STATUS_BUILDERS
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_core.kernel_cache import njit
from aerotwin_px4_bridge.messages import yaw_ned_from_map

NAN = math.nan
HALF = math.sqrt(0.5)
IGNORE_NOTHING = 0
FRAME_GLOBAL, FRAME_LOCAL_NED, FRAME_BODY_FRD = 0, 1, 12
ESTIMATOR_AUTOPILOT = 8
N_VALUES = 55  # position 3, quaternion 4, velocity 3, rates 3, two upper triangles of 21


@njit(types.void(types.float32[::1], types.float64[::1]), cache=True)
def odometry_values(out, memory):
    """Write the numbers of ODOMETRY, in NED and FRD, from the arena's estimate.

    MAVLink common.xml, message 331: the pose covariance over x, y, z, roll, pitch, yaw in the
    frame of the pose, the velocity's in that of the body; NaN where unknown (the rates).
    """
    arena = memory.view(at.ARENA)[0]
    o = arena.output
    covariance = np.empty((arena.cursor[lay.C_ALIVE], lay.N_ERROR))
    covariance_at_present(covariance, memory)
    q = lay.O_ATTITUDE
    x, y, z, w = o[q], o[q + 1], o[q + 2], o[q + 3]
    r = rotation_entries(x, y, z, w)
    sign = 1.0 if w + z >= 0.0 else -1.0
    out[0], out[1], out[2] = o[1], o[0], -o[2]
    out[3], out[4] = sign * HALF * (w + z), sign * HALF * (x + y)
    out[5], out[6] = sign * HALF * (x - y), sign * HALF * (w - z)
    to_frd = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            to_frd[i, j] = r[3 * j + i] if i == 0 else -r[3 * j + i]
    for i in range(3):
        out[7 + i] = 0.0
        for j in range(3):
            out[7 + i] += to_frd[i, j] * o[lay.O_VELOCITY + j]
        out[10 + i] = o[lay.O_RATE + i] if i == 0 else -o[lay.O_RATE + i]
    source = (1, 0, 2, lay.E_ATTITUDE + 1, lay.E_ATTITUDE, lay.E_ATTITUDE + 2)
    k = 13
    for i in range(6):
        for j in range(i, 6):
            flipped = (i % 3 == 2) != (j % 3 == 2)
            value = covariance[source[i], source[j]]
            out[k] = -value if flipped else value
            out[k + 21] = math.nan
            if i < 3 and j < 3:
                total = 0.0
                for a in range(3):
                    for b in range(3):
                        turned = to_frd[i, a] * covariance[lay.E_VELOCITY + a, lay.E_VELOCITY + b]
                        total += turned * to_frd[j, b]
                out[k + 21] = total
            k += 1


_TIME, _TAIL = struct.Struct("<Q"), struct.Struct("<BBBBb")


def odometry_payload(autopilot: Autopilot) -> bytes | None:
    """Return the payload of ODOMETRY, None before there is an estimate."""
    estimator = autopilot.estimator
    if not estimator.is_initialised:
        return None
    values = np.empty(N_VALUES, dtype=np.float32)
    odometry_values(values, estimator.arena.memory)
    tail = _TAIL.pack(
        FRAME_LOCAL_NED, FRAME_BODY_FRD, estimator.n_vision_resets & 0xFF, ESTIMATOR_AUTOPILOT, 0
    )
    return _TIME.pack(autopilot.time_us) + values.tobytes() + tail


UNKNOWN_U16 = 65535


class Navigation:
    """The estimate of one instant in the frames of MAVLink; made once per step, on demand."""

    def __init__(self, autopilot: Autopilot) -> None:
        estimator = autopilot.estimator
        o = estimator.output.tolist()
        self.time_ms = autopilot.time_us // 1000 & 0xFFFFFFFF
        self.is_valid = estimator.is_initialised
        self.p_ned = (o[1], o[0], -o[2])
        self.v_ned = (o[4], o[3], -o[5])
        x, y, z, w = o[6:10]
        # q_ned_frd = (0, r, r, 0) q_enu_flu (0, 1, 0, 0) with r = sqrt(1/2), up to sign
        q = (HALF * (w + z), HALF * (x + y), HALF * (x - y), HALF * (w - z))
        self.q_wxyz = q if q[0] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
        self.rates_frd = (o[10], -o[11], -o[12])
        self.climb = o[5]
        self.ground_speed = math.hypot(o[3], o[4])
        self._estimator = estimator
        self._geodetic: tuple[float, float, float] | None = None
        home = autopilot.modes.home
        self.height_above_home = o[2] - float(home[2]) if home is not None else 0.0

    @property
    def geodetic(self) -> tuple[float, float, float] | None:
        """Latitude, longitude [deg] and altitude [m]; None where no place on Earth is known."""
        if self._geodetic is None and self._estimator.plane is not None:
            position = self._estimator.output[lay.O_POSITION : lay.O_VELOCITY]
            self._geodetic = self._estimator.plane.to_geodetic(position)
        return self._geodetic

    @property
    def roll_pitch_yaw(self) -> tuple[float, float, float]:
        """Euler angles z-y-x of FRD in NED [rad]."""
        w, x, y, z = self.q_wxyz
        return (
            math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
            math.asin(min(1.0, max(-1.0, 2.0 * (w * y - z * x)))),
            math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
        )

    @property
    def heading_deg(self) -> float:
        """Heading in [0, 360)."""
        return math.degrees(self.roll_pitch_yaw[2]) % 360.0


Builder = Callable[[Autopilot, Navigation], tuple[Any, ...] | list[tuple[Any, ...]] | None]


def _attitude(_: Autopilot, n: Navigation) -> tuple[Any, ...] | None:
    return (n.time_ms, *n.roll_pitch_yaw, *n.rates_frd) if n.is_valid else None


def _attitude_quaternion(_: Autopilot, n: Navigation) -> tuple[Any, ...] | None:
    if not n.is_valid:
        return None
    return (n.time_ms, *n.q_wxyz, *n.rates_frd, 0.0, 0.0, 0.0, 0.0)


def _local_position(_: Autopilot, n: Navigation) -> tuple[Any, ...] | None:
    return (n.time_ms, *n.p_ned, *n.v_ned) if n.is_valid else None


def _global_position(_: Autopilot, n: Navigation) -> tuple[Any, ...] | None:
    if not n.is_valid or n.geodetic is None:
        return None
    latitude, longitude, altitude = n.geodetic
    return (
        n.time_ms,
        round(latitude * 1e7),
        round(longitude * 1e7),
        clipped(altitude * 1e3, 32),
        clipped(n.height_above_home * 1e3, 32),
        *(clipped(value * 100.0, 16) for value in n.v_ned),
        round(n.heading_deg * 100.0) % 36000,
    )


def _altitude(a: Autopilot, n: Navigation) -> tuple[Any, ...] | None:
    if not n.is_valid:
        return None
    amsl, local = n.geodetic[2] if n.geodetic else NAN, -n.p_ned[2]
    return a.time_us, amsl, amsl, local, n.height_above_home, NAN, NAN


def _vfr_hud(a: Autopilot, n: Navigation) -> tuple[Any, ...] | None:
    if not n.is_valid:
        return None
    throttle = a.controller.thrust_share * 50.0 if a.modes.is_armed else 0.0
    return (
        n.ground_speed, n.ground_speed, n.geodetic[2] if n.geodetic else -n.p_ned[2], n.climb,
        round(n.heading_deg) % 360, round(min(max(throttle, 0.0), 100.0)),
    )  # fmt: skip


def _position_target(a: Autopilot, n: Navigation) -> tuple[Any, ...] | None:
    if not a.modes.is_armed:
        return None
    v = a.modes.setpoint.values.tolist()
    return (
        n.time_ms, v[1], v[0], -v[2], v[4], v[3], -v[5], v[7], v[6], -v[8],
        yaw_ned_from_map(v[9]), -v[10], IGNORE_NOTHING, FRAME_LOCAL_NED,
    )  # fmt: skip


def _orbit(a: Autopilot, _: Navigation) -> tuple[Any, ...] | None:
    plane, orbit = a.estimator.plane, a.modes.course.orbit
    if a.modes.mode is not Mode.ORBIT or plane is None:
        return None
    latitude, longitude, altitude = plane.to_geodetic(orbit.centre)
    return (
        a.time_us, orbit.radius_m, round(latitude * 1e7), round(longitude * 1e7), altitude,
        FRAME_GLOBAL,
    )  # fmt: skip


BUILDERS: dict[str, Builder] = {
    "ATTITUDE": _attitude,
    "ATTITUDE_QUATERNION": _attitude_quaternion,
    "LOCAL_POSITION_NED": _local_position,
    "GLOBAL_POSITION_INT": _global_position,
    "ALTITUDE": _altitude,
    "VFR_HUD": _vfr_hud,
    "POSITION_TARGET_LOCAL_NED": _position_target,
    "ORBIT_EXECUTION_STATUS": _orbit,
    **STATUS_BUILDERS,
    **IDENTITY_BUILDERS,
}
"""Message name -> values in wire order, or None while there is no valid value."""

KNOWN = {*BUILDERS, "ODOMETRY"}  # names of all messages that can be requested


def payloads(name: str, autopilot: Autopilot, navigation: Navigation) -> list[bytes]:
    """Return the payloads of a message; none while it has nothing to say."""
    if name == "ODOMETRY":
        content = odometry_payload(autopilot)
        return [content] if content is not None else []
    values = BUILDERS[name](autopilot, navigation)
    if values is None:
        return []
    layout = LAYOUTS[name]
    rows = values if isinstance(values, list) else [values]
    return [layout.pack(*row) for row in rows]
