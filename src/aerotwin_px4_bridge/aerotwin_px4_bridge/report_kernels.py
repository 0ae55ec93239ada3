# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""GLOBAL_POSITION_INT and ATTITUDE_QUATERNION as compiled code: what an autopilot reports most.

A fleet of a hundred sends four thousand a second.
"""

from numba import float64, int64, types, uint8

from aerotwin_core.kernel_cache import njit
from aerotwin_px4_bridge.hil_kernels import get_float, get_integer, is_whole, unpack_payload
from aerotwin_px4_bridge.mavlink2 import (
    ATTITUDE_QUATERNION,
    GLOBAL_POSITION_INT,
    HEADER_LENGTH,
    KNOWN,
)

HAS_ATTITUDE, HAS_POSITION = 1, 2
N_ATTITUDE, N_POSITION = 7, 7
"""Attitude wxyz and rates of roll, pitch and yaw [rad/s]; time since boot [ms], latitude and
longitude [1e-7 deg], altitude [mm], velocity north, east and down [cm/s]."""

PAYLOAD_BYTES = KNOWN[ATTITUDE_QUATERNION].size
"""Of the longer one."""
_ATTITUDE, _POSITION = ATTITUDE_QUATERNION, GLOBAL_POSITION_INT
_ATTITUDE_CRC_EXTRA = KNOWN[ATTITUDE_QUATERNION].crc_extra
_POSITION_CRC_EXTRA = KNOWN[GLOBAL_POSITION_INT].crc_extra
_HEADER = HEADER_LENGTH
_ID_AT, _SYSTEM_AT = 7, 5


@njit(cache=True)
def _signed(value, n_bits):
    return value - (1 << n_bits) if value >> (n_bits - 1) else value


@njit(
    types.UniTuple(int64, 2)(
        types.Bytes(uint8, 1, "C", readonly=True), int64, uint8[::1], float64[::1], float64[::1]
    ),
    cache=True,
)
def read_reports(datagram, system_id, payload, attitude, position):
    """Read the reports with which a datagram begins, in this order: attitude, position.

    Either may be missing. Returns which were found, a sum of `HAS_ATTITUDE` and `HAS_POSITION`, and
    where the rest begins: another message, or a frame that is signed, damaged or of another system.
    `attitude` is (N_ATTITUDE,), `position` (N_POSITION,); `payload`
    (PAYLOAD_BYTES,) is overwritten.
    """
    found, place = 0, 0
    while place + _HEADER + 2 < len(datagram):
        end = place + _HEADER + datagram[place + 1] + 2
        if end > len(datagram) or datagram[place + _SYSTEM_AT] != system_id:
            break
        frame = datagram[place:end]
        message_id = get_integer(frame, _ID_AT, 3)
        if message_id == _ATTITUDE and found == 0:
            crc_extra = _ATTITUDE_CRC_EXTRA
        elif message_id == _POSITION and found < HAS_POSITION:
            crc_extra = _POSITION_CRC_EXTRA
        else:
            break
        if not is_whole(frame, len(frame), message_id, crc_extra):
            break
        unpack_payload(frame, payload, PAYLOAD_BYTES)
        if message_id == _ATTITUDE:
            for i in range(N_ATTITUDE):
                attitude[i] = get_float(payload, 4 + 4 * i)
            found |= HAS_ATTITUDE
        else:
            position[0] = get_integer(payload, 0, 4)
            for i in range(3):
                position[1 + i] = _signed(get_integer(payload, 4 + 4 * i, 4), 32)
                position[4 + i] = _signed(get_integer(payload, 20 + 2 * i, 2), 16)
            found |= HAS_POSITION
        place = end
    return found, place
