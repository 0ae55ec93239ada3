# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""All kinds of faults, by the names that scenario files use."""

import difflib
from collections.abc import Mapping
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import printable
from aerotwin_core.origin import Origin
from aerotwin_core.parameters import load_parameters
from aerotwin_faults.air import Microburst, WindGust, WindShear
from aerotwin_faults.cameras import (
    CameraBlack,
    CameraBlur,
    CameraDelay,
    CameraDirt,
    CameraDropped,
    CameraExposure,
    CameraFrozen,
)
from aerotwin_faults.fault import Fault
from aerotwin_faults.inertial import (
    BarometerError,
    BarometerLoss,
    BarometerStuck,
    ImuBias,
    ImuSaturation,
    ImuStuck,
    MagnetometerDisturbance,
    MagnetometerLoss,
    MagnetometerStuck,
)
from aerotwin_faults.links import CompanionDelay, CompanionLoss, GroundStationLoss
from aerotwin_faults.navigation import (
    GnssJamming,
    GnssJump,
    GnssLoss,
    GnssSpoofing,
    SlamFreeze,
    SlamJump,
    SlamLoss,
)
from aerotwin_faults.rotors import BatteryCellLoss, MotorJam, MotorPower, PropellerDamage
from aerotwin_faults.scanners import LidarDropout, LidarLoss, LidarRain, RadarLoss

KINDS: Mapping[str, type[Fault]] = {
    "motor_power": MotorPower,
    "motor_jam": MotorJam,
    "propeller_damage": PropellerDamage,
    "battery_cell_loss": BatteryCellLoss,
    "gnss_loss": GnssLoss,
    "gnss_jump": GnssJump,
    "gnss_spoofing": GnssSpoofing,
    "gnss_jamming": GnssJamming,
    "imu_bias": ImuBias,
    "imu_stuck": ImuStuck,
    "imu_saturation": ImuSaturation,
    "barometer_loss": BarometerLoss,
    "barometer_stuck": BarometerStuck,
    "barometer_error": BarometerError,
    "magnetometer_loss": MagnetometerLoss,
    "magnetometer_stuck": MagnetometerStuck,
    "magnetometer_disturbance": MagnetometerDisturbance,
    "camera_black": CameraBlack,
    "camera_blur": CameraBlur,
    "camera_dirt": CameraDirt,
    "camera_exposure": CameraExposure,
    "camera_frozen": CameraFrozen,
    "camera_dropped": CameraDropped,
    "camera_delay": CameraDelay,
    "lidar_loss": LidarLoss,
    "lidar_dropout": LidarDropout,
    "lidar_rain": LidarRain,
    "radar_loss": RadarLoss,
    "slam_loss": SlamLoss,
    "slam_jump": SlamJump,
    "slam_freeze": SlamFreeze,
    "companion_loss": CompanionLoss,
    "companion_delay": CompanionDelay,
    "ground_station_loss": GroundStationLoss,
    "gust": WindGust,
    "wind_shear": WindShear,
    "microburst": Microburst,
}


def load_fault(kind: str, values: Mapping[str, Any] | None, *, where: str | Origin) -> Fault:
    """Return a fault from its kind and the values of its parameters.

    `where` is the origin of the values, for messages. Raises `ParameterError` if there is no such
    kind, or a value is unknown, of a wrong type or out of range.
    """
    if kind not in KINDS:
        near = difflib.get_close_matches(str(kind), KINDS, n=3)
        known = f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(KINDS)}"
        raise ParameterError(f"{where}: no fault '{printable(str(kind), 60)}'; {known}")
    return load_parameters(KINDS[kind], values, where=where)
