# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Readings as standard messages in CDR bytes, for the simulator and the sensors node alike."""

import math
from collections.abc import Sequence

import numpy as np

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.messages import serialize
from aerotwin_sensor_models.gnss import GnssSample


def imu_layout(frame: str, force_std: float, rate_std: float) -> FixedLayout:
    """Return sensor_msgs/Imu of specific force [m/s^2] and angular velocity [rad/s]."""

    def build(stamp_ns: int, values: Sequence[float]) -> object:
        return messages.imu_message(
            stamp_ns,
            frame,
            values[:3],
            values[3:],
            specific_force_std=force_std,
            angular_velocity_std=rate_std,
        )

    return FixedLayout(build, 6)


def magnetic_field_layout(frame: str, std_tesla: float) -> FixedLayout:
    """Return sensor_msgs/MagneticField [T]."""

    def build(stamp_ns: int, values: Sequence[float]) -> object:
        return messages.magnetic_field_message(stamp_ns, frame, values, std_tesla)

    return FixedLayout(build, 3)


def pressure_layout(frame: str, std_pa: float) -> FixedLayout:
    """Return sensor_msgs/FluidPressure [Pa]."""

    def build(stamp_ns: int, values: Sequence[float]) -> object:
        return messages.fluid_pressure_message(stamp_ns, frame, values[0], std_pa)

    return FixedLayout(build, 1)


def fix_layout(frame: str) -> FixedLayout:
    """Return sensor_msgs/NavSatFix with a fix, of `fix_values`."""

    def build(stamp_ns: int, values: Sequence[float]) -> object:
        latitude, longitude, altitude, *variances = values
        message = messages.nav_sat_fix_message(
            stamp_ns, frame, latitude, longitude, altitude, np.ones(3)
        )
        message.position_covariance = np.diag(variances).ravel()
        return message

    return FixedLayout(build, 6)


def fix_values(sample: GnssSample) -> list[float]:
    """Return WGS84 position, altitude above the ellipsoid, and variances along ENU [m^2]."""
    place = sample.latitude_deg, sample.longitude_deg, sample.altitude_m
    return [*place, *(std * std for std in sample.position_std_m.tolist())]


def no_fix_bytes(stamp_ns: int, frame: str) -> bytes:
    """Return the sensor_msgs/NavSatFix of a receiver without a fix."""
    nan = math.nan
    return serialize(messages.nav_sat_fix_message(stamp_ns, frame, nan, nan, nan, np.zeros(3)))


def velocity_layout() -> FixedLayout:
    """Return geometry_msgs/TwistStamped: the receiver's velocity in map axes [m/s]."""
    return FixedLayout(
        lambda stamp_ns, values: messages.twist_stamped_message(stamp_ns, "map", values), 3
    )
