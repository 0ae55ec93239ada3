# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""HIL_SENSOR and HIL_ACTUATOR_CONTROLS as compiled code: the two messages of every step.

Other compiled code may call it, for instance together with the dynamics and the sensors. A sample
is a flat array in FLU and SI, indexed by the constants below. Frames are complete: header, zero
truncation and checksum.

References: MAVLink developer guide, "Packet Serialization" and "MAVLink 2"; the checksum is
CRC-16/MCRF4XX. PX4 v1.14 SimulatorMavlink.hpp: the bits of `fields_updated`.
"""

import math

import numpy as np
from numba import float64, int64, types, uint8, uint64

from aerotwin_core.kernel_cache import njit
from aerotwin_px4_bridge.mavlink2 import (
    HEADER_LENGTH,
    HIL_ACTUATOR_CONTROLS,
    HIL_SENSOR,
    KNOWN,
)

FORCE, RATE, FIELD, PRESSURE, TEMPERATURE = 0, 3, 6, 9, 10
N_SAMPLE = 11
"""Specific force [m/s^2], angular velocity [rad/s], magnetic field [T], pressure [Pa] and
temperature [K] of a sample."""

HAS_FIELD, HAS_PRESSURE = 1, 2  # flags of a sample: its contents besides the IMU

BYTES_FIRST = -2  # in place of the time of a lone answer: other bytes came, to be read first
MALFORMED = -1  # returned for a value that is not finite or does not fit, and for an invalid frame

FRAME_BYTES = 77  # the longest HIL_SENSOR: 10 bytes of header, 65 of payload, 2 of checksum
PAYLOAD_BYTES = KNOWN[HIL_SENSOR].size

N_CONTROLS = 16
AUTOPILOT_COMPONENT_ID = 1
ANSWER_BYTES = 93
"""A HIL_ACTUATOR_CONTROLS that is not cut, because its last byte, the mode, is not zero."""
PART_HEAD_BYTES = 4
"""Of a part of a packet of `shared_lane`: number of the vehicle and bytes that follow, uint16."""
CONTROL_LIMIT = 1.0 + 1e-3
"""Outputs lie in [-1, 1]; the margin allows for float32 rounding in the sender."""

GAUSS_PER_TESLA = 1e4
PASCAL_PER_HPA = 100.0
KELVIN_OF_0_C = 273.15
FIELDS_IMU = 0x003F
FIELDS_MAG = 0x01C0
FIELDS_BARO = 0x1A00
STANDARD_PRESSURE_PA = 101325.0
ISA_SCALE_M = 44330.769
ISA_EXPONENT = 0.190263
"""h = scale (1 - (p / p0)^exponent), the inverse of the standard atmosphere (ISO 2533)."""

_FLOATS, _FIELDS = 18, 70  # byte offsets in a HIL_SENSOR
SYSTEM_ID_AT, FLAGS_AT, MODE_AT = 5, 18, 90  # byte offsets in a HIL_ACTUATOR_CONTROLS
_CONTROLS = 26
IS_LOCKSTEP, IS_CUSTOM_MODE, IS_ARMED = 0x01, 0x01, 0x80
_HEADER = HEADER_LENGTH
_SENSOR, _ANSWER = HIL_SENSOR, HIL_ACTUATOR_CONTROLS
_SENSOR_CRC_EXTRA = KNOWN[HIL_SENSOR].crc_extra
_ANSWER_CRC_EXTRA = KNOWN[HIL_ACTUATOR_CONTROLS].crc_extra


def _crc_of_bytes() -> np.ndarray:
    """Return what each value of a byte adds to the checksum (256,)."""
    low = np.arange(256)
    low ^= (low << 4) & 0xFF
    return (low << 8) ^ (low << 3) ^ (low >> 4)


_CRC_OF_BYTE = _crc_of_bytes()


@njit(cache=True)
def _crc(frame, stop, crc_extra):
    """Return the checksum of a frame whose checksum field begins at stop."""
    crc = 0xFFFF
    for i in range(1, stop):
        crc = (crc >> 8) ^ _CRC_OF_BYTE[(frame[i] ^ crc) & 0xFF]
    return (crc >> 8) ^ _CRC_OF_BYTE[(crc_extra ^ crc) & 0xFF]


@njit(cache=True)
def _write_bytes(frame, place, value, n):
    for i in range(n):
        frame[place + i] = (value >> (8 * i)) & 0xFF


@njit(cache=True)
def get_integer(frame, place, n):
    """Return the unsigned integer of n bytes at a place."""
    value = int64(0)
    for i in range(n):
        value |= int64(frame[place + i]) << (8 * i)
    return value


@njit(cache=True)
def _write_float(frame, index, value):
    """Write float number `index` of a HIL_SENSOR."""
    _write_bytes(frame, _FLOATS + 4 * index, int64(np.float32(value).view(np.uint32)), 4)


@njit(cache=True)
def get_float(frame, place):
    """Return the 32-bit number at a place."""
    return float64(np.uint32(get_integer(frame, place, 4)).view(np.float32))


@njit(cache=True)
def is_whole(frame, length, message_id, crc_extra):
    """Return whether frame[:length] is one unsigned, undamaged frame of this message."""
    stop = length - 2
    if length <= _HEADER + 2 or frame[0] != 0xFD or frame[2] != 0 or frame[1] != stop - _HEADER:
        return False
    return get_integer(frame, 7, 3) == message_id and get_integer(frame, stop, 2) == _crc(
        frame, stop, crc_extra
    )


@njit(cache=True)
def unpack_payload(frame, payload, size):
    """Copy the payload of a whole frame, with the zeros that were cut, to the first size bytes."""
    n = len(frame) - _HEADER - 2
    for i in range(size):
        payload[i] = frame[_HEADER + i] if i < n else 0


@njit(cache=True)
def pressure_altitude(pressure_pa):
    """Return the altitude [m] at which the standard atmosphere has this pressure."""
    return ISA_SCALE_M * (1.0 - (pressure_pa / STANDARD_PRESSURE_PA) ** ISA_EXPONENT)


@njit(cache=True)
def _write_values(frame, sample, flags):
    """Write the thirteen floats of the payload; return fields_updated."""
    fields = FIELDS_IMU
    for i in range(3):
        sign = 1.0 if i == 0 else -1.0  # FLU to FRD
        _write_float(frame, i, sign * sample[FORCE + i])
        _write_float(frame, 3 + i, sign * sample[RATE + i])
        if flags & HAS_FIELD:
            _write_float(frame, 6 + i, sign * GAUSS_PER_TESLA * sample[FIELD + i])
            fields |= FIELDS_MAG
    if flags & HAS_PRESSURE:
        _write_float(frame, 9, sample[PRESSURE] / PASCAL_PER_HPA)
        _write_float(frame, 11, pressure_altitude(sample[PRESSURE]))
        _write_float(frame, 12, sample[TEMPERATURE] - KELVIN_OF_0_C)
        fields |= FIELDS_BARO
    return fields


@njit(cache=True)
def _is_finite(frame):
    """Whether the thirteen floats are finite; a float64 beyond the range of float32 becomes inf."""
    total = 0.0
    for i in range(13):
        total += get_float(frame, _FLOATS + 4 * i)
    return math.isfinite(total)


@njit(int64(uint8[::1], int64, float64[::1], int64, int64, int64, int64), cache=True)
def pack_sensor(frame, time_us, sample, flags, sequence, system_id, component_id):
    """Write a HIL_SENSOR frame; return its length, or `MALFORMED`.

    `frame` is (>= FRAME_BYTES,) uint8, `sample` (N_SAMPLE,) in FLU, SI; the time is simulated time,
    above zero. `flags` are `HAS_FIELD`, `HAS_PRESSURE` or both: the new parts of the sample.
    """
    frame[:FRAME_BYTES] = 0
    if time_us <= 0 or (flags & HAS_PRESSURE and not sample[PRESSURE] > 0.0):
        return MALFORMED
    _write_bytes(frame, _HEADER, time_us, 8)
    _write_bytes(frame, _FIELDS, _write_values(frame, sample, flags), 4)
    if not _is_finite(frame):
        return MALFORMED
    stop = _HEADER + PAYLOAD_BYTES
    while frame[stop - 1] == 0:
        stop -= 1
    frame[0], frame[1], frame[4] = 0xFD, stop - _HEADER, sequence & 0xFF
    frame[5], frame[6], frame[7] = system_id, component_id, _SENSOR
    _write_bytes(frame, stop, _crc(frame, stop, _SENSOR_CRC_EXTRA), 2)
    return stop + 2


@njit((uint8[:, ::1], int64[::1], int64, float64[:, ::1], int64, int64, int64, int64), cache=True)
def pack_sensors(frames, lengths, time_us, samples, flags, sequence, system_id, component_id):
    """Write a HIL_SENSOR frame of each row, as `pack_sensor`, and its length.

    `frames` are (n, >= FRAME_BYTES) uint8, `lengths` (n,), `samples` (n, N_SAMPLE).
    """
    for k in range(len(samples)):
        lengths[k] = pack_sensor(
            frames[k], time_us, samples[k], flags, sequence, system_id, component_id
        )


@njit(int64(uint8[::1], int64[::1], uint8[:, ::1], int64[::1], types.boolean[::1]), cache=True)
def join_parts(packet, numbers, frames, lengths, is_joined):
    """Write a packet of `shared_lane` with the frames of some vehicles; return its length.

    Of each vehicle `numbers` (n,) has the number, `frames` (n, k) and `lengths` (n,) its frame,
    `is_joined` (n,) whether it has a part.
    """
    place = 0
    for k in range(len(numbers)):
        if is_joined[k]:
            _write_bytes(packet, place, numbers[k], 2)
            _write_bytes(packet, place + 2, lengths[k], 2)
            place += PART_HEAD_BYTES
            packet[place : place + lengths[k]] = frames[k, : lengths[k]]
            place += lengths[k]
    return place


@njit(cache=True)
def _read_answer(frame, controls):
    if not is_whole(frame, ANSWER_BYTES, _ANSWER, _ANSWER_CRC_EXTRA):
        return MALFORMED
    for i in range(N_CONTROLS):
        value = get_float(frame, _CONTROLS + 4 * i)
        if not -CONTROL_LIMIT <= value <= CONTROL_LIMIT:  # nor a NaN
            return MALFORMED
        controls[i] = value
    return get_integer(frame, _HEADER, 8)


@njit(
    int64(types.Bytes(uint8, 1, "C", readonly=True), float64[::1]),
    cache=True,
)
def read_answer(frame, controls):
    """Read one whole HIL_ACTUATOR_CONTROLS frame; return its `time_usec`, or `MALFORMED`.

    `frame` are ANSWER_BYTES as received; its checksum is verified. The outputs, each in
    [-1, 1], are written to `controls` (N_CONTROLS,).
    """
    return _read_answer(frame, controls)


@njit(cache=True)
def _is_cut(packet):
    place, size = 0, len(packet)
    while place < size:
        if place + PART_HEAD_BYTES > size:
            return True
        place += PART_HEAD_BYTES + get_integer(packet, place + 2, 2)
    return place > size


@njit(
    types.UniTuple(int64, 2)(
        types.Bytes(uint8, 1, "C", readonly=True),
        int64,
        int64[:, ::1],
        float64[:, ::1],
        int64[:, ::1],
    ),
    cache=True,
)
def sort_parts(packet, packet_number, answers, outputs, others):
    """Sort the parts of a packet of `shared_lane`; return how many are lone answers, and others.

    The lone answer of a vehicle whose row of `answers` (n, 6) is free, `MALFORMED` first, gets it:
    `time_usec`, the system that sent it, whether that is armed, the number of the packet, where it
    begins and ends there; its row of `outputs` (n, N_CONTROLS) gets the outputs. Of any other part,
    `others` (k, 3) gets the vehicle's number, begin and end, and a free row `BYTES_FIRST`.
    `MALFORMED` twice if the packet is cut, which changes nothing.
    """
    if _is_cut(packet):
        return MALFORMED, MALFORMED
    n_alone, n_others, place = 0, 0, 0
    while place < len(packet):
        number, begin = get_integer(packet, place, 2), place + PART_HEAD_BYTES
        place = begin + get_integer(packet, begin - 2, 2)
        is_free = number < len(answers) and answers[number, 0] == MALFORMED
        if is_free and place - begin == ANSWER_BYTES:
            time_us = _read_answer(packet[begin:place], outputs[number])
            if time_us >= 0:
                answers[number, 0], answers[number, 1] = time_us, packet[begin + SYSTEM_ID_AT]
                answers[number, 2] = packet[begin + MODE_AT] & IS_ARMED
                answers[number, 3] = packet_number
                answers[number, 4], answers[number, 5] = begin, place
                n_alone += 1
                continue
        if is_free:
            answers[number, 0] = BYTES_FIRST
        others[n_others, 0], others[n_others, 1], others[n_others, 2] = number, begin, place
        n_others += 1
    return n_alone, n_others


@njit(cache=True)
def _read_sensor(frame, payload):
    length = len(frame)
    if length > FRAME_BYTES or not is_whole(frame, length, _SENSOR, _SENSOR_CRC_EXTRA):
        return MALFORMED
    unpack_payload(frame, payload, PAYLOAD_BYTES)
    return get_integer(payload, 0, 8)


@njit(int64(types.Bytes(uint8, 1, "C", readonly=True), uint8[::1]), cache=True)
def read_sensor(frame, payload):
    """Read one whole HIL_SENSOR frame; return its `time_usec`, or `MALFORMED`.

    `frame` is the frame as received, nothing before or after it; its checksum is verified. Its
    contents, with the zeros that were cut, are written to `payload` (PAYLOAD_BYTES,), which a
    malformed frame does not change.
    """
    return _read_sensor(frame, payload)


@njit(
    int64(types.Bytes(uint8, 1, "C", readonly=True), uint8[:, ::1], int64[:, ::1]),
    cache=True,
)
def read_sensor_parts(packet, payloads, parts):
    """Read the parts of a packet of `shared_lane` that are one HIL_SENSOR; return how many it has.

    `parts` (k, 5) gets each vehicle's number, where its frames begin and end, and `time_usec` and
    `fields_updated` of a lone HIL_SENSOR, whose payload the row of `payloads` (n, >= PAYLOAD_BYTES)
    gets. `MALFORMED` for the time of other frames, and of a second part of a vehicle. A packet that
    is cut has no parts.
    """
    if _is_cut(packet):
        return 0
    n, place = 0, 0
    while place < len(packet):
        number, begin = get_integer(packet, place, 2), place + PART_HEAD_BYTES
        place = begin + get_integer(packet, begin - 2, 2)
        is_first = number < len(payloads) and not (parts[:n, 0] == number).any()
        parts[n, 0], parts[n, 1], parts[n, 2], parts[n, 3] = number, begin, place, MALFORMED
        if is_first:
            payload = payloads[number]
            parts[n, 3] = _read_sensor(packet[begin:place], payload)
            parts[n, 4] = get_integer(payload, PAYLOAD_BYTES - 5, 4)
        n += 1
    return n


@njit(types.void(uint8[::1], uint64, float64[::1], int64, int64, int64), cache=True)
def pack_answer(frame, time_us, controls, is_armed, sequence, system_id):
    """Write the HIL_ACTUATOR_CONTROLS of an autopilot in lockstep to `frame` (ANSWER_BYTES,).

    `controls` are the first of its N_CONTROLS outputs; the others are 0.
    """
    stop = ANSWER_BYTES - 2
    frame[:stop] = 0
    frame[0], frame[1], frame[4] = 0xFD, stop - _HEADER, sequence & 0xFF
    frame[5], frame[6], frame[7] = system_id, AUTOPILOT_COMPONENT_ID, _ANSWER
    _write_bytes(frame, _HEADER, int64(time_us), 8)
    frame[FLAGS_AT] = IS_LOCKSTEP
    for i in range(len(controls)):
        bits = int64(np.float32(controls[i]).view(np.uint32))
        _write_bytes(frame, _CONTROLS + 4 * i, bits, 4)
    frame[MODE_AT] = IS_CUSTOM_MODE | (IS_ARMED if is_armed else 0)
    _write_bytes(frame, stop, _crc(frame, stop, _ANSWER_CRC_EXTRA), 2)
