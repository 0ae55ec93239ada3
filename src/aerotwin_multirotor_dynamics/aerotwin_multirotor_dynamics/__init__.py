# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight dynamics of multirotors: a rigid body, n rotors with lag and drag, wind and ground.

World axes are ENU (`map`), body axes are FLU with the origin at the centre of mass; everything is
SI and quaternions are xyzw. `load_airframe` reads a packaged airframe, `Multirotor` flies it: one
call per step into a compiled kernel. The package knows no ROS and no autopilot.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
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
    from aerotwin_multirotor_dynamics.damage import jam_rotor, set_lost_cells, set_rotor_health
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
    from aerotwin_multirotor_dynamics.multirotor import Multirotor, MultirotorBatch, standing_pose
    from aerotwin_multirotor_dynamics.propeller import (
        Blade,
        Propeller,
        coefficients_from_blade,
    )
    from aerotwin_multirotor_dynamics.state import MultirotorState, interpolate, interpolate_vector
    from aerotwin_multirotor_dynamics.vibration import RotorVibration, seeded_vibration
    from aerotwin_multirotor_dynamics.wind import Wind, WindParameters
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
