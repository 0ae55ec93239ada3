# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of rotors, battery, sensors and links, and weather that comes and goes.

A `Fault` is a frozen record of parameters; its `effect` changes readings, images, echoes or wind at
the moments of its `FaultTiming`: a beginning, a ramp, a duration. Nothing here knows a
simulator: the same faults can be laid over recorded readings. Axes are those of `map` (east, north,
up) and of the body (ahead, left, up); everything is SI.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_faults.air import AirEffect, Microburst, WindGust, WindShear
    from aerotwin_faults.cameras import (
        CameraBlack,
        CameraBlur,
        CameraDelay,
        CameraDirt,
        CameraDropped,
        CameraEffect,
        CameraExposure,
        CameraFault,
        CameraFrozen,
    )
    from aerotwin_faults.entry import FaultEntry, read_fault_entry
    from aerotwin_faults.fault import ActiveFault, Fault, FaultTiming, Moment, activated
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
        ReadingEffect,
    )
    from aerotwin_faults.kinds import KINDS, load_fault
    from aerotwin_faults.links import (
        CompanionDelay,
        CompanionLoss,
        GroundStationLoss,
        LinkEffect,
    )
    from aerotwin_faults.navigation import (
        GnssEffect,
        GnssError,
        GnssJamming,
        GnssJump,
        GnssLoss,
        GnssSpoofing,
        PoseEffect,
        SlamFreeze,
        SlamJump,
        SlamLoss,
    )
    from aerotwin_faults.rotors import (
        BatteryCellLoss,
        MotorJam,
        MotorPower,
        PropellerDamage,
        RotorEffect,
        RotorHealth,
    )
    from aerotwin_faults.scanners import (
        Echoes,
        LidarDropout,
        LidarLoss,
        LidarRain,
        RadarLoss,
        ScannerEffect,
        rain_extinction,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
