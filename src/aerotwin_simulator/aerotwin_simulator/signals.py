# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What conditions of scenario files can ask of a vehicle: names, units, meanings, values.

Numbers that are not known yet, such as the errors of an autopilot that gives no estimate, are NaN.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import acos, degrees, hypot, nan
from typing import Any, TypeVar

import numpy as np

from aerotwin_core.angles import wrap_deg
from aerotwin_core.frames import rotation_from_quaternion, yaw_from_rotation
from aerotwin_core.time import to_seconds
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.autopilot_state import AutopilotEstimate
from aerotwin_px4_bridge.dialects import NO_MODE
from aerotwin_rendering import WorldQueries
from aerotwin_simulator.robot import SimulatedRobot
from aerotwin_simulator.truth import rotation
from aerotwin_temporal_logic import Signal

FLYING_M = 0.3
"""A vehicle flies from this height above where it stood."""
PHASES = {
    "waiting for the autopilot": "WAITING",
    "waiting until it can arm": "WAITING",
    "taking off": "TAKEOFF",
    "settling": "TAKEOFF",
    "entering offboard": "TAKEOFF",
    "flying": "WAYPOINTS",
    "holding": "HOLDING",
    "landing": "LANDING",
    "finished": "FINISHED",
    "failed": "ABANDONED",
}
"""Words of formulas for the phases of a mission."""
Value = float | bool | str
_Read = TypeVar("_Read", bound=Callable[..., Any])
_DECLARED: dict[str, Signal] = {}


def _signal(kind: str, unit: str = "") -> Callable[[_Read], _Read]:
    """Declare a method of `FlightSignals` as a signal of its name; its docstring is the meaning."""

    def declared(read: _Read) -> _Read:
        name, meaning = read.__name__, (read.__doc__ or "").rstrip(".")
        _DECLARED[name] = Signal(name=name, kind=kind, unit=unit, meaning=meaning)
        return read

    return declared


