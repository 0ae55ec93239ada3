# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Missing, frozen and impossible sensor values, as reported by the autopilot."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_doctor.check import Check, fail, ok, warn
from aerotwin_doctor.link_record import HighresImuSample, LinkRecord
from aerotwin_sensor_models import pressure_altitude_m

MINIMUM_SAMPLES = 5
FULL_FIX, ENOUGH_SATELLITES = 3, 6
"""PX4: EKF2_REQ_NSATS 6."""
GRAVITY = 9.81
GRAVITY_TOLERANCE = 0.7
"""m/s^2: biases of cheap accelerometers are up to 0.3; a wrong unit or axis is off by far more."""
STILL_RATE = 0.1
"""rad/s: a gyroscope at rest is off by 0.02 at most."""
FIELD_RANGE_GAUSS = (0.2, 0.7)
"""Of the Earth: 0.22 to 0.67 gauss (WMM2025)."""
HEIGHT_TOLERANCE_M = 150.0
"""Weather moves the pressure altitude by 30 hPa at most, less than 300 m; no weather here."""

_SENSORS = {
    mavlink.MAV_SYS_STATUS_SENSOR_3D_GYRO: "gyroscope",
    mavlink.MAV_SYS_STATUS_SENSOR_3D_MAG: "magnetometer",
    mavlink.MAV_SYS_STATUS_SENSOR_ABSOLUTE_PRESSURE: "barometer",
    mavlink.MAV_SYS_STATUS_SENSOR_BATTERY: "battery",
    mavlink.MAV_SYS_STATUS_SENSOR_MOTOR_OUTPUTS: "motor outputs",
}
"""Bits that PX4 sets if the sensor is present; it never sets that of the accelerometer."""


def sensor_checks(record: LinkRecord) -> list[Check]:
    """Return the checks of IMU, magnetometer, barometer and GNSS; of ArduPilot of its IMU only.

    The others ArduPilot's SITL makes itself.
    """
    if not record.is_heard:
        return []
    samples, gnss = distinct_instants(record.imu), record.last.get("GPS_RAW_INT")
    is_enough = len(samples) >= MINIMUM_SAMPLES
    if is_enough:
        of_imu = [
            _accelerometer(samples, is_armed=record.is_armed),
            _gyroscope(samples, is_armed=record.is_armed),
        ]
    else:
        of_imu = [_too_few(name, samples) for name in ("accelerometer", "gyroscope")]
    if record.is_ardupilot:
        return of_imu
    if is_enough:
        others = [_magnetometer(samples), _barometer(samples, gnss)]
    else:
        others = [_too_few(name, samples) for name in ("magnetometer", "barometer")]
    return [_health(record), *of_imu, *others, _gnss(gnss)]


def distinct_instants(samples: Sequence[HighresImuSample]) -> list[HighresImuSample]:
    """Return one sample of each instant, in order of time."""
    return sorted({s.time_us: s for s in samples}.values(), key=lambda s: s.time_us)


def _health(record: LinkRecord) -> Check:
    status = record.last.get("SYS_STATUS")
    if status is None:
        return warn("sensors.health", "no SYS_STATUS", "listen longer (--duration-s 20)")
    present, health = status.onboard_control_sensors_present, status.onboard_control_sensors_health
    absent = [name for bit, name in _SENSORS.items() if not present & bit]
    ill = [name for bit, name in _SENSORS.items() if present & bit and not health & bit]
    parts = [f"absent: {', '.join(absent)}"] if absent else []
    parts += [f"unhealthy: {', '.join(ill)}"] if ill else []
    if parts:
        return fail(
            "sensors.health",
            "; ".join(parts),
            "each HIL_SENSOR needs accelerometer and gyroscope (0x3F), every few ones the whole "
            "masks of magnetometer (0x1C0) and barometer (0x1A00)",
        )
    return ok("sensors.health", "gyroscope, magnetometer, barometer, battery and motors are there")


def _too_few(name: str, samples: Sequence[HighresImuSample]) -> Check:
    return warn(
        f"sensors.{name}",
        f"only {len(samples)} HIGHRES_IMU were heard, {MINIMUM_SAMPLES} are needed to judge",
        "listen longer (--duration-s 20)",
    )


