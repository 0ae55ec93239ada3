# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground robot with a lidar in a world: steps, scans with motion distortion, latency, faults."""

from aerotwin_simulator.ground.faults import (
    NO_FAULTS,
    BlockedSector,
    GroundFaults,
    Kidnapping,
    LidarSilence,
)
from aerotwin_simulator.ground.robot import (
    GroundRobotParameters,
    load_vehicle,
    make_ground_simulation,
    start_pose,
)
from aerotwin_simulator.ground.simulation import STEP_NS, GroundSimulation, Scan, stand_vehicle
from aerotwin_simulator.ground.terrain import TerrainBelow

__all__ = [
    "NO_FAULTS",
    "STEP_NS",
    "BlockedSector",
    "GroundFaults",
    "GroundRobotParameters",
    "GroundSimulation",
    "Kidnapping",
    "LidarSilence",
    "Scan",
    "TerrainBelow",
    "load_vehicle",
    "make_ground_simulation",
    "stand_vehicle",
    "start_pose",
]
