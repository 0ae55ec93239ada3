# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages of IMU, magnetometer, barometer and GNSS, serialised by their fixed layout."""

from collections.abc import Sequence

from aerotwin_sensor_models import GnssSample
from aerotwin_sensor_models.reading_messages import (
    fix_bytes,
    imu_layout,
    magnetic_field_layout,
    pressure_layout,
    velocity_bytes,
)
from aerotwin_simulator import topics
from aerotwin_simulator.topics import Topic


class InertialMessages:
    """Serialises the readings of one vehicle; "" names a single one.

    The standard deviations are the white noise of one sample, for the covariances [m/s^2],
    [rad/s], [T], [Pa].
    """

    def __init__(
        self,
        vehicle: str,
        *,
        specific_force_std: float,
        angular_velocity_std: float,
        field_std: float,
        pressure_std: float,
    ) -> None:
        imu_frame = topics.frame(vehicle, "imu_link")
        self._base_frame = topics.frame(vehicle, "base_link")
        place = topics.below(vehicle)
        self._imu_topic, self._field_topic = place(topics.IMU), place(topics.MAGNETIC_FIELD)
        self._pressure_topic = place(topics.AIR_PRESSURE)
        self._fix_topics = place(topics.GNSS_FIX), place(topics.GNSS_VELOCITY)
        self._imu = imu_layout(imu_frame, specific_force_std, angular_velocity_std)
        self._field = magnetic_field_layout(self._base_frame, field_std)
        self._pressure = pressure_layout(self._base_frame, pressure_std)

    def imu(self, stamp_ns: int, values: Sequence[float]) -> tuple[Topic, int, bytes]:
        """Return topic, stamp and bytes of specific force and angular velocity."""
        return self._imu_topic, stamp_ns, self._imu.pack(stamp_ns, values)

    def magnetic_field(self, stamp_ns: int, values: Sequence[float]) -> tuple[Topic, int, bytes]:
        """Return topic, stamp and bytes of a field [T] in body axes."""
        return self._field_topic, stamp_ns, self._field.pack(stamp_ns, values)

    def pressure(self, stamp_ns: int, pressure_pa: float) -> tuple[Topic, int, bytes]:
        """Return topic, stamp and bytes of a pressure."""
        return self._pressure_topic, stamp_ns, self._pressure.pack(stamp_ns, (pressure_pa,))

    def fix(self, stamp_ns: int, fix: GnssSample) -> list[tuple[Topic, bytes]]:
        """Return topics and bytes of a GNSS reading: position, and velocity in map with a fix."""
        fix_topic, velocity_topic = self._fix_topics
        found = [(fix_topic, fix_bytes(stamp_ns, self._base_frame, fix))]
        if fix.has_fix:
            found.append((velocity_topic, velocity_bytes(stamp_ns, fix)))
        return found