class FlightSignals:
    """The signals of one vehicle at the present instant; each method is one of them."""

    def __init__(self, vehicle: SimulatedRobot, queries: WorldQueries) -> None:
        self._vehicle, self._queries = vehicle, queries
        self._stamp_ns = 0
        self._p_map_start, self._standing_m = vehicle.p_map_body.copy(), self.height_m()
        self._has_flown = False

    def update(self, stamp_ns: int) -> None:
        """Set the present instant; call it at a steady rate, since some have a memory."""
        self._stamp_ns = stamp_ns
        self._has_flown = self._has_flown or self.flying()

    def values(self, names: Iterable[str]) -> dict[str, Value]:
        """Return the values of signals by name."""
        return {name: getattr(self, name)() for name in names}

    # -- truth --------------------------------------------------------------------------------

    @_signal("number", "s")
    def time_s(self) -> float:
        """Simulated time since the start."""
        return to_seconds(self._stamp_ns)

    @_signal("number", "m")
    def east_m(self) -> float:
        """Position in map, east."""
        return float(self._p_map[0])

    @_signal("number", "m")
    def north_m(self) -> float:
        """Position in map, north."""
        return float(self._p_map[1])

    @_signal("number", "m")
    def up_m(self) -> float:
        """Position in map, up."""
        return float(self._p_map[2])

    @_signal("number", "m")
    def height_m(self) -> float:
        """Height of the centre of mass above the ground below it."""
        return float(self._p_map[2] - self._vehicle.ground_m)

    @_signal("number", "m")
    def home_distance_m(self) -> float:
        """Horizontal distance from the start."""
        east, north, _ = self._p_map - self._p_map_start
        return hypot(east, north)

    @_signal("number", "m")
    def distance_to_world_m(self) -> float:
        """From the centre of mass to the nearest surface, the ground included."""
        return float(self._queries.distance(self._p_map[None])[0])

    @_signal("number", "m")
    def obstacle_distance_m(self) -> float:
        """From the centre of mass to the nearest obstacle; not known while there is none."""
        obstacles = self._queries.objects_at(self._stamp_ns)
        p_map = self._p_map[None]
        return min((float(each.distance(p_map)[0]) for each in obstacles), default=nan)

    @_signal("number", "m/s")
    def speed_m_s(self) -> float:
        """Speed over ground in all directions."""
        return float(np.linalg.norm(self._v_map))

    @_signal("number", "m/s")
    def climb_m_s(self) -> float:
        """Vertical speed, upwards."""
        return float(self._v_map[2])

    @_signal("number", "deg")
    def tilt_deg(self) -> float:
        """Angle between the rotor axes and the vertical."""
        return degrees(acos(min(max(float(self._R_map_body[2, 2]), -1.0), 1.0)))

    @_signal("number", "deg")
    def yaw_deg(self) -> float:
        """Heading from east, counter-clockwise."""
        return degrees(yaw_from_rotation(self._R_map_body))

    @_signal("number", "deg/s")
    def yaw_rate_deg_s(self) -> float:
        """Angular velocity about the vertical axis of the body."""
        return degrees(float(self._vehicle.truth[layout.ANGULAR_VELOCITY][2]))

    @_signal("number", "m/s")
    def wind_speed_m_s(self) -> float:
        """Speed of the air over ground."""
        return float(np.linalg.norm(self._vehicle.wind_map))

    @_signal("number", "%")
    def battery_percent(self) -> float:
        """Remaining charge of the battery."""
        return 100.0 * float(self._vehicle.truth[layout.BATTERY_CHARGE])

    @_signal("number", "V")
    def battery_voltage_v(self) -> float:
        """Voltage of the battery."""
        return float(self._vehicle.truth[layout.BATTERY_VOLTAGE])

    @_signal("boolean")
    def flying(self) -> bool:
        """It is higher than 0.3 m above where it stood, and has not crashed."""
        return self.height_m() - self._standing_m > FLYING_M and not self.crashed()

    @_signal("boolean")
    def landed(self) -> bool:
        """It has flown, stands on the ground and its motors are off."""
        is_still = self._vehicle.truth[layout.N_CONTACTS] > 0.0 and not self.armed()
        return bool(self._has_flown and is_still and not self.crashed())

    @_signal("boolean")
    def crashed(self) -> bool:
        """It hit something, or touched the ground too hard or with its hull."""
        return bool(self._vehicle.truth[layout.IS_CRASHED])

    # -- the autopilot -------------------------------------------------------------------------

    @_signal("boolean")
    def armed(self) -> bool:
        """Its motors are on."""
        return self._vehicle.backend.motors.kind != 0.0

    @_signal("text")
    def mode(self) -> str:
        """Flight mode by PX4's names: TAKEOFF, HOLD, MISSION, OFFBOARD, RETURN, LAND."""
        state = self._vehicle.backend.autopilot_state
        return NO_MODE if state is None else state.common_mode_name

    @_signal("number")
    def progress(self) -> float:
        """Flown share of the mission, 0 to 1."""
        progress = self._vehicle.backend.progress
        return nan if progress is None else progress

    @_signal("text")
    def phase(self) -> str:
        """Phase of the mission: WAITING, TAKEOFF, WAYPOINTS, LANDING, FINISHED, ABANDONED."""
        return PHASES.get(self._vehicle.backend.phase, NO_MODE)

    @_signal("number")
    def waypoint(self) -> float:
        """Number of the waypoint that the mission flies to, from 1; only known on its path."""
        number = self._vehicle.backend.waypoint
        return nan if number is None else float(number)

    @_signal("number", "m")
    def position_error_m(self) -> float:
        """Position of the autopilot's estimate off the truth."""
        return self._norm_of_error(slice(0, 3))

    @_signal("number", "m")
    def horizontal_error_m(self) -> float:
        """Horizontal part of `position_error_m`."""
        return self._norm_of_error(slice(0, 2))

    @_signal("number", "m/s")
    def velocity_error_m_s(self) -> float:
        """Velocity of the autopilot's estimate off the truth."""
        estimate = self._estimate
        if estimate is None:
            return nan
        return float(np.linalg.norm(estimate.v_map - self._v_map))

    @_signal("number", "deg")
    def heading_error_deg(self) -> float:
        """Heading of the autopilot's estimate off the truth, 0 to 180."""
        estimate = self._estimate
        if estimate is None or estimate.q_map_body is None:
            return nan
        R_map_body = rotation_from_quaternion(estimate.q_map_body)
        return abs(wrap_deg(degrees(yaw_from_rotation(R_map_body)) - self.yaw_deg()))

    @_signal("number", "m")
    def setpoint_error_m(self) -> float:
        """The vehicle off the position that the mission wants now."""
        setpoint = self._vehicle.backend.setpoint
        return nan if setpoint is None else float(np.linalg.norm(setpoint.p_map - self._p_map))

    def _norm_of_error(self, axes: slice) -> float:
        estimate = self._estimate
        if estimate is None:
            return nan
        age_s = to_seconds(self._stamp_ns - estimate.stamp_ns)
        p_map = estimate.p_map + age_s * estimate.v_map  # reported at 20 Hz
        return float(np.linalg.norm((p_map - self._p_map)[axes]))

    @property
    def _estimate(self) -> AutopilotEstimate | None:
        return self._vehicle.backend.estimate

    @property
    def _p_map(self) -> np.ndarray:
        return self._vehicle.p_map_body

    @property
    def _v_map(self) -> np.ndarray:
        return self._vehicle.truth[layout.VELOCITY]

    @property
    def _R_map_body(self) -> np.ndarray:
        return rotation(self._vehicle.truth)


