# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAV_CMD: the action and the answer of each command."""

import math
from dataclasses import dataclass, replace

import numpy as np

from aerotwin_autopilot import mission as plan
from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mission import HIGHEST_M, HORIZONTAL_SPEEDS, LOWEST_M
from aerotwin_autopilot.orbit import Orbit
from aerotwin_autopilot.px4_modes import Mode, mode_from_numbers
from aerotwin_px4_bridge.messages import yaw_map_from_ned

ACCEPTED, REJECTED, DENIED, UNSUPPORTED, FAILED, UNSUPPORTED_FRAME = 0, 1, 2, 3, 4, 8
"""MAV_RESULT; `REJECTED` is temporary: the same command may work later."""

FORCE = 21196  # magic number of COMPONENT_ARM_DISARM: do it although it is dangerous
NOT_SET = 0x7FFFFFFF
RELATIVE_FRAMES = (3, 6)
FRAMES = (0, 3, 5, 6)
FARTHEST_M = 1e6  # a position further from the local origin is not plausible
SPEED_AS_IT_IS, SPEED_BY_DEFAULT = -1.0, -2.0


@dataclass(frozen=True, kw_only=True)
class MavlinkCommand:
    """A COMMAND_LONG or COMMAND_INT; latitude and longitude are degrees, NaN when not provided."""

    number: int
    parameters: tuple[float, float, float, float]
    latitude_deg: float = math.nan
    longitude_deg: float = math.nan
    altitude_m: float = math.nan
    frame: int = 0


def command_from_long(message: object) -> MavlinkCommand:
    """Return the command of a pymavlink COMMAND_LONG."""
    m = message
    return MavlinkCommand(
        number=m.command,  # type: ignore[attr-defined]
        parameters=(m.param1, m.param2, m.param3, m.param4),  # type: ignore[attr-defined]
        latitude_deg=m.param5,  # type: ignore[attr-defined]
        longitude_deg=m.param6,  # type: ignore[attr-defined]
        altitude_m=m.param7,  # type: ignore[attr-defined]
    )


def command_from_int(message: object) -> MavlinkCommand:
    """Return the command of a pymavlink COMMAND_INT."""
    m = message
    x, y = m.x, m.y  # type: ignore[attr-defined]
    return MavlinkCommand(
        number=m.command,  # type: ignore[attr-defined]
        parameters=(m.param1, m.param2, m.param3, m.param4),  # type: ignore[attr-defined]
        latitude_deg=math.nan if x == NOT_SET else x * 1e-7,
        longitude_deg=math.nan if y == NOT_SET else y * 1e-7,
        altitude_m=m.z,  # type: ignore[attr-defined]
        frame=m.frame,  # type: ignore[attr-defined]
    )


def execute(autopilot: Autopilot, command: MavlinkCommand) -> tuple[int, str]:
    """Execute a command on the vehicle; return MAV_RESULT and the reason of a refusal."""
    handler = HANDLERS.get(command.number)
    if handler is None:
        return UNSUPPORTED, f"command {command.number} not supported"
    if command.number in WITH_PLACE and command.frame not in FRAMES:
        return UNSUPPORTED_FRAME, f"command {command.number}: frame {command.frame} not supported"
    return handler(autopilot, command)


def finite(value: float, otherwise: float = 0.0) -> float:
    """Return the value, or another one in place of NaN and infinity."""
    return value if math.isfinite(value) else otherwise


