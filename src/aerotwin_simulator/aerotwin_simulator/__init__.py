# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The composer: one loop that owns time, steps vehicles, samples their sensors and records.

Everything is a direct call (motor commands -> dynamics -> sensors -> controller) in steps of 4 ms
of integer nanoseconds; ROS topics and the bag are outlets of the loop. Frames: `map` (ENU) for
truth, `base_link` (FLU) for the body, `imu_link`, `stereo_left_optical`, `stereo_right_optical` for
its sensors, prefixed by the vehicle's name in a fleet.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aerotwin_simulator.inertial_step import InertialVehicle
    from aerotwin_simulator.parameters import SimulatorParameters
    from aerotwin_simulator.simulation import Simulation

__all__ = ["InertialVehicle", "Simulation", "SimulatorParameters"]

_HOMES = {
    "InertialVehicle": "inertial_step",
    "Simulation": "simulation",
    "SimulatorParameters": "parameters",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use: the executable must be able to leave while it loads."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"aerotwin_simulator.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'aerotwin_simulator' has no attribute '{name}'")
