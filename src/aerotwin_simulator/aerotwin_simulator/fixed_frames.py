# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The frames fixed to a vehicle, of sensors and rotors: those of /tf_static and of its URDF."""

from typing import Any

import numpy as np

from aerotwin_core.frames import make_transform
from aerotwin_multirotor_dynamics import Airframe, load_airframe
from aerotwin_multirotor_dynamics.robot_description import multirotor_description
from aerotwin_multirotor_dynamics.truth_messages import rotor_names
from aerotwin_simulator import topics
from aerotwin_simulator.extra_sensors import Mountings, make_extra_sensors, mountings_of
from aerotwin_simulator.mounting import extra_transforms, eye_transforms, imu_transform
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.scanners import LIDAR_FRAME, RADAR_FRAME, mounting_of
from aerotwin_simulator.vehicle_cameras import vehicle_eyes


def fixed_transforms(
    parameters: SimulatorParameters,
    airframe: Airframe,
    mountings: Mountings,
    vehicle: str = "",
    *,
    has_imu: bool = True,
) -> list[Any]:
    """Return TransformStamped messages from `base_link`; `mountings` are of `sensors.extra`."""
    return [
        *([imu_transform(parameters.sensors.imu, vehicle)] if has_imu else []),
        *rotor_transforms(airframe, vehicle),
        *sensor_transforms(parameters, vehicle),
        *extra_transforms([*mountings], vehicle),
    ]


def sensor_transforms(parameters: SimulatorParameters, vehicle: str = "") -> list[Any]:
    """Return TransformStamped messages from `base_link` to cameras, lidar and radar."""
    own = []
    if parameters.lidar.is_mounted:
        own.append((LIDAR_FRAME, mounting_of(parameters.lidar)))
    if parameters.radar.is_mounted:
        own.append((RADAR_FRAME, mounting_of(parameters.radar)))
    placed = [(topics.frame(vehicle, name), T) for name, T in own]
    eyes = vehicle_eyes(parameters, vehicle)
    return [*eye_transforms(eyes, vehicle), *extra_transforms(placed, vehicle)]


def rotor_transforms(airframe: Airframe, vehicle: str = "") -> list[Any]:
    """Return TransformStamped messages from `base_link` to the hubs of the rotors."""
    names = [topics.frame(vehicle, name) for name in rotor_names(len(airframe.rotors))]
    places = [make_transform(np.eye(3), np.array(r.position_m)) for r in airframe.rotors]
    return extra_transforms([*zip(names, places, strict=True)], vehicle)


def describe_vehicle(parameters: SimulatorParameters, vehicle: str = "") -> str:
    """Return the URDF of a vehicle as parameters equip it, without a simulation.

    Raises UserError if an airframe, preset or file does not exist or is wrong.
    """
    airframe = load_airframe(parameters.airframe)
    mountings = mountings_of(make_extra_sensors(parameters), vehicle)
    fixed = fixed_transforms(parameters, airframe, mountings, vehicle)
    return multirotor_description(airframe, fixed, topics.frame(vehicle, ""))
