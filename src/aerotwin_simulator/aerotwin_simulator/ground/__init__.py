# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground robot that sees, in a world: steps, scans with motion distortion, latency, faults."""

from aerotwin_simulator.ground.faults import (
    FAULT_TEXTS,
    NO_FAULTS,
    BlockedSector,
    GroundFaults,
    Kidnapping,
    LidarSilence,
    faults_of,
)
from aerotwin_simulator.ground.robot import (
    GroundRobotParameters,
    load_vehicle,
    make_ground_simulation,
    make_simulation_with,
    start_pose,
)
from aerotwin_simulator.ground.sensing import LidarSensing, LidarTurn, RadarSensing, TurningSensor
from aerotwin_simulator.ground.simulation import STEP_NS, GroundSimulation, stand_vehicle
from aerotwin_simulator.ground.terrain import TerrainBelow

__all__ = [
    "FAULT_TEXTS",
    "NO_FAULTS",
    "STEP_NS",
    "BlockedSector",
    "GroundFaults",
    "GroundRobotParameters",
    "GroundSimulation",
    "Kidnapping",
    "LidarSensing",
    "LidarSilence",
    "LidarTurn",
    "RadarSensing",
    "TerrainBelow",
    "TurningSensor",
    "faults_of",
    "load_vehicle",
    "make_ground_simulation",
    "make_simulation_with",
    "stand_vehicle",
    "start_pose",
]
