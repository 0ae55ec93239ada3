# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One record of all that the compiled step works on: one array as an argument costs 0.1 us, not 2.

A kernel passes a field that is an array as `field[:]`: signatures distinguish arrays from fields.
"""

import numpy as np
from numba import from_dtype

from aerotwin_autopilot.control.cascade import GAINS
from aerotwin_autopilot.control.setpoint import N_INTEGRAL, N_SETPOINT
from aerotwin_autopilot.estimator import layout
from aerotwin_autopilot.estimator.layout import CONTEXT, NOISE

MAXIMUM_ROTORS = 16  # outputs of HIL_ACTUATOR_CONTROLS

# Which law of guidance writes the set-point.
STAND, TRAVEL, DESCEND, STREAM, ATTITUDE = 0.0, 1.0, 2.0, 3.0, 4.0
GUIDANCE = np.dtype(
    [
        ("kind", "f8"),
        ("integrates", "f8"),
        ("reference", "f8", 9),  # position, velocity, acceleration
        ("target_m", "f8", 3),
        ("speed_m_s", "f8"),
        ("climb_m_s", "f8"),
        ("descent_m_s", "f8"),
        ("acceleration_m_s2", "f8"),
        ("jerk_m_s3", "f8"),
        ("yaw_rad", "f8"),
        ("sink_m_s", "f8"),
        ("received_s", "f8"),
        ("stream", "f8", N_SETPOINT),  # a set-point as received at that time
        ("quaternion", "f8", 4),
        ("rate_rad_s", "f8", 3),
        ("thrust", "f8"),
    ],
    align=True,
)
AIRFRAME = np.dtype(
    [
        ("thrust_coefficient", "f8"),  # [N/(rad/s)^2]
        ("command_offset_rad_s", "f8"),  # rotor speed at command 0
        ("command_scale_rad_s", "f8"),  # gain from command 0 to 1
        ("n_rotors", "i8"),
    ],
    align=True,
)
ARENA = np.dtype(
    [
        ("output", "f8", layout.N_OUTPUT),
        ("state", "f8", layout.N_STATE),
        ("covariance", "f8", (layout.N_ERROR, layout.N_ERROR)),  # the first rows, if not all live
        ("scratch", "f8", (3, layout.N_ERROR)),
        ("ring", "f8", (layout.RING_LENGTH, layout.N_SAMPLE)),
        ("fixes", "f8", (layout.FIX_LENGTH, layout.N_FIX)),
        ("poses", "f8", (layout.VISION_LENGTH, layout.N_VISION)),
        ("cursor", "i8", layout.N_CURSOR),
        ("monitor", "f8", layout.N_MONITOR),
        ("noise", NOISE),
        ("previous", "f8", 6),  # force and rate of the last sample
        ("reading", "f8", 10),  # force, rate, field (FLU) and pressure altitude
        ("context", CONTEXT),
        ("setpoint", "f8", N_SETPOINT),
        ("integral", "f8", N_INTEGRAL),
        ("guidance", GUIDANCE),
        ("gains", GAINS),
        ("airframe", AIRFRAME),
        ("inverse", "f8", (MAXIMUM_ROTORS, 4)),
        ("commands", "f8", MAXIMUM_ROTORS),
        ("commanded_thrust_n", "f8"),
    ],
    align=True,
)
GUIDANCE_TYPE, AIRFRAME_TYPE, ARENA_TYPE = map(from_dtype, (GUIDANCE, AIRFRAME, ARENA))


INBOX_BYTES = 72
"""For the payload of a HIL_SENSOR, in whole numbers of 8 bytes."""


class StepMemory:
    """Memory of the compiled steps of several autopilots, in rows by their instance.

    Of those that are not there nothing is ever touched. `arenas` are (n, k) float64, `inboxes`
    (n, INBOX_BYTES) uint8: the last HIL_SENSOR of each.
    """

    def __init__(self, highest_instance: int) -> None:
        n = highest_instance + 1
        self.arenas = np.zeros((n, ARENA.itemsize // 8))
        self.inboxes = np.zeros((n, INBOX_BYTES), np.uint8)


class Arena:
    """A record of `ARENA`, and its memory (k,), which it shares with the compiled step."""

    def __init__(self, memory: np.ndarray | None = None) -> None:
        self.memory = np.empty(ARENA.itemsize // 8) if memory is None else memory
        self.memory[:] = 0.0
        self.record = self.memory.view(ARENA)[0]
        self.cursor = self.record["cursor"]
        self.cursor[layout.C_ALIVE] = layout.N_CORE
