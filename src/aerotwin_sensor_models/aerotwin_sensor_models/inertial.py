# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU, magnetometer and barometer of one vehicle in one array, sampled by one compiled call."""

import numpy as np

from aerotwin_sensor_models import layout as at
from aerotwin_sensor_models.atmosphere import outside_atmosphere
from aerotwin_sensor_models.barometer import Barometer
from aerotwin_sensor_models.imu import Imu
from aerotwin_sensor_models.magnetometer import Magnetometer

_SENSORS = ("imu", "magnetometer", "barometer")


class InertialUnit:
    """Three sensors in one record, sampled there from then on.

    `kernels.sample_inertial(unit.memory, due)` samples them, from the truth written into `record`.
    The sensors' own `sample` remains usable, mixed with it in any order: both work on the same
    numbers. The unit owns the sensors.

    Parameters
    ----------
    field_map_tesla, origin_altitude_m : (3,) array, float
        The Earth's magnetic field in map axes [T]; altitude of the origin of map above mean sea
        level [m].

    Attributes
    ----------
    record : numpy.void
        Truth, sensors and readings, see `layout.INERTIAL`.
    memory, readings : (n,), (11,) array
        Views of all of it, and of the last readings: force, rate, field, pressure, temperature.
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
        self._sensors: tuple[Imu | Magnetometer | Barometer, ...] = (imu, magnetometer, barometer)
        array = np.zeros(1, at.INERTIAL)
        array["field_map_t"], array["origin_altitude_m"] = field_map_tesla, origin_altitude_m
        array["readings"].view(np.float64)[:] = np.nan
        self._use(array)

    def _use(self, array: np.ndarray) -> None:
        for sensor, name in zip(self._sensors, _SENSORS, strict=True):
            sensor.block.move(array[name])
            sensor.look_up()
        self.record, self.memory = array[0], array.view(np.float64)
        self.readings = array["readings"].view(np.float64)

    def move(self, array: np.ndarray) -> None:
        """Move into another array of one `layout.INERTIAL`; earlier views become invalid."""
        if array.dtype != at.INERTIAL or array.shape != (1,):
            raise ValueError(f"array must hold one layout.INERTIAL, got {array.shape} of another")
        array[0] = self.record
        self._use(array)

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
            raise outside_atmosphere(self.record["origin_altitude_m"] + self.record["height_m"])