def _arm_disarm(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    is_forced = round(finite(c.parameters[1])) == FORCE
    wish = c.parameters[0]
    if wish not in (0.0, 1.0):
        return DENIED, f"arm: parameter 1 must be 0 or 1, got {wish:g}"
    reason = a.modes.arm() if wish == 1.0 else a.modes.disarm(force=is_forced)
    prefix = "Arming denied: " if wish == 1.0 else ""
    return _result(f"{prefix}{reason}" if reason else "")


def _check_arming(a: Autopilot, _: MavlinkCommand) -> tuple[int, str]:
    """Report every reason against arming, as PX4 does on request."""
    if a.modes.is_armed:
        return REJECTED, "Preflight checks denied: armed"
    for reason in a.modes.refusals():
        a.say(f"Preflight fail: {reason}", is_warning=True)
    return ACCEPTED, ""


def _set_mode(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    base, main, sub = (round(finite(value)) for value in c.parameters[:3])
    if not base & 1:
        return DENIED, "mode: only custom modes are known; set bit 0 of parameter 1"
    mode = mode_from_numbers(main, sub)
    if mode is None:
        return DENIED, f"mode {main}/{sub} not known"
    return _result(a.modes.set_mode(mode))


def _take_off(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    height = None
    if math.isfinite(c.altitude_m):
        place = _local(a, c)
        height = float(place[2])
        if not math.isfinite(height):
            return REJECTED, "Takeoff denied: no position"
        if not _is_plausible(a, place):
            return DENIED, "Takeoff denied: altitude not plausible"
    return _result(a.modes.take_off(height))


def _land(a: Autopilot, _: MavlinkCommand) -> tuple[int, str]:
    return _result(a.modes.set_mode(Mode.LAND))


def _return(a: Autopilot, _: MavlinkCommand) -> tuple[int, str]:
    return _result(a.modes.set_mode(Mode.RETURN))


def _reposition(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    speed, _, _, heading = c.parameters
    yaw = math.nan
    if math.isfinite(heading):
        yaw = yaw_map_from_ned(math.remainder(heading, math.tau))
    place = _local(a, c)
    if not _is_plausible(a, place):
        return DENIED, "Reposition denied: place not plausible"
    return _result(a.modes.go_to(place, yaw, finite(speed, -1.0)))


def _change_speed(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    """Set the speed between points; climb and descent have their own parameters."""
    kind, speed = c.parameters[:2]
    if kind not in HORIZONTAL_SPEEDS:
        return DENIED, f"speed: type {kind:g} not supported; 0 and 1 are"
    if speed == SPEED_AS_IT_IS:
        return ACCEPTED, ""
    if speed == SPEED_BY_DEFAULT:
        speed = a.parameters.flight.cruise_speed_m_s
    if not a.modes.change_speed(speed):
        return DENIED, f"speed {speed:g} m/s is out of range"
    return ACCEPTED, ""


def _orbit(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    """Start an orbit. Whatever the frame, its altitude is above sea level, as in PX4."""
    radius, speed, behaviour, _ = c.parameters
    place = _local(a, replace(c, frame=FRAMES[0]))
    if not _is_plausible(a, place):
        return DENIED, "Orbit denied: place not plausible"
    return _result(
        a.modes.circle(
            Orbit(
                radius_m=finite(radius, math.nan),
                speed_m_s=finite(speed, math.nan),
                yaw_behaviour=round(finite(behaviour)),
                centre=tuple(place.tolist()),
            )
        )
    )


def _look_at(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    """Point the nose at a position during a mission; no position ends it."""
    has_place = math.isfinite(c.latitude_deg) and math.isfinite(c.longitude_deg)
    is_place = c.number == plan.ROI_LOCATION or c.parameters[0] == plan.ROI_AT_LOCATION
    if is_place and not has_place:
        return DENIED, "Region of interest: no place given"
    a.modes.mission.roi = (c.latitude_deg, c.longitude_deg) if is_place else None
    return ACCEPTED, ""


def _store(_: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    """Save or load parameters: they last as long as this process."""
    if c.parameters[0] not in (0.0, 1.0):
        return DENIED, "Storage: only loading and saving of parameters is known"
    return ACCEPTED, ""


def _set_home(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    if a.estimator.plane is None:
        return REJECTED, "Set home denied: no position"
    position = a.modes.position if c.parameters[0] == 1.0 else _local(a, c)
    if not np.all(np.isfinite(position)):
        return DENIED, "Set home denied: no place given"
    if not _is_plausible(a, position):
        return DENIED, "Set home denied: place not plausible"
    a.modes.home = np.array(position)
    return ACCEPTED, ""


def _terminate(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    """Stop the rotors at once, wherever the vehicle is."""
    if c.parameters[0] <= 0.5:
        return DENIED, "flight termination: parameter 1 must be 1"
    return _result(a.modes.disarm(force=True))


def _start_mission(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    first = round(finite(c.parameters[0]))
    mission = a.modes.mission
    if mission.items and first > 0 and not mission.set_current(first):
        return DENIED, f"mission: no item {first}"
    return _result(a.modes.set_mode(Mode.MISSION))


def _set_mission_current(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    number = round(finite(c.parameters[0], -1.0))
    if not a.modes.mission.set_current(number):
        return DENIED, f"mission: no item {number}"
    a.modes.restart_mission_item()
    return ACCEPTED, ""


def _pause_or_go_on(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    is_pause = round(finite(c.parameters[0])) == 0
    return _result(a.modes.set_mode(Mode.HOLD if is_pause else Mode.MISSION))


def _inject_failure(a: Autopilot, c: MavlinkCommand) -> tuple[int, str]:
    """Break a sensor or motor, or mend it; only with SYS_FAILURE_EN, as in PX4."""
    if not a.modes.settings.values.takes_failures:
        return DENIED, "Failure injection denied: SYS_FAILURE_EN is 0"
    unit, kind, instance = (round(finite(value, -1.0)) for value in c.parameters[:3])
    reason = a.failures.inject(unit, kind, instance)
    return (UNSUPPORTED, reason) if reason else (ACCEPTED, "")


def _local(a: Autopilot, c: MavlinkCommand) -> np.ndarray:
    """Return the position of a command in local axes; NaN for missing values."""
    plane, home = a.estimator.plane, a.modes.home
    if plane is None or home is None:
        return np.full(3, math.nan)
    latitude, longitude, home_altitude = plane.to_geodetic(a.modes.position)
    has_place = math.isfinite(c.latitude_deg) and math.isfinite(c.longitude_deg)
    has_place = has_place and abs(c.latitude_deg) <= 90.0 and abs(c.longitude_deg) <= 180.0
    altitude = c.altitude_m
    if c.frame in RELATIVE_FRAMES:
        altitude += plane.to_geodetic(home)[2]
    place = plane.from_geodetic(
        c.latitude_deg if has_place else latitude,
        c.longitude_deg if has_place else longitude,
        altitude if math.isfinite(altitude) else home_altitude,
    )
    if not has_place:
        place[:2] = math.nan
    if not math.isfinite(altitude):
        place[2] = math.nan
    return place


def _is_plausible(a: Autopilot, place: np.ndarray) -> bool:
    """Return whether a position is plausible; missing values are those of the vehicle."""
    plane = a.estimator.plane
    if plane is None:
        return True
    full = np.where(np.isfinite(place), place, a.modes.position)
    if not np.all(np.abs(full) <= FARTHEST_M):
        return False
    return bool(LOWEST_M <= plane.to_geodetic(full)[2] <= HIGHEST_M)


def _result(reason: str) -> tuple[int, str]:
    return (REJECTED, reason) if reason else (ACCEPTED, "")


HANDLERS = {
    20: _return,
    34: _orbit,
    21: _land,
    22: _take_off,
    176: _set_mode,
    178: _change_speed,
    179: _set_home,
    185: _terminate,
    192: _reposition,
    193: _pause_or_go_on,
    195: _look_at,
    197: _look_at,
    201: _look_at,
    224: _set_mission_current,
    245: _store,
    300: _start_mission,
    400: _arm_disarm,
    401: _check_arming,
    420: _inject_failure,
}
"""MAV_CMD number -> handler; requests for messages are the server's."""

WITH_PLACE = (22, 34, 179, 192, 195, 201)
"""Commands that read latitude, longitude or altitude: these need a frame that is known."""
