# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The state machine: armed or not, on the ground or not, and the guidance of each mode.

All times are simulated. The machine never reads a clock and never sends a message: it reports
events through `notify`, which the MAVLink server passes on. It decides at 50 Hz and after every
command; between two decisions the selected guidance law moves the set-point.
"""

import math
from collections.abc import Callable

import numpy as np

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.course import Course
from aerotwin_autopilot.estimator.filter import Estimator
from aerotwin_autopilot.failsafe import Failsafe, FailsafeBattery
from aerotwin_autopilot.geofence import TERMINATE, Geofence
from aerotwin_autopilot.landing import GroundContact
from aerotwin_autopilot.manual_control import ManualControl, StickLoss
from aerotwin_autopilot.offboard import AttitudeTarget
from aerotwin_autopilot.orbit import Orbit
from aerotwin_autopilot.parameters import TunableParameters
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.settings import Settings

LEAVE_GROUND_M_S = 0.3  # a desired climb faster than this lifts an armed vehicle off the ground
LIFTING_THRUST, SINKING_THRUST = 0.6, 0.5
"""External thrust, as part of the weight, that lifts off or enables ground detection."""
SETTLED_CLIMB_M = 0.2
Notice = Callable[[str, bool], None]


class FlightModes:
    """The state of the vehicle: armed, landed, mode.

    `estimator`: its arena holds guidance and set-point. `parameters`: defaults of the settings that
    a ground station may change. `weight_share`: share of the weight carried by a mean rotor command
    in [0, 1]. `notify`: called with (text, is_warning) for events relevant to the pilot.
    """

    def __init__(
        self,
        estimator: Estimator,
        parameters: TunableParameters,
        weight_share: Callable[[float], float],
        notify: Notice,
    ) -> None:
        self.settings = Settings(parameters)
        self.mode = Mode.HOLD
        self.is_armed = False
        self.is_landed = True
        self.is_urgent = True
        self.manual = ManualControl(self.settings, _command_of(weight_share))
        self._stick_loss = StickLoss(self.settings)
        self.course = course = Course(estimator, self.settings, self.manual)
        self.guidance, self.setpoint = course.guidance, course.setpoint
        self.offboard, self.mission = course.offboard, course.mission
        self.battery = FailsafeBattery(self.settings)
        self.failsafe = Failsafe(self.settings, self.battery)
        self.geofence = Geofence(self.settings)
        self._estimator = estimator
        self._notify = notify
        self._weight_share = weight_share
        self._contact = GroundContact()
        self._time = 0.0
        self._armed_at = -math.inf
        self._landed_at: float | None = None
        self._lifted_from = -math.inf
        self._is_blind = False

    # --- queries ---------------------------------------------------------------------------

    @property
    def position(self) -> np.ndarray:
        """Estimated position, local axes [m]."""
        return self.course.position

    @property
    def velocity(self) -> np.ndarray:
        """Estimated velocity, local axes [m/s]."""
        return self.course.velocity

    @property
    def yaw(self) -> float:
        """Estimated yaw from east [rad]."""
        return self.course.yaw

    @property
    def home(self) -> np.ndarray | None:
        """Position to return to, local axes [m]; None before the first position."""
        return self.course.haven.home

    @home.setter
    def home(self, place: np.ndarray) -> None:
        self.course.haven.home = place

    @property
    def home_yaw(self) -> float:
        """Yaw at home, from east [rad]."""
        return self.course.haven.yaw

    @property
    def is_spinning_up(self) -> bool:
        """True shortly after arming, while the rotors only idle."""
        return self.is_armed and self._time - self._armed_at < self.settings.values.spool_up_s

    def refusals(self) -> list[str]:
        """Return the reasons against arming; empty if there are none."""
        fence = self.geofence.breach(self.position, self._estimator.plane, self.home)
        return [
            *self._estimator.refusals(),
            *self.failsafe.refusals(self._time),
            *([fence] if fence and self.settings.values.fence_action else []),
        ]

    def state_of_landing(self) -> int:
        """Return MAV_LANDED_STATE: 1 on ground, 2 in air, 3 taking off, 4 landing."""
        if self.is_landed:
            return 1
        return {Mode.TAKEOFF: 3, Mode.LAND: 4}.get(self.mode, 2)

    # --- commands --------------------------------------------------------------------------

    def arm(self) -> str:
        """Arm; return the reason of a refusal, or an empty text."""
        if self.is_armed:
            return ""
        reasons = self.refusals()
        if self.mode is Mode.OFFBOARD and not self.offboard.is_alive(
            self._time, self.settings.values.offboard_timeout_s
        ):
            reasons.append("no offboard set-points")
        if self.mode is Mode.MISSION and self.mission.is_finished:
            reasons.append("no mission left to fly")
        if self.mode.needs_sticks and not self.manual.is_alive(self._time):
            reasons.append("no manual control")
        if reasons:
            return reasons[0]
        self.is_armed = self.is_urgent = True
        self._armed_at = self._time
        self.failsafe.restart()
        self._set_home()
        self._enter(self.mode)
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
        reason = self._refusal_of(mode) if self.is_armed else ""
        if reason:
            return reason
        self._stick_loss.forget()
        self._is_blind = self._is_blind and self._needs_position(mode)
        if mode is Mode.MISSION and self.mission.is_finished:
            self.mission.set_current(0)
        if mode is not self.mode or mode in (Mode.HOLD, Mode.TAKEOFF):
            self.course.takeoff_altitude = None
            self._enter(mode)
        return ""

    def _refusal_of(self, mode: Mode) -> str:
        """Return why an armed vehicle cannot enter a mode; disarmed, `arm` checks it (as PX4)."""
        if mode is Mode.OFFBOARD and not self.offboard.is_alive(
            self._time, self.settings.values.offboard_timeout_s
        ):
            return "Offboard denied: no set-points"
        if mode is Mode.MISSION and not self.mission.items:
            return "Mission mode denied: no mission"
        if mode.needs_sticks and not self.manual.is_alive(self._time):
            return f"Mode {mode.name} denied: no manual control"
        if self._needs_position(mode) and not self._estimator.is_position_valid:
            return f"Mode {mode.name} denied: no position"
        return ""

    def _needs_position(self, mode: Mode) -> bool:
        """Return whether a mode flies by the position."""
        if mode is Mode.OFFBOARD:
            return self.offboard.needs_position
        return mode not in (Mode.STABILIZED, Mode.ALTITUDE)

    def take_off(self, altitude: float | None) -> str:
        """Enter take-off to a local height, or to the default height above home."""
        reason = self.set_mode(Mode.TAKEOFF)
        if not reason:
            self.course.takeoff_altitude = altitude
            self._enter(Mode.TAKEOFF)
        return reason

    def go_to(self, position: np.ndarray, yaw: float, speed: float) -> str:
        """Hold at another position, in local axes; yaw NaN retains the present one."""
        if not self.is_armed or self.is_landed:
            return "Reposition denied: not flying"
        reason = self.set_mode(Mode.HOLD)
        if reason:
            return reason
        target = self.guidance.target
        np.copyto(target, position, where=np.isfinite(position))
        self.guidance.yaw = yaw if math.isfinite(yaw) else self.guidance.yaw
        self.course.speed = speed if speed > 0.0 else math.nan
        self.is_urgent = True
        return ""

    def circle(self, orbit: Orbit) -> str:
        """Fly an orbit; return the reason of a refusal, or an empty text."""
        if not orbit.is_possible:
            return "Orbit denied: radius out of range"
        if not self.is_armed or self.is_landed:
            return "Orbit denied: not flying"
        reason = self._refusal_of(Mode.ORBIT)
        if not reason:
            self.course.orbit.request = orbit
            self._enter(Mode.ORBIT)
        return reason

    def change_speed(self, speed: float) -> bool:
        """Set the speed between points; False when it is out of range."""
        self.course.speed = math.nan
        return self.settings.set("MPC_XY_CRUISE", speed)

    def restart_mission_item(self) -> None:
        """Restart the present item after a change of plan or item."""
        self.course.restart_mission_item()
        self.is_urgent = True

    # --- the decision ----------------------------------------------------------------------

    def step(self, time_s: float, thrust_share: float) -> None:
        """Decide at time_s; `thrust_share` is the thrust as part of the weight."""
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
        self._steer()
        is_settled = self.position[2] > self._lifted_from + SETTLED_CLIMB_M
        self.guidance.values["integrates"] = float(is_settled)

    def _steer(self) -> None:
        """Let the mode choose the guidance; when it has finished, enter the next one."""
        following = self.course.step(self.mode, self._time, is_blind=self._is_blind)
        if following is None:
            return
        self._notify(following.text, following.is_warning)
        if following.holds_target:
            self.mode = following.mode
        else:
            self._enter(following.mode)
            self.course.step(self.mode, self._time, is_blind=self._is_blind)

    def _watch_ground(self, dt: float, thrust_share: float) -> None:
        if self._contact.step(dt, self._wished_climb(), float(self.velocity[2]), thrust_share):
            self.is_landed = True
            self._landed_at = self._time
            self._notify("Landing detected", False)

    def _fall_back(self) -> None:
        """Apply the fail-safes: sticks, battery, ground station, fence; then that of the position.

        The last is for the modes of the others, too: without a position they end in a landing.
        """
        fence = self.geofence.act(self.position, self._estimator.plane, self.home)
        sticks = self._stick_loss.act(
            self.mode, is_alive=self.manual.is_alive(self._time), time_s=self._time
        )
        for mode, text in (sticks, self.failsafe.act(self._time), fence):
            if text:
                self._notify(text, True)
            if mode and not self._is_blind and self.mode is not Mode.LAND:
                self._enter(mode)
        self._watch_position()
        if fence[1] and self.settings.values.fence_action == TERMINATE:
            self.disarm(force=True)

    def _watch_position(self) -> None:
        is_valid = self._estimator.is_position_valid
        if not is_valid and not self._is_blind and self._needs_position(self.mode):
            self._is_blind = True
            self._notify("Position lost: landing where the drift goes", True)
            self._enter(Mode.LAND)
        elif is_valid and self._is_blind:
            self._is_blind = False
            self._notify("Position regained", False)
            self._enter(self.mode)

    def _wait_on_ground(self) -> None:
        if self.is_spinning_up:
            return
        if self._landed_at is not None:
            if self._time - self._landed_at > self.settings.values.disarm_landed_s:
                self.disarm()
            return
        if self._time - self._armed_at > self.settings.values.disarm_no_takeoff_s:
            self._notify("Disarmed: no take-off", True)
            self.disarm()
        elif self._is_flight_requested():
            self._lift_off()

    def _is_flight_requested(self) -> bool:
        """Return whether the mode requires leaving the ground."""
        if self.mode in (Mode.TAKEOFF, Mode.MISSION):
            return True
        if self.mode is Mode.STABILIZED:
            return self._weight_share(self.manual.thrust_command) > LIFTING_THRUST
        if self.mode.needs_sticks:
            return self.manual.climb_m_s > LEAVE_GROUND_M_S
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
        self._enter(self.mode)
        self.course.lift_off()
        self._notify("Takeoff detected", False)

    def _wished_climb(self) -> float:
        """Return the desired vertical speed, position error included."""
        if self.guidance.kind == at.ATTITUDE:
            share = self._weight_share(float(self.guidance.values["thrust"]))
            return -1.0 if share < SINKING_THRUST else 0.0
        z, vz = self.setpoint.values[2], self.setpoint.values[5]
        climb = 0.0 if math.isnan(vz) else float(vz)
        if not math.isnan(z):
            climb += float(z) - float(self.position[2])
        return climb

    def _watch_offboard(self) -> None:
        if self.offboard.silence(self._time) > self.settings.values.offboard_timeout_s:
            self._notify("Offboard set-points lost: holding", True)
            self._enter(Mode.HOLD)

    def _set_home(self) -> None:
        haven = self.course.haven
        haven.home, haven.yaw = self.position.copy(), self.yaw

    def _enter(self, mode: Mode) -> None:
        """Begin a mode: its reference, its target."""
        self.mode = mode
        self.is_urgent = True
        self.course.begin(mode, is_landed=self.is_landed)


def _command_of(weight_share: Callable[[float], float]) -> float:
    """Return the mean rotor command that carries the weight, by halving; 1 if none does."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if weight_share(middle) < 1.0 else (low, middle)
    return high
