# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""HIL_ACTUATOR_CONTROLS: an autopilot's answer to a HIL_SENSOR.

References: MAVLink common.xml, message 93; PX4 v1.14 SimulatorMavlink.cpp,
`actuator_controls_from_outputs`.
"""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from aerotwin_px4_bridge import hil_kernels
from aerotwin_px4_bridge.mavlink2 import HIL_ACTUATOR_CONTROLS, KNOWN, BadMessage

IS_ARMED = 0x80
IS_CUSTOM_MODE = 0x01
IS_LOCKSTEP = 0x01
N_CONTROLS = hil_kernels.N_CONTROLS
AUTOPILOT_COMPONENT_ID = 1

_LAYOUT = KNOWN[HIL_ACTUATOR_CONTROLS]
_SYSTEM_ID, _FLAGS, _MODE = 5, 18, 90  # byte offsets in the whole frame


class ActuatorControls(NamedTuple):
    """Commands of an autopilot: 16 outputs in [-1, 1], motors in [0, 1].

    In lockstep it is the answer to the HIL_SENSOR of the same time. An autopilot that does not
    step with the simulator (hardware in the loop) sends at its own rate, stamped by its own clock.
    """

    time_us: int
    controls: tuple[float, ...]
    is_armed: bool
    is_lockstep: bool = True


def pack_hil_actuator_controls(
    time_us: int,
    controls: Sequence[float],
    *,
    is_armed: bool,
    is_lockstep: bool = True,
    sequence: int = 0,
    system_id: int = 1,
) -> bytes:
    """Return the answer of an autopilot to the HIL_SENSOR of time_us.

    At most 16 outputs in [-1, 1], the rest is 0; `is_armed` is bit 7 of `mode`, `is_lockstep` bit 0
    of `flags`. Raises ValueError if a value does not fit its field.
    """
    padded = (*controls, *(0.0,) * (N_CONTROLS - len(controls)))
    mode = IS_CUSTOM_MODE | (IS_ARMED if is_armed else 0)
    return _LAYOUT.frame(
        _LAYOUT.pack(time_us, IS_LOCKSTEP if is_lockstep else 0, *padded, mode),
        sequence=sequence,
        system_id=system_id,
        component_id=AUTOPILOT_COMPONENT_ID,
    )


def parse_hil_actuator_controls(payload: bytes) -> ActuatorControls:
    """Return the controls in a HIL_ACTUATOR_CONTROLS payload of full length.

    Raises BadMessage if a control is not finite or outside [-1, 1].
    """
    time_us, flags, *controls, mode = _LAYOUT.wire.unpack(payload)
    limit = hil_kernels.CONTROL_LIMIT
    if not all(isfinite(value) and -limit <= value <= limit for value in controls):
        raise BadMessage(f"HIL_ACTUATOR_CONTROLS at {time_us} us: a control outside [-1, 1]")
    return ActuatorControls(
        time_us, tuple(controls), mode & IS_ARMED != 0, flags & IS_LOCKSTEP != 0
    )


def read_lone_answer(data: bytes) -> tuple[int, ActuatorControls] | None:
    """Return system id and controls when data is exactly one valid HIL_ACTUATOR_CONTROLS frame.

    That is the usual case in lockstep, read here three times as fast; `FrameReader` and
    `parse_hil_actuator_controls` read all others.
    """
    if len(data) != hil_kernels.ANSWER_BYTES:
        return None
    controls = np.empty(N_CONTROLS)
    time_us = hil_kernels.read_answer(np.frombuffer(data, dtype=np.uint8), controls)
    if time_us < 0:
        return None
    return data[_SYSTEM_ID], ActuatorControls(
        time_us,
        tuple(controls.tolist()),
        data[_MODE] & IS_ARMED != 0,
        data[_FLAGS] & IS_LOCKSTEP != 0,
    )
