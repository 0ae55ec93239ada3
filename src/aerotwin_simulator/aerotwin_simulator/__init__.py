# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The composer: one loop that owns time, steps vehicles, samples their sensors and records.

Everything is a direct call (motor commands -> dynamics -> sensors -> controller) in steps of 4 ms
of integer nanoseconds; ROS topics and the bag are sinks of the loop. Frames: `map` (ENU) for truth,
`base_link` (FLU) for the body, `imu_link`, `stereo_left_optical`, `stereo_right_optical` for its
sensors, prefixed by the vehicle's name in a fleet.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_simulator.controller_settings import (
        ArduPilotSettings,
        AutopilotSettings,
        ControllerSettings,
        Px4Settings,
    )
    from aerotwin_simulator.parameters import (
        CameraSettings,
        FleetSettings,
        LidarSettings,
        MissionSettings,
        RadarSettings,
        SensorSettings,
        SimulatorParameters,
        VisionSettings,
        WindSettings,
    )
    from aerotwin_simulator.recording import BagSink
    from aerotwin_simulator.simulation import Simulation
    from aerotwin_simulator.surroundings import AwaitedReadings

    # Deprecated name, which goes with the next version.
    from aerotwin_worlds.obstacle import Obstacle
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
