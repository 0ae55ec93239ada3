# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The composer: one loop that owns time, steps the vehicle, samples its sensors and records.

Everything is a direct call (autopilot command -> dynamics -> sensors -> autopilot) in steps of
4 ms of integer nanoseconds; ROS topics and the bag are outlets of the loop. Frames: `map` (ENU)
for truth, `base_link` (FLU) for the body, `imu_link`, `stereo_left_optical`,
`stereo_right_optical` for its sensors.
"""

from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.simulation import Simulation

__all__ = ["Simulation", "SimulatorParameters"]
