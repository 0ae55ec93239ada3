# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensor readings of one vehicle in one step, as input of the controllers."""

from dataclasses import dataclass, field

import numpy as np

from aerotwin_px4_bridge.external_vision import VisionPose
from aerotwin_sensor_models import GnssSample
from aerotwin_simulator.battery import BatteryReport
from aerotwin_simulator.extra_sensors import ExtraReading
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.truth import TruthStep

FORCE, RATE, FIELD = slice(0, 3), slice(3, 6), slice(6, 9)
PRESSURE = 9


@dataclass(slots=True)
class Readings:
    """The readings of one step; one object serves all steps, so copy what outlives a step.

    `values` (11,) are specific force [m/s^2] and angular velocity [rad/s] in the axes of the IMU,
    magnetic field in body axes [T], pressure [Pa] and temperature [K], as last read; `wind_map`
    (3,) is the true velocity of the air [m/s]; `has_imu`,
    `has_field`, `has_pressure` say which are new. `imu_ns` is the stamp of the last IMU reading: an
    IMU whose rate does not divide that of the steps reads within a step or not at all. In a
    divided step `values` have the mean of the IMU, and `imu_body_now` (6,) its last reading, in
    body axes.
    `fixes`, `vision` and `extra` were delivered in this step; `messages` are those of cameras,
    lidar and radar that were published in it and that the controller reads.
    """

    step: TruthStep
    values: np.ndarray
    wind_map: np.ndarray
    R_body_imu: np.ndarray | None = None  # None if its axes are the body's
    imu_body_now: np.ndarray | None = None  # None if the step is whole
    has_imu: bool = False
    imu_ns: int = 0
    has_field: bool = False
    has_pressure: bool = False
    fixes: list[GnssSample] = field(default_factory=list)
    battery: BatteryReport | None = None  # when due
    vision: list[VisionPose] = field(default_factory=list)
    extra: list[ExtraReading] = field(default_factory=list)
    messages: list[tuple[Topic, bytes]] = field(default_factory=list)

    def forget(self) -> None:
        """Note that none of the inertial sensors was read in the step that begins."""
        self.has_imu = self.has_field = self.has_pressure = False

    def note(self, k: int, stamp_ns: int) -> None:
        """Note that the IMU (0), the magnetometer (1) or the barometer (2) was read."""
        if k == 0:
            self.has_imu, self.imu_ns = True, stamp_ns
        elif k == 1:
            self.has_field = True
        else:
            self.has_pressure = True
