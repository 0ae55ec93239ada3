# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensor readings of one vehicle in one step, as input of the controllers."""

from dataclasses import dataclass, field

import numpy as np

from aerotwin_px4_bridge.external_vision import VisionPose
from aerotwin_sensor_models import GnssSample
from aerotwin_simulator.battery import BatteryReport
from aerotwin_simulator.extra_sensors import ExtraReading
from aerotwin_simulator.truth import TruthStep

FORCE, RATE, FIELD = slice(0, 3), slice(3, 6), slice(6, 9)
PRESSURE = 9


@dataclass(slots=True)
class Readings:
    """The readings of one step; one object serves all steps, so copy what outlives a step.

    Attributes
    ----------
    step : TruthStep
        The motion during the step.
    values : (11,) array
        Specific force [m/s^2] and angular velocity [rad/s] in the axes of the IMU, magnetic field
        in body axes [T], pressure [Pa] and temperature [K], as last read.
    R_body_imu : (3, 3) array or None
        Mounting of the IMU; None if its axes are those of the body.
    has_imu, has_field, has_pressure : bool
        Which values are new in this step.
    imu_ns : int
        Stamp of the latest reading of the IMU; an IMU slower than the steps, or at a rate that does
        not divide theirs, reads within a step or not at all.
    fixes, vision, extra : list of GnssSample, VisionPose, ExtraReading
        Delivered in this step by the GNSS receiver (measured `delay_s` ago), by external vision,
        and by other sensors: range finder, optical flow, airspeed, a user's own.
    battery : BatteryReport or None
        The battery's report, when due.
    """

    step: TruthStep
    values: np.ndarray
    R_body_imu: np.ndarray | None = None
    has_imu: bool = False
    imu_ns: int = 0
    has_field: bool = False
    has_pressure: bool = False
    fixes: list[GnssSample] = field(default_factory=list)
    battery: BatteryReport | None = None
    vision: list[VisionPose] = field(default_factory=list)
    extra: list[ExtraReading] = field(default_factory=list)
