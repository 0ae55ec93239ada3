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
    Contact,
    Motor,
    Propeller,
    Rotor,
    airframe_names,
    hover_command,
    hover_speed_rad_s,
    load_airframe,
    thrust_to_weight,
)
from aerotwin_multirotor_dynamics.multirotor import Multirotor, standing_pose
from aerotwin_multirotor_dynamics.state import MultirotorState, interpolate, interpolate_vector

__all__ = [
    "GRAVITY",
    "Airframe",
    "Contact",
    "Motor",
    "Multirotor",
    "MultirotorState",
    "Propeller",
    "Rotor",
    "airframe_names",
    "hover_command",
    "hover_speed_rad_s",
    "interpolate",
    "interpolate_vector",
    "layout",
    "load_airframe",
    "standing_pose",
    "thrust_to_weight",
]
