# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Readings as standard messages in CDR bytes, for the simulator and the sensors node alike."""

from collections.abc import Sequence

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


def fix_bytes(stamp_ns: int, frame: str, sample: GnssSample) -> bytes:
    """Return sensor_msgs/NavSatFix: WGS84, altitude above the ellipsoid."""
    return serialize(
        messages.nav_sat_fix_message(
            stamp_ns,
            frame,
            sample.latitude_deg,
            sample.longitude_deg,
            sample.altitude_m,
            sample.position_std_m,
        )
    )


def velocity_bytes(stamp_ns: int, sample: GnssSample) -> bytes:
    """Return geometry_msgs/TwistStamped: the receiver's velocity in map axes [m/s]."""
    return serialize(messages.twist_stamped_message(stamp_ns, "map", sample.v_map))
