# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The state machine: armed or not, on the ground or not, and what each mode asks of the controller.

All times are simulated. The machine never reads a clock and never sends a message: it says what
happened through `notify`, which the MAVLink server passes on. It decides at 50 Hz and after every
command; between two decisions the guidance law it has chosen moves the set-point.
"""

import math
from collections.abc import Callable

import numpy as np

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.control.guidance import Guidance
from aerotwin_autopilot.control.setpoint import Setpoint
from aerotwin_autopilot.estimator.filter import Estimator
from aerotwin_autopilot.estimator.layout import O_ATTITUDE, O_POSITION, O_VELOCITY
from aerotwin_autopilot.failsafe import Battery, Failsafe
from aerotwin_autopilot.landing import GroundContact
from aerotwin_autopilot.mission import Mission
from aerotwin_autopilot.mission_flight import MissionFlight
from aerotwin_autopilot.offboard import AttitudeTarget, OffboardStream
from aerotwin_autopilot.parameters import FlightParameters
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.return_flight import ARRIVED_M, ReturnFlight
from aerotwin_autopilot.settings import Settings

LAND_SLOW_BELOW_M, LAND_FAST_ABOVE_M = 5.0, 10.0
"""Between these heights above home the descent slows to the landing speed."""
LEAVE_GROUND_M_S = 0.3
"""A wished climb faster than this lifts an armed vehicle off the ground."""
LIFTING_THRUST, SINKING_THRUST = 0.6, 0.5
"""Thrust from outside, as part of the weight, that lifts off or lets the ground be felt."""
SETTLED_CLIMB_M = 0.2
Notice = Callable[[str, bool], None]


class FlightModes:
    """What the vehicle is doing.

    Parameters
    ----------
    estimator : Estimator
        Where it believes to be; its arena holds guidance and set-point.
    parameters : FlightParameters
        Defaults of the settings that a ground station may change.
    weight_share : callable
        Part of the weight that a mean rotor command in [0, 1] carries.
    notify : callable
        Called with (text, is_warning) when something happens that a pilot wants to know.
    """

    def __init__(
        self,
        estimator: Estimator,
        parameters: FlightParameters,
        weight_share: Callable[[float], float],
        notify: Notice,
    ) -> None:
        block = estimator.arena.block
        self.settings = Settings(parameters)
        self.mode = Mode.HOLD
        self.is_armed = False
        self.is_landed = True
        self.is_urgent = True
        self.offboard = OffboardStream()
        self.mission = Mission()
        self.battery = Battery(self.settings)
        self.failsafe = Failsafe(self.settings, self.battery)
        self.guidance = Guidance(block(at.A_GUIDANCE, at.N_GUIDANCE))
        self.setpoint = Setpoint(block(at.A_SETPOINT, at.N_SETPOINT))
        self.home: np.ndarray | None = None
        self.home_yaw = 0.0
        self._flight = MissionFlight(self.mission, self.settings)
        self._return = ReturnFlight(self.settings)
        self._estimator = estimator
        self._notify = notify
        self._weight_share = weight_share
        self._contact = GroundContact()
        self._time = 0.0
        self._armed_at = -math.inf
        self._landed_at: float | None = None
        self._lifted_from = -math.inf
        self._takeoff_altitude: float | None = None
        self._speed = math.nan
        self._is_blind = False

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

    def refusals(self) -> list[str]:
        """Return why arming would be refused; empty when it would not."""
        return self._estimator.refusals() + self.failsafe.refusals(self._time)

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
        if self.mode is Mode.MISSION and self.mission.is_finished:
            reasons.append("no mission left to fly")
        if reasons:
            return reasons[0]
        self.is_armed = self.is_urgent = True
        self._armed_at = self._time
        self.failsafe.restart()
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
        self.is_landed = self.is_urgent = True
        self._landed_at = None
        self.mode = Mode.HOLD
        self.guidance.kind = at.STAND
        self._notify("Killed" if force else "Disarmed", force)
        return ""

    def set_mode(self, mode: Mode) -> str:
        """Switch the mode; return the reason of a refusal, or an empty text."""
        if mode is Mode.OFFBOARD and not self.offboard.is_alive(self._time):
            return "Offboard denied: no set-points at 2 Hz"
        if mode is Mode.MISSION and self.mission.is_finished:
            if not self.mission.items:
                return "Mission mode denied: no mission"
            self.mission.current = 0
        if not self._estimator.is_position_valid and (
            mode is not Mode.OFFBOARD or self.offboard.needs_position
        ):
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
        if not self.is_armed or self.is_landed:
            return "Reposition denied: not flying"
        reason = self.set_mode(Mode.HOLD)
        if reason:
            return reason
        target = self.guidance.target
        np.copyto(target, position, where=np.isfinite(position))
        self.guidance.yaw = yaw if math.isfinite(yaw) else self.guidance.yaw
        self._speed = speed if speed > 0.0 else math.nan
        self.is_urgent = True
        return ""

    def change_speed(self, speed: float) -> bool:
        """Set the speed between points; False when it is out of range."""
        self._speed = math.nan
        return self.settings.set("MPC_XY_CRUISE", speed)

    def restart_mission_item(self) -> None:
        """Take up the present item again: plan or item have changed."""
        self._flight.restart()
        self.is_urgent = True

    # --- the decision ----------------------------------------------------------------------

    def step(self, time_s: float, thrust_share: float) -> None:
        """Decide what to do at time_s; `thrust_share` is the thrust as part of the weight."""
        dt = min(time_s - self._time, 0.1)
        self._time = time_s
        self.is_urgent = False
        if self.home is None and self._estimator.is_position_valid:
            self._set_home()
        if not self.is_armed:
            self.guidance.kind = at.STAND
            return
        self.battery.armed_s += dt
        if not self.is_landed:
            self._watch_ground(dt, thrust_share)
            self._fall_back()
        if self.mode is Mode.OFFBOARD:
            self._watch_offboard()
        if self.is_landed:
            self._wait_on_ground()
        if self.is_landed:
            self.guidance.kind = at.STAND
            return
        self._choose_guidance()
        is_settled = self.position[2] > self._lifted_from + SETTLED_CLIMB_M
        self.guidance.values[at.G_INTEGRATES] = float(is_settled)

    def _watch_ground(self, dt: float, thrust_share: float) -> None:
        if self._contact.step(dt, self._wished_climb(), float(self.velocity[2]), thrust_share):
            self.is_landed = True
            self._landed_at = self._time
            self._notify("Landing detected", False)

    def _fall_back(self) -> None:
        """Do what the fail-safes say: no position, low battery, no ground station."""
        is_valid = self._estimator.is_position_valid
        needs_position = self.mode is not Mode.OFFBOARD or self.offboard.needs_position
        if not is_valid and not self._is_blind and needs_position:
            self._is_blind = True
            self._notify("Position lost: landing where the drift goes", True)
            self._enter(Mode.LAND)
        elif is_valid and self._is_blind:
            self._is_blind = False
            self._notify("Position regained", False)
            self._begin_mode()
        mode, text = self.failsafe.act(self._time)
        if text:
            self._notify(text, True)
        if mode and not self._is_blind and self.mode is not Mode.LAND:
            self._enter(mode)

    def _wait_on_ground(self) -> None:
        if self.is_spinning_up:
            return
        if self._landed_at is not None:
            if self._time - self._landed_at > self.settings.disarm_landed_s:
                self.disarm()
            return
        if self._time - self._armed_at > self.settings.disarm_no_takeoff_s:
            self._notify("Disarmed: no take-off", True)
            self.disarm()
        elif self._wants_to_fly():
            self._lift_off()

    def _wants_to_fly(self) -> bool:
        """Return whether the mode asks for more than standing on the ground."""
        if self.mode in (Mode.TAKEOFF, Mode.MISSION):
            return True
        target = self.offboard.target
        if self.mode is not Mode.OFFBOARD or target is None:
            return False
        if isinstance(target, AttitudeTarget):
            return self._weight_share(target.thrust) > LIFTING_THRUST
        climb = 0.0 if math.isnan(target.velocity[2]) else target.velocity[2]
        if math.isfinite(target.position[2]):
            climb += target.position[2] - float(self.position[2])
        return climb > LEAVE_GROUND_M_S

    def _lift_off(self) -> None:
        self.is_landed = self._is_blind = False
        self._landed_at = None
        self._lifted_from = float(self.position[2])
        self._contact.reset()
        self.setpoint.hold(self.position, self.yaw)
        self._begin_mode()
        self._notify("Takeoff detected", False)

    def _wished_climb(self) -> float:
        """Return the vertical speed that is asked for, position error included."""
        if self.guidance.kind == at.ATTITUDE:
            share = self._weight_share(float(self.guidance.values[at.G_THRUST]))
            return -1.0 if share < SINKING_THRUST else 0.0
        z, vz = self.setpoint.values[2], self.setpoint.values[5]
        climb = 0.0 if math.isnan(vz) else float(vz)
        if not math.isnan(z):
            climb += float(z) - float(self.position[2])
        return climb

    def _watch_offboard(self) -> None:
        if self.offboard.silence(self._time) > self.settings.offboard_timeout_s:
            self._notify("Offboard set-points lost: holding", True)
            self._enter(Mode.HOLD)

    def _set_home(self) -> None:
        self.home = self.position.copy()
        self.home_yaw = self.yaw

    def _enter(self, mode: Mode) -> None:
        self.mode = mode
        self._begin_mode()

    def _begin_mode(self) -> None:
        """Set the reference and the target of the mode that has just been entered."""
        if not self._estimator.is_initialised:
            return
        guidance, target = self.guidance, self.guidance.target
        self.is_urgent = True
        self._speed = math.nan
        self._return.restart()
        self._flight.restart()
        guidance.yaw = self.yaw
        start = self.position if self.is_landed else self._reference_position()
        guidance.start(start, np.zeros(3) if self.is_landed else self.velocity)
        if self.mode is Mode.TAKEOFF:
            ground = self.home if self.home is not None else self.position
            altitude = self._takeoff_altitude
            if altitude is None:
                altitude = float(ground[2]) + self.settings.takeoff_altitude_m
            target[2] = max(altitude, start[2])
        elif not self.is_landed:
            speed = self.velocity
            target[:] = start + speed * (
                np.linalg.norm(speed) / (2.0 * self.settings.acceleration_m_s2) + 0.3
            )

    def _reference_position(self) -> np.ndarray:
        """Return where a new reference starts: the old set-point while it is near, else here."""
        old = self.setpoint.position
        is_near = np.all(np.isfinite(old)) and np.linalg.norm(old - self.position) < 1.0
        return (old if is_near else self.position).copy()

    def _choose_guidance(self) -> None:
        guidance, s = self.guidance, self.settings
        guidance.kind = at.TRAVEL
        guidance.limit(
            speed=s.cruise_speed_m_s if math.isnan(self._speed) else self._speed,
            climb=s.takeoff_speed_m_s if self.mode is Mode.TAKEOFF else s.climb_speed_m_s,
            descent=s.descent_speed_m_s, acceleration=s.acceleration_m_s2, jerk=s.jerk_m_s3,
        )  # fmt: skip
        if self.mode is Mode.OFFBOARD:
            self.offboard.write(guidance)
        elif self.mode is Mode.MISSION:
            self._fly_mission()
        elif self.mode is Mode.RETURN:
            self._fly_home()
        elif self.mode is Mode.TAKEOFF and (guidance.target[2] - guidance.reference[2] < ARRIVED_M):
            self.mode = Mode.HOLD
            self._notify("Takeoff complete: holding", False)
        if self.mode is Mode.LAND:
            self._descend()

    def _fly_mission(self) -> None:
        flight, plane = self._flight, self._estimator.plane
        if plane is None or self.home is None:
            self._notify("Mission: no place on Earth known, holding", True)
            self._enter(Mode.HOLD)
            return
        step = flight.step(self.guidance, self.position, plane, self.home, self._time)
        if not math.isnan(step.speed):
            self._speed = step.speed
        if step.mode is not None:
            self._notify(f"Mission: {step.text}", False)
            self._enter(step.mode)

    def _descend(self) -> None:
        """Sink, slower near the ground; without a position, where the drift goes."""
        s, guidance = self.settings, self.guidance
        ground = self.home[2] if self.home is not None else 0.0
        span = LAND_FAST_ABOVE_M - LAND_SLOW_BELOW_M
        share = (self.position[2] - ground - LAND_SLOW_BELOW_M) / span
        share = 0.0 if self._is_blind else min(max(float(share), 0.0), 1.0)
        slow = min(s.land_speed_m_s, s.descent_speed_m_s)
        guidance.values[at.G_SINK] = -(slow + share * (s.descent_speed_m_s - slow))
        guidance.kind = at.DESCEND
        if self._is_blind:
            guidance.target[:] = math.nan

    def _fly_home(self) -> None:
        if self.home is None:
            self._enter(Mode.LAND)
        elif self._return.step(self.guidance, self.position, self.home):
            self._notify("Home reached: landing", False)
            self._enter(Mode.LAND)
