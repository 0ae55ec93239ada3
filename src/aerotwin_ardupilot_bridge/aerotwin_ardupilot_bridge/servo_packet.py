# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The packet in which ArduPilot sends its outputs to a simulator.

References: ArduPilot libraries/SITL/SIM_JSON.h (servo_packet_16, servo_packet_32), and
libraries/SITL/examples/JSON/readme.md.
"""

import struct
from typing import NamedTuple

MAGIC_16, MAGIC_32 = 18458, 29569
"""With 32 outputs if its parameter SERVO_32_ENABLE is 1."""
_OF_16 = struct.Struct("<HHI16H")
_LAYOUTS = {MAGIC_16: _OF_16, MAGIC_32: struct.Struct("<HHI32H")}
_MAGIC = struct.Struct("<H")
LONGEST = max(layout.size for layout in _LAYOUTS.values())


class BadServoPacket(ValueError):
    """A datagram that is no servo packet; the text says why."""


class ServoOutputs(NamedTuple):
    """Outputs of ArduPilot for one step.

    `frame_rate_hz` is the rate of steps that it wishes, or the last one that it saw; `frame_count`
    grows by one with each state that it was given, from 0 at its start; `pwm_us[n - 1]` is the
    pulse of SERVOn [us], 0 for none.
    """

    frame_rate_hz: int
    frame_count: int
    pwm_us: tuple[int, ...]


def parse_servo_packet(data: bytes) -> ServoOutputs:
    """Return the outputs in a datagram. Raises `BadServoPacket` if it is none."""
    if len(data) == _OF_16.size:  # first, for it comes a thousand times a second
        magic, rate_hz, count, *pwm_us = _OF_16.unpack(data)
        if magic == MAGIC_16:
            return ServoOutputs(rate_hz, count, tuple(pwm_us))
    magic = _MAGIC.unpack_from(data)[0] if len(data) >= _MAGIC.size else None
    layout = _LAYOUTS.get(magic) if magic is not None else None
    if layout is None:
        raise BadServoPacket(f"expected magic {MAGIC_16} or {MAGIC_32}, found {magic}")
    if len(data) != layout.size:
        raise BadServoPacket(f"expected {layout.size} bytes for {magic}, found {len(data)}")
    _, rate_hz, count, *pwm_us = layout.unpack(data)
    return ServoOutputs(rate_hz, count, tuple(pwm_us))


def pack_servo_packet(outputs: ServoOutputs) -> bytes:
    """Return the datagram of 16 or 32 outputs, as ArduPilot sends it; for stand-ins."""
    magic = MAGIC_16 if len(outputs.pwm_us) == 16 else MAGIC_32
    rate_hz, count, pwm_us = outputs
    return _LAYOUTS[magic].pack(magic, rate_hz, count, *pwm_us)