def _accelerometer(samples: Sequence[HighresImuSample], *, is_armed: bool) -> Check:
    name = "sensors.accelerometer"
    x, y, z = mean = np.mean([s.specific_force for s in samples], axis=0)
    said = f"mean ({x:.2f}, {y:.2f}, {z:.2f}) m/s^2, forward, right, down"
    if not _is_moving([s.specific_force for s in samples]):
        return _frozen(name, said)
    if is_armed:
        return ok(name, said)
    if abs(float(np.linalg.norm(mean)) - GRAVITY) > GRAVITY_TOLERANCE:
        return fail(name, f"{said}: at rest it must read 9.8", "send specific force in m/s^2")
    if z > 0.0:
        return fail(
            name,
            f"{said}: it stands on its head",
            "at rest HIL_SENSOR carries zacc = -9.8 (FRD); pack_hil_sensor takes FLU: +9.8",
        )
    return ok(name, said)


def _gyroscope(samples: Sequence[HighresImuSample], *, is_armed: bool) -> Check:
    name = "sensors.gyroscope"
    rate = float(np.linalg.norm(np.mean([s.angular_velocity for s in samples], axis=0)))
    said = f"mean rate {rate:.3f} rad/s"
    if not _is_moving([s.angular_velocity for s in samples]):
        return _frozen(name, said)
    if not is_armed and rate > STILL_RATE:
        return fail(name, f"{said} while disarmed", "send rad/s; the estimator waits for rest")
    return ok(name, said)


def _magnetometer(samples: Sequence[HighresImuSample]) -> Check:
    name = "sensors.magnetometer"
    fields = [s.field_gauss for s in samples if s.field_gauss is not None]
    if not fields:
        return fail(name, "no field reaches the autopilot", "send the mag bits 0x1C0, in gauss")
    strength = float(np.linalg.norm(np.mean(fields, axis=0)))
    said = f"field {strength:.3f} gauss"
    if not any(s.has_new_field for s in samples):
        return _stopped(name, said)
    if not _is_moving(fields):
        return _frozen(name, said)
    low, high = FIELD_RANGE_GAUSS
    if not low <= strength <= high:
        return fail(
            name,
            f"{said}, on Earth {low} to {high}",
            "HIL_SENSOR expects gauss: 1 tesla is 1e4 gauss",
        )
    return ok(name, said)


def _barometer(samples: Sequence[HighresImuSample], gnss: Any | None) -> Check:
    name = "sensors.barometer"
    pressures = [s.pressure_hpa for s in samples if s.pressure_hpa is not None]
    if not pressures:
        return fail(name, "no pressure reaches the autopilot", "send the baro bits 0x1A00, in hPa")
    mean_hpa = float(np.mean(pressures))
    height = pressure_altitude_m(100.0 * mean_hpa)
    said = f"{mean_hpa:.1f} hPa, that is {height:.0f} m"
    if not any(s.has_new_pressure for s in samples):
        return _stopped(name, said)
    if not _is_moving([(p,) for p in pressures]):
        return _frozen(name, said)
    if gnss is not None and gnss.fix_type >= FULL_FIX:
        altitude = gnss.alt * 1e-3
        if abs(altitude - height) > HEIGHT_TOLERANCE_M:
            return fail(
                name,
                f"{said}, but GNSS says {altitude:.0f} m",
                "send hPa, and one altitude above mean sea level to both sensors",
            )
    return ok(name, said)


def _gnss(message: Any | None) -> Check:
    if message is None:
        return fail(
            "sensors.gnss",
            "no GNSS reading has reached the autopilot",
            "send HIL_GPS at 1 to 10 Hz, or fly on external vision (EKF2_EV_CTRL, no GNSS needed)",
        )
    satellites = message.satellites_visible
    if message.fix_type < FULL_FIX or satellites < ENOUGH_SATELLITES:
        return fail(
            "sensors.gnss",
            f"fix type {message.fix_type} with {satellites} satellites",
            f"send HIL_GPS with fix_type {FULL_FIX} and {ENOUGH_SATELLITES} satellites or more",
        )
    accuracy = f"{message.h_acc * 1e-3:.2f} m horizontally, {message.v_acc * 1e-3:.2f} m vertically"
    return ok("sensors.gnss", f"3-D fix, {satellites} satellites, {accuracy}")


def _is_moving(values: Sequence[Sequence[float]]) -> bool:
    """Return whether the values are not all equal to the last digit."""
    return len({tuple(value) for value in values}) > 1


def _frozen(name: str, said: str) -> Check:
    return fail(
        name,
        f"{said}, the same to the last digit in every sample: PX4 calls that stale",
        "add noise, or send each sample once and no repeats in between",
    )


def _stopped(name: str, said: str) -> Check:
    return fail(
        name,
        f"it came and has stopped, last {said}",
        "withheld? Or the same to the last digit: PX4 drops a sensor that never changes; add noise",
    )
