# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The state machine: armed or not, on the ground or not, and what each mode asks of the controller.

All times are simulated. The machine never reads a clock and never sends a message: it says what
happened through `notices`, which the MAVLink server passes on.
"""

import math
from collections.abc import Callable

import numpy as np

from aerotwin_autopilot.control import Setpoint
from aerotwin_autopilot.control.mover import Mover
from aerotwin_autopilot.control.setpoint import P_YAW, P_YAW_RATE
from aerotwin_autopilot.estimator import Estimator
from aerotwin_autopilot.estimator.layout import O_ATTITUDE, O_POSITION, O_VELOCITY
from aerotwin_autopilot.landing import GroundContact
from aerotwin_autopilot.offboard import OffboardStream
from aerotwin_autopilot.parameters import FlightParameters
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.settings import Settings

ARRIVED_M = 0.15
LAND_SLOW_BELOW_M, LAND_FAST_ABOVE_M = 5.0, 10.0
"""Between these heights above home the descent slows from its limit to the landing speed."""
RETURN_NEAR_M = 1.0
LEAVE_GROUND_M_S = 0.3
"""A wished climb faster than this lifts an armed vehicle off the ground."""
SETTLED_CLIMB_M = 0.2
LIFTING_MODES = (Mode.TAKEOFF, Mode.OFFBOARD)
Notice = Callable[[str, bool], None]


class FlightModes:
    """What the vehicle is doing.

    Parameters
    ----------
    estimator : Estimator
        Where it believes to be.
    parameters : FlightParameters
        Defaults of the settings that a ground station may change.
    notify : callable
        Called with (text, is_warning) when something happens that a pilot wants to know.
    """

    def __init__(self, estimator: Estimator, parameters: FlightParameters, notify: Notice) -> None:
        self.settings = Settings(parameters)
        self.mode = Mode.HOLD
        self.is_armed = False
        self.is_landed = True
        self.offboard = OffboardStream()
        self.setpoint = Setpoint()
        self.home: np.ndarray | None = None
        self.home_yaw = 0.0
        self._estimator = estimator
        self._notify = notify
        self._mover = Mover()
        self._contact = GroundContact()
        self._yaw = 0.0
        self._time = 0.0
        self._armed_at = -math.inf
        self._landed_at: float | None = None
        self._lifted_from = -math.inf
        self._takeoff_altitude: float | None = None
        self._speed = math.nan
        self._return_leg = 0

    # --- what others ask -------------------------------------------------------------------

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

    @property
    def is_spinning_up(self) -> bool:
        """True in the first moments after arming, while the rotors only idle."""
        return self.is_armed and self._time - self._armed_at < self.settings.spool_up_s

    @property
    def integrates(self) -> bool:
        """True once the vehicle has left the ground: integrals on the ground only wind up."""
        return not self.is_landed and (
            self._estimator.output[O_POSITION + 2] > self._lifted_from + SETTLED_CLIMB_M
        )

    def refusals(self) -> list[str]:
        """Return why arming would be refused; empty when it would not."""
        return self._estimator.refusals()

    def state_of_landing(self) -> int:
        """Return MAV_LANDED_STATE: 1 on ground, 2 in air, 3 taking off, 4 landing."""
        if self.is_landed:
            return 1
        return {Mode.TAKEOFF: 3, Mode.LAND: 4}.get(self.mode, 2)

    # --- what others order -----------------------------------------------------------------

    def arm(self) -> str:
        """Arm; return the reason of a refusal, or an empty text."""
        if self.is_armed:
            return ""
        reasons = self.refusals()
        if self.mode is Mode.OFFBOARD and not self.offboard.is_alive(self._time):
            reasons.append("no offboard set-points")
        if reasons:
            return reasons[0]
        self.is_armed = True
        self._armed_at = self._time
        self._set_home()
        self._begin_mode()
        self._notify("Armed by external command", False)
        return ""

    def disarm(self, *, force: bool = False) -> str:
        """Disarm; in the air only by force (kill). Return the reason of a refusal."""
        if not self.is_armed:
            return ""
        if not self.is_landed and not force:
            return "Disarming denied: not landed"
        self.is_armed = False
        self.is_landed = True
        self._landed_at = None
        self.mode = Mode.HOLD
        self._notify("Killed" if force else "Disarmed", force)
        return ""

    def set_mode(self, mode: Mode) -> str:
        """Switch the mode; return the reason of a refusal, or an empty text."""
        if mode is Mode.OFFBOARD and not self.offboard.is_alive(self._time):
            return "Offboard denied: no set-points at 2 Hz"
        if not self._estimator.is_position_valid:
            return f"Mode {mode.name} denied: no position"
        if mode is not self.mode or mode in (Mode.HOLD, Mode.TAKEOFF):
            self.mode = mode
            self._takeoff_altitude = None
            self._begin_mode()
        return ""

    def take_off(self, altitude: float | None) -> str:
        """Enter take-off to a local height, or to the set height above home."""
        reason = self.set_mode(Mode.TAKEOFF)
        if not reason:
            self._takeoff_altitude = altitude
            self._begin_mode()
        return reason

    def go_to(self, position: np.ndarray, yaw: float, speed: float) -> str:
        """Hold at another place: `position` local, yaw NaN keeps the present one."""
        reason = self.set_mode(Mode.HOLD)
        if reason:
            return reason
        if not self.is_armed or self.is_landed:
            return "Reposition denied: not flying"
        self._mover.target[:] = np.where(np.isfinite(position), position, self._mover.target)
        self._yaw = yaw if math.isfinite(yaw) else self._yaw
        self._speed = speed if speed > 0.0 else math.nan
        return ""

    def change_speed(self, speed: float) -> None:
        """Set the speed between points; not above the limit of the controller."""
        self.settings.cruise_speed_m_s = min(max(speed, 0.5), 20.0)
        self._speed = math.nan

    # --- the step --------------------------------------------------------------------------

    def step(self, time_s: float, dt: float) -> bool:
        """Advance to time_s; return True when the controller shall fly `setpoint`.

        Otherwise the rotors idle (armed, on the ground) or stand (disarmed).
        """
        self._time = time_s
        if self.home is None and self._estimator.is_position_valid:
            self._set_home()
        if not self.is_armed:
            return False
        if self.mode is Mode.OFFBOARD:
            self._watch_offboard()
        self._write_setpoint(time_s, dt)
        if self.is_landed:
            self._wait_on_ground()
        return not self.is_landed

    def watch_ground(self, dt: float, thrust_share: float) -> None:
        """Look for the ground; called with the thrust asked for as part of the weight."""
        if self.is_landed or not self.is_armed:
            return
        if self._contact.step(dt, self._wished_climb(), float(self.velocity[2]), thrust_share):
            self.is_landed = True
            self._landed_at = self._time
            self._notify("Landing detected", False)

    def _wait_on_ground(self) -> None:
        if self.is_spinning_up:
            return
        if self._landed_at is not None:
            if self._time - self._landed_at > self.settings.disarm_landed_s:
                self.disarm()
        elif self._time - self._armed_at > self.settings.disarm_no_takeoff_s:
            self._notify("Disarmed: no take-off", True)
            self.disarm()
        if self.mode in LIFTING_MODES and self._wished_climb() > LEAVE_GROUND_M_S:
            self._lift_off()

    def _lift_off(self) -> None:
        self.is_landed = False
        self._landed_at = None
        self._lifted_from = float(self.position[2])
        self._contact.reset()
        self.setpoint.hold(self.position, self.yaw)
        self._begin_mode()
        self._notify("Takeoff detected", False)

    def _wished_climb(self) -> float:
        """Return the vertical speed that the set-point asks for, position error included."""
        z, vz = self.setpoint.values[2], self.setpoint.values[5]
        climb = 0.0 if math.isnan(vz) else float(vz)
        if not math.isnan(z):
            climb += float(z) - float(self.position[2])
        return climb

    def _watch_offboard(self) -> None:
        if self.offboard.silence(self._time) > self.settings.offboard_timeout_s:
            self._notify("Offboard set-points lost: holding", True)
            self.mode = Mode.HOLD
            self._begin_mode()

    def _set_home(self) -> None:
        self.home = self.position.copy()
        self.home_yaw = self.yaw

    def _begin_mode(self) -> None:
        """Set the reference and the target of the mode that has just been entered."""
        if not self._estimator.is_initialised:
            return
        self._speed = math.nan
        self._yaw = self.yaw
        self._return_leg = 0
        start = self.position if self.is_landed else self._reference_position()
        self._mover.start(start, np.zeros(3) if self.is_landed else self.velocity)
        target = self._mover.target
        if self.mode is Mode.TAKEOFF:
            ground = self.home if self.home is not None else self.position
            altitude = self._takeoff_altitude
            target[2] = altitude if altitude is not None else (
                ground[2] + self.settings.takeoff_altitude_m
            )  # fmt: skip
            target[2] = max(target[2], start[2])
        elif not self.is_landed:
            speed = self.velocity
            target[:] = start + speed * (
                np.linalg.norm(speed) / (2.0 * self.settings.acceleration_m_s2) + 0.3
            )
        self._write_mover(0.0)

    def _reference_position(self) -> np.ndarray:
        """Return where a new reference starts: the old set-point while it is near, else here."""
        old = self.setpoint.position
        is_near = np.all(np.isfinite(old)) and np.linalg.norm(old - self.position) < 1.0
        return (old if is_near else self.position).copy()

    def _write_setpoint(self, time_s: float, dt: float) -> None:
        if self.mode is Mode.OFFBOARD:
            self._follow_offboard(time_s, dt)
            return
        if self.mode is Mode.RETURN:
            self._plan_return()
        self._write_mover(dt if not self.is_landed else 0.0)
        if self.mode is Mode.LAND:
            self._descend(dt)
        elif self.mode is Mode.TAKEOFF and not self.is_landed:
            height_left = self._mover.target[2] - self._mover.reference[2]
            if height_left < ARRIVED_M:
                self.mode = Mode.HOLD
                self._notify("Takeoff complete: holding", False)

    def _write_mover(self, dt: float) -> None:
        s = self.settings
        climb = s.takeoff_speed_m_s if self.mode is Mode.TAKEOFF else s.climb_speed_m_s
        speed = s.cruise_speed_m_s if math.isnan(self._speed) else self._speed
        values = self.setpoint.values
        if dt > 0.0:
            self._mover.step(
                dt, speed=speed, climb=climb, descent=s.descent_speed_m_s,
                acceleration=s.acceleration_m_s2, jerk=s.jerk_m_s3,
            )  # fmt: skip
        values[:9] = self._mover.reference
        if self.is_landed:
            values[:3] = self._mover.target
        values[P_YAW] = self._yaw
        values[P_YAW_RATE] = 0.0

    def _follow_offboard(self, time_s: float, dt: float) -> None:
        target = self.offboard.target
        assert target is not None
        yaw = self.offboard.write(self.setpoint, time_s, self._yaw)
        if target.is_position_only:
            self._mover.target[:] = target.position
            self._write_mover(dt if not self.is_landed else 0.0)
            self.setpoint.values[P_YAW] = yaw
        if math.isnan(yaw):  # only a rate is asked for: turn the yaw on from where it is
            self._yaw += self.setpoint.values[P_YAW_RATE] * dt
            self.setpoint.values[P_YAW] = self._yaw
        else:
            self._yaw = yaw

    def _descend(self, dt: float) -> None:
        """Ask for a descent without a position: the ground is where it is felt, not where known."""
        s = self.settings
        ground = self.home[2] if self.home is not None else 0.0
        share = (self.position[2] - ground - LAND_SLOW_BELOW_M) / (
            LAND_FAST_ABOVE_M - LAND_SLOW_BELOW_M
        )
        share = min(max(float(share), 0.0), 1.0)
        slow = min(s.land_speed_m_s, s.descent_speed_m_s)
        wished = -(slow + share * (s.descent_speed_m_s - slow))
        step = s.acceleration_m_s2 * dt
        previous = float(self._mover.reference[5]) if self._mover.reference[5] < 0.0 else 0.0
        speed = max(wished, previous - step)
        self._mover.reference[5] = speed
        self._mover.reference[2] = self.position[2]
        self._mover.reference[8] = 0.0
        self._mover.target[2] = self.position[2]
        values = self.setpoint.values
        values[2], values[5], values[8] = math.nan, speed, 0.0

    def _plan_return(self) -> None:
        """Climb to the return height, fly home, then land."""
        if self.home is None:
            self.mode = Mode.LAND
            return
        target = self._mover.target
        is_near = np.hypot(*(self.home[:2] - self.position[:2])) < RETURN_NEAR_M
        if self._return_leg == 0:
            self._return_leg = 1
            if not is_near:
                target[2] = max(
                    self._mover.reference[2], self.home[2] + self.settings.return_altitude_m
                )
        if self._return_leg == 1 and abs(target[2] - self._mover.reference[2]) < ARRIVED_M:
            self._return_leg = 2
            target[:2] = self.home[:2]
        if self._return_leg == 2 and is_near and self._mover.distance < ARRIVED_M:
            self.mode = Mode.LAND
            self._notify("Home reached: landing", False)
