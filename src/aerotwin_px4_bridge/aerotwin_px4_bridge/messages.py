# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion to MAVLink: the only module with FRD, NED, gauss, hPa and 1e7 degrees.

Inside aerotwin everything is ENU, FLU and SI; a function here packs such values into the bytes of
one MAVLink 2 frame, or parses a payload. Both directions exist for each HIL message, because the
embedded autopilot uses the same link. Non-finite values are rejected in both directions.

References: MAVLink common.xml, messages 0, 93, 107, 113; PX4 v1.14 SimulatorMavlink.hpp for the
bits of `fields_updated`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import atan2, degrees, hypot, isfinite, pi
from typing import NamedTuple

import numpy as np

from aerotwin_px4_bridge import hil_kernels as kernels
from aerotwin_px4_bridge.mavlink2 import (
    HEARTBEAT,
    HIL_ACTUATOR_CONTROLS,
    HIL_GPS,
    HIL_SENSOR,
    KNOWN,
    BadMessage,
    pack_frame,
)

Vector = tuple[float, float, float]

GENERIC, NO_AUTOPILOT, ACTIVE, MAVLINK_VERSION = 0, 8, 4, 3  # MAV_TYPE, _AUTOPILOT, _STATE
OPERATOR = 250, 190
"""System and component of the ground station of a scenario; QGroundControl is 255, 190."""
SIMULATOR_SYSTEM_ID = 1
SIMULATOR_COMPONENT_ID = 200

GAUSS_PER_TESLA = kernels.GAUSS_PER_TESLA
PASCAL_PER_HPA = kernels.PASCAL_PER_HPA
KELVIN_OF_0_C = kernels.KELVIN_OF_0_C
FIELDS_IMU, FIELDS_MAG, FIELDS_BARO = kernels.FIELDS_IMU, kernels.FIELDS_MAG, kernels.FIELDS_BARO
COURSE_UNKNOWN = 65535
IS_ARMED, IS_CUSTOM_MODE = kernels.IS_ARMED, kernels.IS_CUSTOM_MODE
IS_LOCKSTEP = kernels.IS_LOCKSTEP
N_CONTROLS = kernels.N_CONTROLS
AUTOPILOT_COMPONENT_ID = kernels.AUTOPILOT_COMPONENT_ID

_controls = np.empty(N_CONTROLS)  # of the answer that is being read
_payload = np.empty(kernels.PAYLOAD_BYTES, np.uint8)  # of the sample that is being read
_LAYOUT = KNOWN[HIL_ACTUATOR_CONTROLS]


@dataclass(frozen=True, slots=True)
class HilSensor:
    """Readings of the simulated IMU, magnetometer and barometer at one instant (FLU, SI)."""

    time_us: int
    specific_force_body: Vector
    angular_velocity_body: Vector
    magnetic_field_body_tesla: Vector | None
    pressure_pa: float | None
    temperature_k: float | None


@dataclass(frozen=True, slots=True)
class HilGps:
    """Fix of the simulated GNSS receiver (ENU, SI, altitude as sent)."""

    time_us: int
    latitude_deg: float
    longitude_deg: float
    altitude_m: float
    v_map: Vector
    eph_m: float
    epv_m: float
    fix_type: int
    n_satellites: int


def ned_from_enu(vector: Iterable[float]) -> Vector:
    """Return a vector with east-north-up axes in north-east-down axes."""
    east, north, up = vector
    return float(north), float(east), -float(up)


def enu_from_ned(vector: Iterable[float]) -> Vector:
    """Return a vector with north-east-down axes in east-north-up axes."""
    north, east, down = vector
    return float(east), float(north), -float(down)


def yaw_ned_from_map(yaw: float) -> float:
    """Return the heading [rad] in (-pi, pi], clockwise from north, of a yaw from east."""
    return _wrapped(pi / 2.0 - yaw)


def yaw_map_from_ned(yaw: float) -> float:
    """Return the yaw [rad] in (-pi, pi], counter-clockwise from east, of a heading."""
    return _wrapped(pi / 2.0 - yaw)


