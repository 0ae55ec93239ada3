# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Set-points from outside, flown in the autopilot's offboard mode: velocities and poses.

The first set-point takes a flying vehicle into the offboard mode, once a stream of them has begun,
as PX4 demands. When they cease, it stops and hovers there, still in that mode. When it is taken out
of the mode by somebody else, or by a request here, set-points are not followed until they have
ceased once: a stream that goes on does not fight an operator.
"""

from dataclasses import dataclass, replace
from math import cos, sin

import numpy as np
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.frames import FloatArray, rotation_from_quaternion, yaw_from_rotation
from aerotwin_px4_bridge.mavlink2 import (
    KNOWN,
    SET_POSITION_TARGET_GLOBAL_INT,
    SET_POSITION_TARGET_LOCAL_NED,
)
from aerotwin_px4_bridge.messages import ned_from_enu, yaw_ned_from_map
from aerotwin_px4_bridge.onboard import AUTOPILOT_COMPONENT_ID, FRAME_GLOBAL_INT, OnboardLink

PERIOD_NS = 50_000_000
"""Of the stream: PX4 leaves offboard below 2 Hz, ArduPilot after 3 s."""
SILENCE_NS = 500_000_000
"""Without a new velocity for so long the vehicle hovers; letting a key go stops it."""
LEAD_NS = 600_000_000
"""PX4 enters offboard half a second after a stream has begun."""
ASK_AGAIN_NS = 1_000_000_000
SLOW_M_S = 0.3
"""Slower than this it counts as stopped."""

_FRAME_LOCAL_NED = 1
_NO_POSITION, _NO_VELOCITY, _NO_ACCELERATION = 0b111, 0b111 << 3, 0b111 << 6
_NO_YAW, _NO_YAW_RATE = 1 << 10, 1 << 11
"""POSITION_TARGET_TYPEMASK: what a set-point does not say."""
_NO_VECTOR = 0.0, 0.0, 0.0


@dataclass(frozen=True, kw_only=True)
class VelocityTarget:
    """A velocity (3,) [m/s] and a yaw rate [rad/s], counter-clockwise.

    In map axes, or, `is_body`, forward, left and up of the level vehicle.
    """

    velocity: FloatArray
    yaw_rate: float = 0.0
    is_body: bool = True


@dataclass(frozen=True, kw_only=True)
class PoseTarget:
    """A position (3,) in map [m] and a yaw from east [rad], None for no change."""

    p_map: FloatArray
    yaw: float | None = None


Target = VelocityTarget | PoseTarget


def checked_target(target: Target) -> Target:
    """Return a set-point with an array of its own; raises ValueError if a value is not finite."""
    yaw = target.yaw_rate if isinstance(target, VelocityTarget) else target.yaw or 0.0
    vector = target.velocity if isinstance(target, VelocityTarget) else target.p_map
    vector = np.array(vector, dtype=np.float64)
    if vector.shape != (3,) or not np.isfinite([*vector, yaw]).all():
        raise ValueError(f"a set-point must have finite values, got {target}")
    if isinstance(target, VelocityTarget):
        return replace(target, velocity=vector)
    return replace(target, p_map=vector)


class SetpointStream:
    """Streams the last set-point to the autopilot of a link; `poll` it at every step or so.

    Attributes
    ----------
    n_ignored : int
        Set-points for a vehicle that does not fly, or that was taken from here.
    """

    def __init__(self, link: OnboardLink) -> None:
        self._link = link
        self._target: Target | None = None
        self._now_ns = self._heard_ns = self._begin_ns = 0
        self._send_due_ns = self._ask_due_ns = 0
        self._is_barred = self._was_offboard = False
        self.n_ignored = 0

    @property
    def is_active(self) -> bool:
        """Whether set-points are flown, or the hover that follows them."""
        return self._target is not None

    def set_target(self, target: Target) -> None:
        """Set the set-point, from now on.

        Raises
        ------
        ValueError
            If a value is not finite.
        """
        target = checked_target(target)
        state = self._link.state
        if not (state.is_armed and state.is_in_air) or self._is_barred:
            self.n_ignored += 1
            self._heard_ns = self._now_ns
            return
        if self._target is None:
            self._begin_ns, self._was_offboard = self._now_ns, False
            self._ask_due_ns = self._now_ns + LEAD_NS
        self._target, self._heard_ns = target, self._now_ns

    def leave(self) -> None:
        """End the stream, because another command follows, until set-points have ceased once."""
        self._target, self._is_barred = None, True

    def poll(self, stamp_ns: int) -> None:
        """Send what is due."""
        self._now_ns = stamp_ns
        is_silent = stamp_ns - self._heard_ns > SILENCE_NS
        if self._is_barred and is_silent:
            self._is_barred = False
        if self._target is None or not self._check_mode():
            return
        if is_silent and isinstance(self._target, VelocityTarget):
            self._hover()
        if self._target is not None and stamp_ns >= self._send_due_ns:
            self._send_due_ns = stamp_ns + PERIOD_NS
            self._send(self._target)

    def _check_mode(self) -> bool:
        """Ask for the offboard mode; return whether the stream goes on."""
        state, dialect = self._link.state, self._link.state.dialect
        if not state.is_armed:
            self._target = None
            return False
        if state.custom_mode == dialect.offboard.number:
            self._was_offboard = True
        elif self._was_offboard:
            self.leave()
            return False
        elif self._now_ns >= self._ask_due_ns:
            self._ask_due_ns = self._now_ns + ASK_AGAIN_NS
            values = dialect.set_mode_values(dialect.offboard)
            self._link.send_command(mavlink.MAV_CMD_DO_SET_MODE, *values)
        return True

    def _hover(self) -> None:
        """Stop, and then stay there: a place that it is flown over would pull it back."""
        estimate = self._link.state.estimate
        if estimate is None or np.linalg.norm(estimate.v_map) > SLOW_M_S:
            self._target = VelocityTarget(velocity=np.zeros(3))
        else:
            self._target = PoseTarget(p_map=estimate.p_map.copy(), yaw=self._yaw())

    def _yaw(self) -> float | None:
        estimate = self._link.state.estimate
        if estimate is None or estimate.q_map_body is None:
            return None
        return yaw_from_rotation(rotation_from_quaternion(estimate.q_map_body))

    def _send(self, target: Target) -> None:
        if isinstance(target, PoseTarget):
            _send_position(self._link, target.p_map, target.yaw, self._now_ns)
            return
        velocity = target.velocity
        if target.is_body:
            if (yaw := self._yaw()) is None:
                return
            x, y, z = velocity
            velocity = np.array([cos(yaw) * x - sin(yaw) * y, sin(yaw) * x + cos(yaw) * y, z])
        _send_velocity(self._link, velocity, target.yaw_rate, self._now_ns)


def _send_position(link: OnboardLink, p_map: FloatArray, yaw: float | None, stamp_ns: int) -> None:
    """Send a position (3,) and a yaw from east [rad], None for no change, to fly to."""
    mask = _NO_VELOCITY | _NO_ACCELERATION | _NO_YAW_RATE | (_NO_YAW if yaw is None else 0)
    latitude_deg, longitude_deg, altitude_m = link.plane.to_geodetic(p_map + link.shift_map)
    payload = KNOWN[SET_POSITION_TARGET_GLOBAL_INT].pack(
        stamp_ns // 1_000_000 & 0xFFFFFFFF,
        round(latitude_deg * 1e7), round(longitude_deg * 1e7), altitude_m, *_NO_VECTOR, *_NO_VECTOR,
        0.0 if yaw is None else yaw_ned_from_map(yaw), 0.0,
        mask, link.system_id, AUTOPILOT_COMPONENT_ID, FRAME_GLOBAL_INT,
    )  # fmt: skip
    link.send(SET_POSITION_TARGET_GLOBAL_INT, payload)


def _send_velocity(link: OnboardLink, v_map: FloatArray, yaw_rate: float, stamp_ns: int) -> None:
    """Send a velocity (3,) in map axes [m/s] and a yaw rate, counter-clockwise [rad/s]."""
    payload = KNOWN[SET_POSITION_TARGET_LOCAL_NED].pack(
        stamp_ns // 1_000_000 & 0xFFFFFFFF,
        *_NO_VECTOR, *ned_from_enu(v_map), *_NO_VECTOR, 0.0, -yaw_rate,
        _NO_POSITION | _NO_ACCELERATION | _NO_YAW,
        link.system_id, AUTOPILOT_COMPONENT_ID, _FRAME_LOCAL_NED,
    )  # fmt: skip
    link.send(SET_POSITION_TARGET_LOCAL_NED, payload)
