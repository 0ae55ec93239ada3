# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A multirotor as a simulation steps it: its body and inertial sensors, and the faults on them.

`InertialVehicle` is one, in one compiled call per step; `InertialBlock` are many, in one call for
all; `FineSteps` divides a step for an autopilot that runs faster. `VehicleFaults` are those that
act on a vehicle, `BodyDamage` lets them act on rotors and battery.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_multirotor_body.fine_steps import FineSteps
    from aerotwin_multirotor_body.inertial_block import InertialBlock
    from aerotwin_multirotor_body.inertial_step import InertialVehicle
    from aerotwin_multirotor_body.vehicle_faults import BodyDamage, VehicleFaults
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