def _wrapped(angle: float) -> float:
    turns = -((angle - pi) // (2.0 * pi))
    wrapped = angle + 2.0 * pi * turns - 2.0 * pi
    return wrapped + 2.0 * pi if wrapped <= -pi else wrapped


def heartbeat_payload(mav_type: int, autopilot: int) -> bytes:
    """Return the payload of a MAVLink 2 HEARTBEAT of an active component."""
    return KNOWN[HEARTBEAT].pack(0, mav_type, autopilot, 0, ACTIVE, MAVLINK_VERSION)


def pack_heartbeat(
    *,
    mav_type: int = GENERIC,
    autopilot: int = NO_AUTOPILOT,
    sequence: int = 0,
    system_id: int = SIMULATOR_SYSTEM_ID,
    component_id: int = SIMULATOR_COMPONENT_ID,
) -> bytes:
    """Return a HEARTBEAT; by default that of a simulator."""
    return pack_frame(
        HEARTBEAT,
        heartbeat_payload(mav_type, autopilot),
        sequence=sequence,
        system_id=system_id,
        component_id=component_id,
    )


def pack_hil_sensor(
    time_us: int,
    specific_force_body: Iterable[float],
    angular_velocity_body: Iterable[float],
    magnetic_field_body_tesla: Iterable[float] | None = None,
    pressure_pa: float | None = None,
    temperature_k: float | None = None,
    *,
    sequence: int = 0,
) -> bytes:
    """Return a HIL_SENSOR of the primary sensors, always with the IMU.

    Parameters
    ----------
    time_us : int
        Simulated time; it becomes the autopilot's clock and must increase.
    specific_force_body, angular_velocity_body : (3,) sequence
        FLU body axes [m/s^2], [rad/s].
    magnetic_field_body_tesla : (3,) sequence, optional
        FLU body axes; None when no new sample is due.
    pressure_pa, temperature_k : float, optional
        Static pressure and air temperature; both or neither.

    Raises
    ------
    ValueError
        If a value is not finite or does not fit its field.
    """
    sample = np.zeros(kernels.N_SAMPLE)
    sample[kernels.FORCE : kernels.RATE] = specific_force_body
    sample[kernels.RATE : kernels.FIELD] = angular_velocity_body
    flags = 0
    if magnetic_field_body_tesla is not None:
        sample[kernels.FIELD : kernels.PRESSURE] = magnetic_field_body_tesla
        flags = kernels.HAS_FIELD
    if pressure_pa is not None:
        if temperature_k is None or pressure_pa <= 0.0:
            raise ValueError(f"pressure_pa must be above 0 with a temperature, got {pressure_pa}")
        sample[kernels.PRESSURE], sample[kernels.TEMPERATURE] = pressure_pa, temperature_k
        flags |= kernels.HAS_PRESSURE
    return pack_hil_sensor_sample(time_us, sample, flags, sequence=sequence)


def pack_hil_sensor_sample(
    time_us: int, sample: np.ndarray, flags: int, *, sequence: int = 0
) -> bytes:
    """Return the HIL_SENSOR of a sample in one array: the fastest way.

    `sample`: FLU, SI, at the indices that `hil_kernels` names. `flags`: `HAS_FIELD`, `HAS_PRESSURE`
    of `hil_kernels`. Raises ValueError if a value is not finite or does not fit its field.
    """
    frame = np.empty(kernels.FRAME_BYTES, dtype=np.uint8)
    length = kernels.pack_sensor(
        frame, time_us, sample, flags, sequence, SIMULATOR_SYSTEM_ID, SIMULATOR_COMPONENT_ID
    )
    if length < 0:
        raise ValueError(f"HIL_SENSOR at {time_us} us must hold finite values that fit its fields")
    return frame[:length].tobytes()


def pack_hil_gps(
    time_us: int,
    latitude_deg: float,
    longitude_deg: float,
    altitude_m: float,
    v_map: Iterable[float],
    *,
    eph_m: float = 0.3,
    epv_m: float = 0.4,
    n_satellites: int = 10,
    fix_type: int = 3,
) -> bytes:
    """Return a HIL_GPS.

    Parameters
    ----------
    latitude_deg, longitude_deg, altitude_m : float
        Position; the altitude is sent unchanged (PX4 reads it as above mean sea level).
    v_map : (3,) sequence
        Velocity, ENU [m/s].
    eph_m, epv_m : float
        One-sigma horizontal and vertical accuracy.
    n_satellites, fix_type : int
        As in common.xml; fix type 3 is a three-dimensional fix, 0 none.

    Raises
    ------
    ValueError
        If a value is not finite or does not fit its field.
    """
    north, east, down = ned_from_enu(v_map)
    speed = hypot(north, east)
    if not isfinite(latitude_deg + longitude_deg + altitude_m + speed + down + eph_m + epv_m):
        raise ValueError(f"HIL_GPS at {time_us} us must hold finite values")
    course = COURSE_UNKNOWN if speed < 0.1 else round(degrees(atan2(east, north)) * 100) % 36000
    return simulator_frame(
        HIL_GPS, time_us,
        round(latitude_deg * 1e7), round(longitude_deg * 1e7), round(altitude_m * 1e3),
        min(round(eph_m * 100), 65534), min(round(epv_m * 100), 65534), round(speed * 100),
        round(north * 100), round(east * 100), round(down * 100),
        course, fix_type, n_satellites, 0, 0,
    )  # fmt: skip


def simulator_frame(message_id: int, *values: float) -> bytes:
    """Return a frame of the simulator, from values in wire order.

    Raises ValueError if a value is not finite or does not fit its field.
    """
    layout = KNOWN[message_id]
    if not isfinite(sum(values)):
        raise ValueError(f"{layout.name} must hold finite values, got {values}")
    return layout.frame(
        layout.pack(*values), system_id=SIMULATOR_SYSTEM_ID, component_id=SIMULATOR_COMPONENT_ID
    )


def parse_hil_sensor(payload: bytes) -> HilSensor:
    """Return the sample in a HIL_SENSOR payload of full length; raise BadMessage when not finite.

    Fields whose bits in `fields_updated` are not all set are None.
    """
    time_us, *values, fields, _ = KNOWN[HIL_SENSOR].wire.unpack(payload)
    fx, fy, fz, wx, wy, wz, mx, my, mz, pressure, _, _, temperature = values
    if fields & FIELDS_IMU != FIELDS_IMU or not isfinite(sum(values)):
        raise BadMessage(f"HIL_SENSOR at {time_us} us: IMU missing or not finite")
    has_field = fields & FIELDS_MAG == FIELDS_MAG
    has_pressure = fields & FIELDS_BARO == FIELDS_BARO
    tesla = 1.0 / GAUSS_PER_TESLA
    return HilSensor(
        time_us,
        (fx, -fy, -fz),
        (wx, -wy, -wz),
        (mx * tesla, -my * tesla, -mz * tesla) if has_field else None,
        pressure * PASCAL_PER_HPA if has_pressure else None,
        temperature + KELVIN_OF_0_C if has_pressure else None,
    )


def read_lone_sensor(data: bytes) -> bytes | None:
    """Return the payload, of full length, when data is exactly one valid HIL_SENSOR frame.

    As `read_lone_answer`: the usual case in lockstep; `FrameReader` reads all others.
    """
    return _payload.tobytes() if kernels.read_sensor(data, _payload) >= 0 else None


def parse_hil_gps(payload: bytes) -> HilGps:
    """Return the fix in a HIL_GPS payload of full length."""
    gps = KNOWN[HIL_GPS].record(payload)
    return HilGps(
        gps.time_usec,
        gps.lat * 1e-7,
        gps.lon * 1e-7,
        gps.alt * 1e-3,
        (gps.ve * 0.01, gps.vn * 0.01, -gps.vd * 0.01),
        gps.eph * 0.01,
        gps.epv * 0.01,
        gps.fix_type,
        gps.satellites_visible,
    )


class ActuatorControls(NamedTuple):
    """Commands of an autopilot: 16 outputs in [-1, 1], motors in [0, 1].

    In lockstep it is the answer to the HIL_SENSOR of the same time. An autopilot that does not
    step with the simulator (hardware in the loop) sends at its own rate, stamped by its own clock.
    """

    time_us: int
    controls: tuple[float, ...]
    is_armed: bool
    is_lockstep: bool = True


def pack_hil_actuator_controls(
    time_us: int,
    controls: Sequence[float],
    *,
    is_armed: bool,
    is_lockstep: bool = True,
    sequence: int = 0,
    system_id: int = 1,
) -> bytes:
    """Return the answer of an autopilot to the HIL_SENSOR of time_us.

    At most 16 outputs in [-1, 1], the rest is 0; `is_armed` is bit 7 of `mode`, `is_lockstep` bit 0
    of `flags`. Raises ValueError if a value does not fit its field.
    """
    padded = (*controls, *(0.0,) * (N_CONTROLS - len(controls)))
    mode = IS_CUSTOM_MODE | (IS_ARMED if is_armed else 0)
    return _LAYOUT.frame(
        _LAYOUT.pack(time_us, IS_LOCKSTEP if is_lockstep else 0, *padded, mode),
        sequence=sequence,
        system_id=system_id,
        component_id=AUTOPILOT_COMPONENT_ID,
    )


def parse_hil_actuator_controls(payload: bytes) -> ActuatorControls:
    """Return the controls in a HIL_ACTUATOR_CONTROLS payload of full length.

    Raises BadMessage if a control is not finite or outside [-1, 1].
    """
    time_us, flags, *controls, mode = _LAYOUT.wire.unpack(payload)
    limit = kernels.CONTROL_LIMIT
    if not all(isfinite(value) and -limit <= value <= limit for value in controls):
        raise BadMessage(f"HIL_ACTUATOR_CONTROLS at {time_us} us: a control outside [-1, 1]")
    return ActuatorControls(
        time_us, tuple(controls), mode & IS_ARMED != 0, flags & IS_LOCKSTEP != 0
    )


LoneAnswer = tuple[int, ActuatorControls]
"""System id of an autopilot, and its controls."""


def read_lone_answer(data: bytes) -> LoneAnswer | None:
    """Return system id and controls when data is exactly one valid HIL_ACTUATOR_CONTROLS frame.

    That is the usual case in lockstep, read here three times as fast; `FrameReader` and
    `parse_hil_actuator_controls` read all others.
    """
    if len(data) != kernels.ANSWER_BYTES:
        return None
    time_us = kernels.read_answer(data, _controls)
    return None if time_us < 0 else lone_answer(data, time_us, _controls.tolist())


def lone_answer(frame: bytes, time_us: int, controls: Sequence[float]) -> LoneAnswer:
    """Return system id and controls of a frame whose time and controls compiled code has read."""
    is_armed = frame[kernels.MODE_AT] & IS_ARMED != 0
    is_lockstep = frame[kernels.FLAGS_AT] & IS_LOCKSTEP != 0
    found = ActuatorControls(time_us, tuple(controls), is_armed, is_lockstep)
    return frame[kernels.SYSTEM_ID_AT], found
