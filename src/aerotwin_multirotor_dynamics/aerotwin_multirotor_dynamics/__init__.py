# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight dynamics of multirotors: a rigid body, n rotors with lag and drag, wind and ground.

World axes are ENU (`map`), body axes are FLU with the origin at the centre of mass; everything is
SI and quaternions are xyzw. `load_airframe` reads a packaged airframe, `Multirotor` flies it: one
call per step into a compiled kernel. The package knows no ROS and no autopilot.
"""

from aerotwin_multirotor_dynamics import layout
from aerotwin_multirotor_dynamics.airframe import (
    GRAVITY,
    Airframe,
    BatteryParameters,
    Contact,
    Motor,
    Rotor,
    Vibration,
    airframe_names,
    load_airframe,
)
from aerotwin_multirotor_dynamics.batch import MultirotorBatch
from aerotwin_multirotor_dynamics.derived import (
    DerivedQuantities,
    air_density_ratio,
    allocation_matrix,
    at_altitude,
    derived_quantities,
    hover_command,
    hover_speed_rad_s,
    thrust_to_weight,
)
from aerotwin_multirotor_dynamics.multirotor import Multirotor, standing_pose
from aerotwin_multirotor_dynamics.propeller import (
    Blade,
    Propeller,
    coefficients_from_blade,
    propeller_from_blade,
)
from aerotwin_multirotor_dynamics.state import MultirotorState, interpolate, interpolate_vector
from aerotwin_multirotor_dynamics.vibration import RotorVibration, seeded_vibration
from aerotwin_multirotor_dynamics.wind import Wind, WindParameters

__all__ = [
    "GRAVITY",
    "Airframe",
    "BatteryParameters",
    "Blade",
    "Contact",
    "DerivedQuantities",
    "Motor",
    "Multirotor",
    "MultirotorBatch",
    "MultirotorState",
    "Propeller",
    "Rotor",
    "RotorVibration",
    "Vibration",
    "Wind",
    "WindParameters",
    "air_density_ratio",
    "airframe_names",
    "allocation_matrix",
    "at_altitude",
    "coefficients_from_blade",
    "derived_quantities",
    "hover_command",
    "hover_speed_rad_s",
    "interpolate",
    "interpolate_vector",
    "layout",
    "load_airframe",
    "propeller_from_blade",
    "seeded_vibration",
    "standing_pose",
    "thrust_to_weight",
]