class FleetSignals:
    """The signals of all vehicles of a flight: `uav1.height_m` is that of uav1.

    Those without a name are of one vehicle, the first unless another is asked for, or of all.
    """

    def __init__(self, vehicles: Sequence[SimulatedRobot], queries: WorldQueries) -> None:
        self._vehicles = vehicles
        self._own = [FlightSignals(vehicle, queries) for vehicle in vehicles]
        self._of_name = {v.name: own for v, own in zip(vehicles, self._own, strict=True)}

    def update(self, stamp_ns: int) -> None:
        """Set the present instant, as `FlightSignals.update`."""
        for signals in self._own:
            signals.update(stamp_ns)

    def values(self, names: Iterable[str], vehicle: int = 0) -> dict[str, Value]:
        """Return the values of signals by name; those without one are of this vehicle."""
        return {name: self._value(name, vehicle) for name in names}

    def _value(self, name: str, vehicle: int) -> Value:
        if name == SEPARATION:
            return self._separation_m()
        owner, _, signal = name.rpartition(".")
        signals = self._of_name[owner] if owner else self._own[vehicle]
        return signals.values((signal,))[signal]

    def _separation_m(self) -> float:
        present = [vehicle.p_map_body for vehicle in self._vehicles if not vehicle.has_left]
        pairs = combinations(present, 2)
        return min((float(np.linalg.norm(a - b)) for a, b in pairs), default=nan)


SIGNALS: Mapping[str, Signal] = dict(_DECLARED)
"""All signals of a vehicle by name."""
SEPARATION = "separation_m"
FLEET_SIGNALS: Mapping[str, Signal] = {
    SEPARATION: Signal(
        SEPARATION, "number", "m", "Smallest distance between the centres of two vehicles"
    )
}
"""Signals of a fleet."""


def signals_of(vehicles: Sequence[str]) -> dict[str, Signal]:
    """Return the signals of a flight by name, from the names of its vehicles; none is one."""
    if len(vehicles) < 2:
        return dict(SIGNALS)
    named = {
        f"{v}.{name}": replace(s, name=f"{v}.{name}")
        for v in vehicles
        for name, s in SIGNALS.items()
    }
    return {**SIGNALS, **FLEET_SIGNALS, **named}
