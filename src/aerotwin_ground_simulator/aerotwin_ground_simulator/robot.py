# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of a ground robot: vehicle file, lidar and radar with mountings, start."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import printable
from aerotwin_core.frames import quaternion_from_yaw, transform_from_pose
from aerotwin_core.parameters import group, load_parameters, parameter, read_yaml
from aerotwin_ground_dynamics import BicycleParameters, UnicycleParameters
from aerotwin_ground_simulator.faults import NO_FAULTS, GroundFaults
from aerotwin_ground_simulator.robot_shape import ground_robot_description
from aerotwin_ground_simulator.sensing import LidarSensing, LidarTurn, RadarSensing, TurningSensor
from aerotwin_ground_simulator.simulation import GroundSimulation, TurnT, stand_vehicle
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import LidarParameters, RadarScan, load_preset
from aerotwin_simulator.mounting import extra_transforms
from aerotwin_simulator.parameters import LidarSettings, RadarSettings
from aerotwin_simulator.same_parameter import same_parameter
from aerotwin_simulator.scanners import LIDAR_FRAME, RADAR_FRAME, mounting_of
from aerotwin_worlds import World

KINDS: dict[str, type[UnicycleParameters] | type[BicycleParameters]] = {
    "unicycle": UnicycleParameters,
    "bicycle": BicycleParameters,
}


@dataclass(frozen=True, kw_only=True)
class RobotLidarSettings(LidarSettings):
    """The lidar of a robot."""

    preset: str = same_parameter("lidar.preset", default="spinning_16")
    z_m: float = same_parameter("lidar.z_m", default=1.0)


@dataclass(frozen=True, kw_only=True)
class RobotRadarSettings(RadarSettings):
    """The spinning radar of a robot."""

    z_m: float = same_parameter("radar.z_m", default=1.0)


@dataclass(frozen=True, kw_only=True)
class GroundRobotParameters:
    """The robot, its lidar and radar, and the latency of its commands."""

    vehicle: str = parameter(
        "unicycle", text="unicycle or bicycle as they are, or path of a vehicle file"
    )
    lidar: RobotLidarSettings = group(RobotLidarSettings, old_prefix="lidar_", preset="lidar")
    radar: RobotRadarSettings = group(RobotRadarSettings)
    latency_s: float = parameter(
        0.1, text="from a command to its effect", unit="s", minimum=0.0, maximum=2.0
    )
    seed: int = parameter(0, text="seed of slip and of the noise of lidar and radar", minimum=0)

    @property
    def T_base_lidar(self) -> np.ndarray:
        """The mounting of the lidar (4, 4)."""
        return mounting_of(self.lidar)

    @property
    def T_base_radar(self) -> np.ndarray:
        """The mounting of the radar (4, 4)."""
        return mounting_of(self.radar)


def robot_transforms(parameters: GroundRobotParameters) -> list[Any]:
    """Return the mountings of its sensors as TransformStamped messages."""
    mountings = []
    if parameters.lidar.is_mounted:
        mountings.append((LIDAR_FRAME, parameters.T_base_lidar))
    if parameters.radar.is_mounted:
        mountings.append((RADAR_FRAME, parameters.T_base_radar))
    return extra_transforms(mountings)


def describe_ground_robot(parameters: GroundRobotParameters) -> str:
    """Return the URDF of a robot; errors as `load_vehicle`."""
    fixed = robot_transforms(parameters)
    return ground_robot_description(load_vehicle(parameters.vehicle).wheels.contacts_base, fixed)


def load_vehicle(spec: str) -> UnicycleParameters | BicycleParameters:
    """Return a vehicle: `unicycle` or `bicycle`, or a YAML file with one of them as its key.

    Raises
    ------
    aerotwin_core.errors.ParameterError
        If there is no such file, or a value in it is wrong.
    """
    if spec in KINDS:
        return KINDS[spec]()
    if not Path(spec).exists():
        raise ParameterError(
            f"{printable(spec, 200)}: expected {', '.join(KINDS)} or the path of a YAML file; "
            "choose one, or correct the path"
        )
    content = read_yaml(spec)
    if not isinstance(content, dict) or len(content) != 1 or next(iter(content)) not in KINDS:
        raise ParameterError(
            f"{spec}: expected one of the keys {', '.join(KINDS)} with the parameters below it"
        )
    ((kind, values),) = content.items()
    return load_parameters(KINDS[kind], values, where=f"{spec}: {kind}")


def start_pose(world: World) -> np.ndarray:
    """Return T_map_base at the start point of a world."""
    return transform_from_pose(world.start_p_map, quaternion_from_yaw(world.start_yaw))


def carried_sensors(
    parameters: GroundRobotParameters,
) -> list[tuple[TurningSensor[LidarTurn | RadarScan], np.ndarray]]:
    """Return the lidar and the radar that the parameters name, with their mountings.

    Raises
    ------
    aerotwin_core.errors.ParameterError
        If there is no such lidar or radar.
    """
    p = parameters
    found: list[tuple[TurningSensor[LidarTurn | RadarScan], np.ndarray]] = []
    if p.lidar.is_mounted:
        found.append((lidar_sensing(p), p.T_base_lidar))
    if p.radar.is_mounted:
        radar = load_preset("radar", p.radar.preset, parameter="radar.preset")
        found.append((RadarSensing(radar, p.seed), p.T_base_radar))
    return found


def lidar_sensing(parameters: GroundRobotParameters) -> LidarSensing:
    """Return the lidar of a robot; `ParameterError` if there is no such preset."""
    return LidarSensing(unprocessed_lidar(parameters.lidar.preset), parameters.seed)


def unprocessed_lidar(preset: str) -> LidarParameters:
    """Return a preset whose scans are lists of points as measured; errors as `lidar_sensing`."""
    lidar = load_preset("lidar", preset, parameter="lidar.preset")
    return dataclasses.replace(lidar, is_organised=False, is_deskewed=False)


def make_ground_simulation(
    sensors: Sequence[tuple[TurningSensor[TurnT], np.ndarray]],
    parameters: GroundRobotParameters,
    queries: WorldQueries,
    T_map_base: np.ndarray,
    *,
    faults: GroundFaults = NO_FAULTS,
) -> GroundSimulation[TurnT]:
    """Return the simulation of a robot with sensors and their mountings.

    The start `T_map_base` is (4, 4), its z to 0.5 m.

    Raises
    ------
    aerotwin_core.errors.ParameterError
        If there is no such vehicle.
    aerotwin_ground_dynamics.NoGroundError
        If there is no ground at the start.
    """
    p = parameters
    vehicle = stand_vehicle(queries, load_vehicle(p.vehicle), seed=p.seed, T_map_base=T_map_base)
    return GroundSimulation(queries, vehicle, sensors, latency_s=p.latency_s, faults=faults)
