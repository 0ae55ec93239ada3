# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The course of each mode: the reference, the target and the limits of the guidance law."""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.control.guidance import Guidance
from aerotwin_autopilot.control.setpoint import SetpointVector
from aerotwin_autopilot.estimator.filter import Estimator
from aerotwin_autopilot.estimator.layout import O_ATTITUDE, O_POSITION, O_VELOCITY
from aerotwin_autopilot.manual_control import ManualControl
from aerotwin_autopilot.mission import MissionItem, StoredMission
from aerotwin_autopilot.mission_flight import MissionFlight
from aerotwin_autopilot.offboard import OffboardStream
from aerotwin_autopilot.orbit import OrbitFlight
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.settings import Settings
from aerotwin_core.geodesy import LocalTangentPlane

ARRIVED_M = 0.15
NEAR_M = 1.0  # nearer than this the vehicle returns at its present height


class ReturnFlight:
    """Writes the targets of the return flight, leg by leg; `goal` is None until chosen."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._leg = 0
        self.goal: np.ndarray | None = None

    def restart(self) -> None:
        """Restart with the climb, and with the choice of the goal."""
        self._leg = 0
        self.goal = None

    def step(self, guidance: Guidance, position: np.ndarray, home: np.ndarray) -> bool:
        """Write the target of the present leg; True when the vehicle is above home."""
        target = guidance.target
        is_near = bool(np.hypot(*(home[:2] - position[:2])) < NEAR_M)
        if self._leg == 0:
            self._leg = 1
            if not is_near:
                height = home[2] + self._settings.values.return_altitude_m
                target[2] = max(guidance.reference[2], height)
        if self._leg == 1 and abs(target[2] - guidance.reference[2]) < ARRIVED_M:
            self._leg = 2
            target[:2] = home[:2]
        return self._leg == 2 and is_near and guidance.distance < ARRIVED_M


LAND_SLOW_BELOW_M, LAND_FAST_ABOVE_M = 5.0, 10.0
"""Between these heights above home the descent slows to the landing speed."""


@dataclass(frozen=True, kw_only=True)
class Next:
    """The mode that follows a finished one, and why.

    `holds_target` says that the next mode retains the same target.
    """

    mode: Mode
    text: str
    is_warning: bool = False
    holds_target: bool = False


@dataclass
class Haven:
    """The positions to which the vehicle may return.

    `home` (3,): position at arming, or that of DO_SET_HOME, in local axes [m]. `yaw`: yaw at home,
    from east [rad]. `rally`: rally points; return flies to the nearest of these and home (PX4's
    RTL_TYPE 0).
    """

    home: np.ndarray | None = None
    yaw: float = 0.0
    rally: tuple[MissionItem, ...] = ()

    def nearest(self, position: np.ndarray, plane: LocalTangentPlane | None) -> np.ndarray | None:
        """Return the position to return to from another one; None without a home."""
        if self.home is None:
            return None
        goals = [self.home]
        if plane is not None:
            ground = plane.to_geodetic(self.home)[2]
            goals += [np.array(item.local(plane, ground)) for item in self.rally]
        return min(goals, key=lambda goal: float(np.hypot(*(goal - position)[:2])))


class Course:
    """Writes the requests of each mode into the guidance.

    The arena of `estimator` holds guidance and set-point; `settings` provide speeds and heights,
    `manual` the set-points of stick modes.
    """

    def __init__(self, estimator: Estimator, settings: Settings, manual: ManualControl) -> None:
        record = estimator.arena.record
        self.guidance = Guidance(record["guidance"])
        self.setpoint = SetpointVector(record["setpoint"])
        self.offboard = OffboardStream()
        self.manual = manual
        self.mission = StoredMission()
        self.orbit = OrbitFlight(settings)
        self.haven = Haven()
        self.takeoff_altitude: float | None = None
        self.speed = math.nan
        self._flight = MissionFlight(self.mission, settings)
        self._return = ReturnFlight(settings)
        self._settings = settings
        self._estimator = estimator

    @property
    def position(self) -> np.ndarray:
        """Estimated position, local axes [m]."""
        return self._estimator.output[O_POSITION:O_VELOCITY]

    @property
    def velocity(self) -> np.ndarray:
        """Estimated velocity, local axes [m/s]."""
        return self._estimator.output[O_VELOCITY:O_ATTITUDE]

    @property
    def yaw(self) -> float:
        """Estimated yaw from east [rad]."""
        x, y, z, w = self._estimator.output[O_ATTITUDE : O_ATTITUDE + 4].tolist()
        return math.atan2(2.0 * (x * y + z * w), 1.0 - 2.0 * (y * y + z * z))

    def restart_mission_item(self) -> None:
        """Restart the present item after a change of plan or item."""
        self._flight.restart()

    def lift_off(self) -> None:
        """Let a mission start straight up: the vehicle has just left the ground."""
        self._flight.restart(from_ground=True)

    def begin(self, mode: Mode, *, is_landed: bool) -> None:
        """Set the reference and the target of a mode that was just entered."""
        if not self._estimator.is_initialised:
            return
        guidance, target = self.guidance, self.guidance.target
        self.speed = math.nan
        self._return.restart()
        self._flight.restart()
        guidance.yaw = self.yaw
        start = self.position if is_landed else self._reference_position()
        guidance.start(start, np.zeros(3) if is_landed else self.velocity)
        if mode is Mode.TAKEOFF:
            ground = self.haven.home if self.haven.home is not None else self.position
            altitude = self.takeoff_altitude
            if altitude is None:
                altitude = float(ground[2]) + self._settings.values.takeoff_altitude_m
            target[2] = max(altitude, start[2])
        elif mode is Mode.ORBIT:
            self.orbit.begin(self.position, self.yaw)
        elif not is_landed:
            speed = self.velocity
            target[:] = start + speed * (
                np.linalg.norm(speed) / (2.0 * self._settings.values.acceleration_m_s2) + 0.3
            )

    def _reference_position(self) -> np.ndarray:
        """Return the start of a new reference: the old set-point if near, else the position."""
        old = self.setpoint.position
        is_near = np.all(np.isfinite(old)) and np.linalg.norm(old - self.position) < 1.0
        return (old if is_near else self.position).copy()

    def step(self, mode: Mode, time_s: float, *, is_blind: bool) -> Next | None:
        """Choose the guidance law of a mode; return what follows when it has finished."""
        guidance, s = self.guidance, self._settings.values
        was_travelling, guidance.kind = guidance.kind == at.TRAVEL, at.TRAVEL
        guidance.limit(
            speed=s.cruise_speed_m_s if math.isnan(self.speed) else self.speed,
            climb=s.takeoff_speed_m_s if mode is Mode.TAKEOFF else s.climb_speed_m_s,
            descent=s.descent_speed_m_s, acceleration=s.acceleration_m_s2, jerk=s.jerk_m_s3,
        )  # fmt: skip
        if mode is Mode.OFFBOARD:
            self.offboard.write(guidance)
            if guidance.kind == at.TRAVEL and not was_travelling:
                self._travel_from_here()
        elif mode is Mode.ORBIT:
            self.orbit.step(guidance, self.position, time_s)
        elif mode.needs_sticks:
            if mode is Mode.ALTITUDE:  # level at the centre, whatever the wind is
                self._estimator.arena.record["integral"][:2] = 0.0
            self.manual.step(mode, guidance, self.position, self.velocity, time_s)
        elif mode is Mode.MISSION:
            return self._fly_mission(time_s)
        elif mode is Mode.RETURN:
            return self._fly_home()
        elif mode is Mode.TAKEOFF and guidance.target[2] - guidance.reference[2] < ARRIVED_M:
            return Next(mode=Mode.HOLD, text="Takeoff complete: holding", holds_target=True)
        elif mode is Mode.LAND:
            self._descend(is_blind=is_blind)
        return None

    def _travel_from_here(self) -> None:
        """Begin the way to the present target here: the last set-points had no reference."""
        target = self.guidance.target.copy()
        self.guidance.start(self._reference_position(), self.velocity)
        self.guidance.target[:] = target

    def _fly_mission(self, time_s: float) -> Next | None:
        plane, home = self._estimator.plane, self.haven.home
        if plane is None or home is None:
            text = "Mission: no place on Earth known, holding"
            return Next(mode=Mode.HOLD, text=text, is_warning=True)
        step = self._flight.step(self.guidance, self.position, plane, home, time_s)
        if not math.isnan(step.speed):
            self.speed = step.speed
        return None if step.mode is None else Next(mode=step.mode, text=f"Mission: {step.text}")

    def _descend(self, *, is_blind: bool) -> None:
        """Sink, slower near the ground; without a position, where the drift goes."""
        s, guidance, home = self._settings.values, self.guidance, self.haven.home
        ground = home[2] if home is not None else 0.0
        span = LAND_FAST_ABOVE_M - LAND_SLOW_BELOW_M
        share = (self.position[2] - ground - LAND_SLOW_BELOW_M) / span
        share = 0.0 if is_blind else min(max(float(share), 0.0), 1.0)
        slow = min(s.land_speed_m_s, s.descent_speed_m_s)
        guidance.values["sink_m_s"] = -(slow + share * (s.descent_speed_m_s - slow))
        guidance.kind = at.DESCEND
        if is_blind:
            guidance.target[:] = math.nan

    def _fly_home(self) -> Next | None:
        goal = self._return.goal
        if goal is None:
            goal = self._return.goal = self.haven.nearest(self.position, self._estimator.plane)
        if goal is None:
            return Next(mode=Mode.LAND, text="Return: no home known, landing", is_warning=True)
        if self._return.step(self.guidance, self.position, goal):
            return Next(mode=Mode.LAND, text="Home reached: landing")
        return None
