# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight by sticks: their positions, and what each stick mode makes of them, as PX4 v1.14 does.

PX4's user guide (flight modes Stabilized, Altitude, Position) and its parameter reference say what
the sticks mean; differences stand in `docs/reference/autopilot.md`.
"""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.attitude import quaternion_from_rotation_vector, quaternion_product
from aerotwin_autopilot.control.guidance import FOLLOW_1_S, Guidance
from aerotwin_autopilot.parameters import TunableParameters
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.settings import Settings

PULSE_CENTRE_US, PULSE_SPAN_US = 1500, 500
PULSES_US = (800, 2200)  # outside a channel is not in use
FULL_AXIS = 1000.0
LEAD_M = 1.5
"""The reference is at most this far from the vehicle: a wind that it cannot fly against."""
LONGEST_STEP_S = 0.1
GRAVITY = 9.80665


@dataclass(frozen=True, kw_only=True)
class StickPositions:
    """Positions in [-1, 1]: nose down, roll right, throttle up, turn right are positive."""

    pitch: float = 0.0
    roll: float = 0.0
    throttle: float = 0.0
    yaw: float = 0.0


def sticks_from_axes(x: int, y: int, z: int, r: int) -> StickPositions | None:
    """Return the sticks of a MANUAL_CONTROL; None if an axis is not in use.

    x, y, r are -1000 to 1000; z is 0 to 1000, 500 in the centre, as PX4 and ground stations have
    it for vehicles without reverse thrust; less is as 0.

    >>> sticks_from_axes(1000, 0, 500, -500)
    StickPositions(pitch=1.0, roll=0.0, throttle=0.0, yaw=-0.5)
    """
    if max(map(abs, (x, y, z, r))) > FULL_AXIS:
        return None
    return StickPositions(
        pitch=x / FULL_AXIS,
        roll=y / FULL_AXIS,
        throttle=2.0 * max(z, 0) / FULL_AXIS - 1.0,
        yaw=r / FULL_AXIS,
    )


def sticks_from_pulses(pulses_us: tuple[int, int, int, int]) -> StickPositions | None:
    """Return the sticks of channels 1 to 4, roll, pitch, throttle, yaw; None if one is not in use.

    >>> sticks_from_pulses((1500, 2000, 1000, 1500))
    StickPositions(pitch=1.0, roll=0.0, throttle=-1.0, yaw=0.0)
    """
    if not all(PULSES_US[0] <= pulse <= PULSES_US[1] for pulse in pulses_us):
        return None
    roll, pitch, throttle, yaw = (
        min(max((pulse - PULSE_CENTRE_US) / PULSE_SPAN_US, -1.0), 1.0) for pulse in pulses_us
    )
    return StickPositions(pitch=pitch, roll=roll, throttle=throttle, yaw=yaw)


def shaped(stick: float, dead_zone: float, expo: float) -> float:
    """Return a stick after its dead zone and exponential curve.

    Beyond the dead zone the rest is spread to [0, 1]; then `expo` of its cube and the other part
    of itself (PX4: MPC_HOLD_DZ, MPC_XY_MAN_EXPO and the like).

    >>> shaped(0.1, 0.1, 0.6), shaped(1.0, 0.1, 0.6), shaped(-0.55, 0.1, 0.6)
    (0.0, 1.0, -0.275)
    """
    beyond = max(abs(stick) - dead_zone, 0.0) / (1.0 - dead_zone)
    return math.copysign((1.0 - expo) * beyond + expo * beyond**3, stick) if beyond else 0.0


def _within_circle(x: float, y: float) -> tuple[float, float]:
    """Return two sticks of which the corner counts as full in its direction."""
    length = max(math.hypot(x, y), 1.0)
    return x / length, y / length


class ManualControl:
    """The sticks last received, and the set-points of the modes that fly by them.

    `hover_command` is the mean rotor command that carries the weight.
    """

    def __init__(self, settings: Settings, hover_command: float) -> None:
        self._settings, self._hover_command = settings, hover_command
        self.sticks = StickPositions()
        self.received_s = self._stepped_s = -math.inf

    def on_sticks(self, sticks: StickPositions | None, time_s: float) -> None:
        """Store positions received now; none are dropped."""
        if sticks is not None:
            self.sticks, self.received_s = sticks, time_s

    def is_alive(self, time_s: float) -> bool:
        """Return whether sticks were received within COM_RC_LOSS_T."""
        return time_s - self.received_s <= self._settings.values.manual_timeout_s

    @property
    def climb_m_s(self) -> float:
        """Climb that the throttle stick asks for in the modes that control the height."""
        s = self._settings.values
        throttle = shaped(self.sticks.throttle, s.stick_dead_zone, s.throttle_expo)
        return throttle * (s.climb_speed_m_s if throttle > 0.0 else s.descent_speed_m_s)

    @property
    def thrust_command(self) -> float:
        """Mean rotor command of the throttle stick: the vehicle hovers at its centre."""
        throttle, least = self.sticks.throttle, self._settings.values.manual_thrust_min
        end = 1.0 if throttle > 0.0 else min(least, self._hover_command)
        return self._hover_command + abs(throttle) * (end - self._hover_command)

    def step(
        self,
        mode: Mode,
        guidance: Guidance,
        position: np.ndarray,
        velocity: np.ndarray,
        time_s: float,
    ) -> None:
        """Write the set-point of a stick mode; `guidance.start` has begun its reference."""
        dt = min(time_s - self._stepped_s, LONGEST_STEP_S)
        self._stepped_s = time_s
        if mode is Mode.STABILIZED:
            self._tilt(guidance, dt)
            return
        s, reference = self._settings.values, guidance.reference
        if mode is Mode.ALTITUDE:
            reference[:2], reference[3:5] = position[:2], velocity[:2]
            reference[6:8] = self._tilt_acceleration(guidance.yaw)
        else:
            self._move(reference, slice(0, 2), self._horizontal_velocity(guidance.yaw), dt)
        self._move(reference, slice(2, 3), np.array([self.climb_m_s]), dt)
        lead = reference[:3] - position
        reference[:3] = position + lead * min(1.0, LEAD_M / max(float(np.linalg.norm(lead)), 1e-9))
        guidance.kind = at.STREAM
        guidance.values["received_s"] = time_s
        guidance.stream[:9], guidance.stream[9] = reference, math.nan
        guidance.stream[10] = self._yaw_rate(shaped(self.sticks.yaw, s.stick_dead_zone, s.yaw_expo))
        if mode is Mode.ALTITUDE:
            guidance.stream[:2] = math.nan

    def _horizontal_velocity(self, yaw: float) -> np.ndarray:
        """Return the velocity (2,) that roll and pitch ask for in Position mode."""
        s, sticks = self._settings.values, self.sticks
        forward, right = _within_circle(
            shaped(sticks.pitch, s.stick_dead_zone, s.stick_expo),
            shaped(sticks.roll, s.stick_dead_zone, s.stick_expo),
        )
        return s.manual_speed_m_s * _turned(forward, -right, yaw)

    def _tilt_acceleration(self, yaw: float) -> np.ndarray:
        """Return the acceleration (2,) of a vehicle that holds its height, tilted by the sticks."""
        s, sticks = self._settings.values, self.sticks
        forward, right = _within_circle(
            shaped(sticks.pitch, s.stick_dead_zone, s.stick_expo),
            shaped(sticks.roll, s.stick_dead_zone, s.stick_expo),
        )
        return GRAVITY * math.tan(math.radians(s.manual_tilt_deg)) * _turned(forward, -right, yaw)

    def _move(self, reference: np.ndarray, axes: slice, velocity: np.ndarray, dt: float) -> None:
        """Advance axes of a reference towards a velocity, within acceleration and jerk."""
        s = self._settings.values
        p, v, a = reference[0:3][axes], reference[3:6][axes], reference[6:9][axes]
        change = _limited(FOLLOW_1_S * (velocity - v), s.acceleration_m_s2) - a
        a += _limited(change, s.jerk_m_s3 * dt)
        p += (v + 0.5 * a * dt) * dt
        v += a * dt

    def _tilt(self, guidance: Guidance, dt: float) -> None:
        """Write the attitude and thrust of Stabilized mode; the sticks are linear there."""
        roll, pitch = _within_circle(self.sticks.roll, self.sticks.pitch)
        most = math.radians(self._settings.values.manual_tilt_deg)
        rate = self._yaw_rate(self.sticks.yaw)
        guidance.yaw += rate * dt
        level = 0.0, 0.0, math.sin(0.5 * guidance.yaw), math.cos(0.5 * guidance.yaw)
        tilt = quaternion_from_rotation_vector(roll * most, pitch * most, 0.0)
        guidance.kind, values = at.ATTITUDE, guidance.values
        values["quaternion"] = quaternion_product(*level, *tilt)
        values["rate_rad_s"] = 0.0, 0.0, rate
        values["thrust"] = self.thrust_command

    def _yaw_rate(self, stick: float) -> float:
        return -stick * math.radians(self._settings.values.manual_yaw_rate_deg_s)


def _turned(forward: float, left: float, yaw: float) -> np.ndarray:
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([forward * c - left * s, forward * s + left * c])


def _limited(vector: np.ndarray, limit: float) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector * (limit / length) if length > limit else vector


class StickLoss:
    """What happens when sticks fall silent in a mode that needs them: hold, then NAV_RCL_ACT.

    `interrupted` is the mode that goes on when they are back while it holds.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.interrupted: Mode | None = None
        self._since_s = math.nan

    def forget(self) -> None:
        """End it: another mode was commanded."""
        self.interrupted = None

    def act(self, mode: Mode, *, is_alive: bool, time_s: float) -> tuple[Mode | None, str]:
        """Return the mode to change to, if any, and a text for the pilot."""
        s: TunableParameters = self._settings.values
        if mode.needs_sticks and not is_alive:
            self.interrupted, self._since_s = mode, time_s
            return Mode.HOLD, "Manual control lost: holding"
        if self.interrupted is None:
            return None, ""
        if mode is not Mode.HOLD:
            self.forget()
        elif is_alive:
            back, self.interrupted = self.interrupted, None
            return back, "Manual control regained"
        elif time_s - self._since_s > s.failsafe_delay_s:
            self.forget()
            following = {1: Mode.HOLD, 2: Mode.RETURN, 3: Mode.LAND}[s.manual_loss_action]
            return following, f"Manual control lost: {following.name.lower()}"
        return None, ""
