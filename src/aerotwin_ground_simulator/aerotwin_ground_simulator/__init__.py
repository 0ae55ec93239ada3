# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground robot that sees, in a world: steps, scans with motion distortion, latency, faults."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_ground_simulator.faults import (
        FAULT_TEXTS,
        NO_FAULTS,
        BlockedSector,
        GroundFaults,
        Kidnapping,
        LidarSilence,
        faults_of,
    )
    from aerotwin_ground_simulator.fleet_robot import FleetGroundRobot
    from aerotwin_ground_simulator.robot import (
        GroundRobotParameters,
        RobotLidarSettings,
        RobotRadarSettings,
        carried_sensors,
        lidar_sensing,
        load_vehicle,
        make_ground_simulation,
        start_pose,
    )
    from aerotwin_ground_simulator.sensing import (
        LidarSensing,
        LidarTurn,
        RadarSensing,
        TurningSensor,
    )
    from aerotwin_ground_simulator.simulation import (
        STEP_NS,
        GroundSimulation,
        TerrainBelow,
        stand_vehicle,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
