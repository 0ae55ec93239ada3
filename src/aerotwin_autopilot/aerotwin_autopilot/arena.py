# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One array for all that the compiled step works on: handing over one array costs 0.1 us, not 2."""

from itertools import accumulate

import numpy as np

from aerotwin_autopilot.control.setpoint import N_INTEGRAL, N_SETPOINT
from aerotwin_autopilot.estimator import layout

MAXIMUM_ROTORS = 16  # outputs of HIL_ACTUATOR_CONTROLS

# Inputs from Python to the compiled step between steps.
K_STILL, K_HEIGHT_DATUM, K_USES_FIELD, K_ROTORS, N_CONTEXT = 0, 1, 2, 3, 4

# Guidance: which law writes the set-point, and its numbers.
STAND, TRAVEL, DESCEND, STREAM, ATTITUDE = 0.0, 1.0, 2.0, 3.0, 4.0
(
    G_KIND, G_INTEGRATES, G_REFERENCE, G_TARGET, G_SPEED, G_CLIMB, G_DESCENT, G_ACCELERATION,
    G_JERK, G_YAW, G_YAW_RATE, G_SINK, G_AT, G_STREAM, G_QUATERNION, G_RATE, G_THRUST, N_GUIDANCE,
) = (
    0, 1, 2, 11, 14, 15, 16, 17,
    18, 19, 20, 21, 22, 23, 34, 38, 41, 42,
)  # fmt: skip
"""G_REFERENCE: position, velocity, acceleration; G_STREAM: a set-point as received at G_AT."""

N_GAINS, N_AIRFRAME = 20, 3
_SIZES = (
    layout.N_OUTPUT, layout.N_STATE, layout.N_ERROR**2, 3 * layout.N_ERROR,
    layout.RING_LENGTH * layout.N_SAMPLE, layout.FIX_LENGTH * layout.N_FIX,
    layout.VISION_LENGTH * layout.N_VISION, layout.N_MONITOR, len(layout.Noise._fields),
    6, 10, N_CONTEXT, N_SETPOINT, N_INTEGRAL, N_GUIDANCE, N_GAINS, N_AIRFRAME,
    4 * MAXIMUM_ROTORS, MAXIMUM_ROTORS + 1,
)  # fmt: skip
_STARTS = (0, *accumulate(_SIZES))
(
    A_OUTPUT, A_STATE, A_COVARIANCE, A_SCRATCH, A_RING, A_FIXES, A_VISION, A_MONITOR, A_NOISE,
    A_PREVIOUS, A_READING, A_CONTEXT, A_SETPOINT, A_INTEGRAL, A_GUIDANCE, A_GAINS, A_AIRFRAME,
    A_INVERSE, A_COMMANDS, N_ARENA,
) = _STARTS  # fmt: skip
"""Where each block begins; a reading is force, rate, field (FLU) and pressure altitude, the
commands are followed by the commanded thrust."""


class Arena:
    """One array and views of its blocks, by name, which share its memory with the compiled step."""

    def __init__(self) -> None:
        self.array = np.zeros(N_ARENA)
        self.cursor = np.zeros(layout.N_CURSOR, dtype=np.int64)
        self.cursor[layout.C_ALIVE] = layout.N_CORE

    def block(self, start: int, *shape: int) -> np.ndarray:
        """Return a view of the block that begins at start."""
        return self.array[start : start + int(np.prod(shape))].reshape(shape)
