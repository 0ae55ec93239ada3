# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages of IMU, magnetometer, barometer and GNSS, serialised by their fixed layout."""

from collections.abc import Sequence

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.messages import serialize
from aerotwin_sensor_models import GnssSample
from aerotwin_simulator import topics
from aerotwin_simulator.topics import Topic


class InertialMessages:
    """Serialises the readings of one vehicle.

    Parameters
    ----------
    vehicle : str
        Name in a fleet, "" for a single vehicle.
    specific_force_std, angular_velocity_std, field_std, pressure_std : float
        White noise of one sample, for the covariances [m/s^2], [rad/s], [T], [Pa].
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
        self._imu_frame = topics.frame(vehicle, "imu_link")
        self._base_frame = topics.frame(vehicle, "base_link")
        place = topics.below(vehicle)
        self._imu_topic, self._field_topic = place(topics.IMU), place(topics.MAGNETIC_FIELD)
        self._pressure_topic = place(topics.AIR_PRESSURE)
        self._fix_topics = place(topics.GNSS_FIX), place(topics.GNSS_VELOCITY)
        self._imu = self._imu_layout(specific_force_std, angular_velocity_std)
        self._field = self._field_layout(field_std)
        self._pressure = self._pressure_layout(pressure_std)

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
        position = messages.nav_sat_fix_message(
            stamp_ns,
            self._base_frame,
            fix.latitude_deg,
            fix.longitude_deg,
            fix.altitude_m,
            fix.position_std_m,
        )
        fix_topic, velocity_topic = self._fix_topics
        found = [(fix_topic, serialize(position))]
        if fix.has_fix:
            velocity = messages.twist_stamped_message(stamp_ns, "map", fix.v_map)
            found.append((velocity_topic, serialize(velocity)))
        return found

    def _imu_layout(self, specific_force_std: float, angular_velocity_std: float) -> FixedLayout:
        def build(stamp_ns: int, values: Sequence[float]) -> object:
            return messages.imu_message(
                stamp_ns,
                self._imu_frame,
                values[:3],
                values[3:],
                specific_force_std=specific_force_std,
                angular_velocity_std=angular_velocity_std,
            )

        return FixedLayout(build, 6)

    def _field_layout(self, std_tesla: float) -> FixedLayout:
        def build(stamp_ns: int, values: Sequence[float]) -> object:
            return messages.magnetic_field_message(stamp_ns, self._base_frame, values, std_tesla)

        return FixedLayout(build, 3)

    def _pressure_layout(self, std_pa: float) -> FixedLayout:
        def build(stamp_ns: int, values: Sequence[float]) -> object:
            return messages.fluid_pressure_message(stamp_ns, self._base_frame, values[0], std_pa)

        return FixedLayout(build, 1)
