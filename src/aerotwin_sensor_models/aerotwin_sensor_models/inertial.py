# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU, magnetometer and barometer of one vehicle in one array, sampled by one compiled call."""

from dataclasses import dataclass

import numpy as np

from aerotwin_sensor_models import layout as at
from aerotwin_sensor_models.atmosphere import outside_atmosphere
from aerotwin_sensor_models.barometer import Barometer
from aerotwin_sensor_models.imu import Imu
from aerotwin_sensor_models.magnetometer import Magnetometer


@dataclass(frozen=True, kw_only=True)
class TruthPlaces:
    """Indices in the arena of the truth that the sensors measure.

    Attributes
    ----------
    specific_force, angular_velocity, angular_acceleration : int
        First of three numbers each, at the centre of mass, body axes [m/s^2, rad/s, rad/s^2].
    rotation, height : int
        First of the nine numbers of R_map_body, row by row; height in map [m].
    """

    specific_force: int
    angular_velocity: int
    angular_acceleration: int
    rotation: int
    height: int


class InertialUnit:
    """Three sensors that move into an arena and are sampled there from then on.

    `kernels.sample_inertial(arena, unit.start, due)` samples them, also from other compiled
    functions. Readings are at `unit.start + layout.READINGS`. The sensors' own `sample` remains
    usable, mixed with it in any order: both work on the same numbers. The unit owns the sensors.

    Parameters
    ----------
    field_map_tesla, origin_altitude_m : (3,) array, float
        The Earth's magnetic field in map axes [T]; altitude of the origin of map above mean sea
        level [m].
    """

    def __init__(
        self,
        imu: Imu,
        magnetometer: Magnetometer,
        barometer: Barometer,
        *,
        field_map_tesla: np.ndarray,
        origin_altitude_m: float,
    ) -> None:
        self.imu, self.magnetometer, self.barometer = imu, magnetometer, barometer
        self._field, self._altitude = field_map_tesla, origin_altitude_m
        self._sensors: tuple[Imu | Magnetometer | Barometer, ...] = (imu, magnetometer, barometer)
        self._arena, self.start = np.zeros(0), 0
        self.length = at.N_INERTIAL + sum(sensor.block.length for sensor in self._sensors)

    def move(self, arena: np.ndarray, start: int, places: TruthPlaces) -> None:
        """Move into a contiguous float64 arena, to `length` indices from `start` on."""
        end = start + self.length
        if arena.dtype != np.float64 or arena.ndim != 1 or not arena.flags.c_contiguous:
            raise ValueError(f"arena must be contiguous float64, got {arena.dtype} {arena.shape}")
        if not 0 <= start <= end <= len(arena):
            raise ValueError(f"arena must hold {self.length} numbers from {start}: {len(arena)}")
        self._arena, self.start = arena, start
        head = arena[start : start + at.N_INERTIAL]
        block = at.N_INERTIAL
        for k, sensor in enumerate(self._sensors):
            head[at.IMU_BLOCK + k] = block
            sensor.block.move(arena, start + block)
            sensor.look_up()
            block += sensor.block.length
        head[at.FORCE_PLACE] = places.specific_force
        head[at.OMEGA_PLACE] = places.angular_velocity
        head[at.ALPHA_PLACE] = places.angular_acceleration
        head[at.ROTATION_PLACE] = places.rotation
        head[at.HEIGHT_PLACE] = places.height
        head[at.FIELD : at.FIELD + 3] = self._field
        head[at.ORIGIN_ALTITUDE] = self._altitude
        head[at.READINGS :] = np.nan

    def tune(self, *, imu_dt: float, magnetometer_dt: float, barometer_dt: float) -> None:
        """Set the noise for the times between samples [s]; needed before the first."""
        self.imu.tune(imu_dt)
        self.magnetometer.tune(magnetometer_dt)
        self.barometer.tune(barometer_dt)

    def attend(self, status: int) -> None:
        """Handle the status of `sample_inertial`: draw normal numbers for the sensors in it.

        Raises
        ------
        ValueError
            If the barometer was above 11 km or below -5 km.
        """
        for k, sensor in enumerate(self._sensors):
            if status & 1 << k:
                sensor.block.draw()
        if status & at.OUTSIDE_ATMOSPHERE:
            height = self._arena[int(self._arena[self.start + at.HEIGHT_PLACE])]
            raise outside_atmosphere(self._altitude + height)

    @property
    def readings(self) -> np.ndarray:
        """Return the last readings as a view: see `layout.READINGS`."""
        first = self.start + at.READINGS
        return self._arena[first : first + at.N_READINGS]
