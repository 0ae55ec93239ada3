# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled messages of every step. Oracle: pymavlink, field by field and byte by byte."""

from math import inf, nan

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_px4_bridge import hil_kernels as kernels
from aerotwin_px4_bridge.mavlink2 import HIL_SENSOR, KNOWN, FrameReader, pack_frame
from aerotwin_px4_bridge.messages import (
    pack_hil_actuator_controls,
    pack_hil_gps,
    pack_hil_sensor_sample,
    parse_hil_actuator_controls,
    parse_hil_sensor,
    read_lone_answer,
    read_lone_sensor,
)
from aerotwin_px4_bridge.shared_lane import pack_part

FLOAT32 = 1.2e-7  # relative rounding of a float32 field, two of them
ALTITUDE_M = 2e-3  # float32 near 10 km
BOTH = kernels.HAS_FIELD | kernels.HAS_PRESSURE
SENSOR_FIELDS = (
    "xacc", "yacc", "zacc", "xgyro", "ygyro", "zgyro", "xmag", "ymag", "zmag", "abs_pressure",
    "diff_pressure", "pressure_alt", "temperature",
)  # fmt: skip


def _random_sample(rng: np.random.Generator) -> np.ndarray:
    return np.array(
        [
            *rng.normal(0.0, 30.0, 3),
            *rng.normal(0.0, 5.0, 3),
            *rng.normal(0.0, 5e-5, 3),
            rng.uniform(25e3, 105e3),
            rng.uniform(220.0, 320.0),
        ]
    )


def _front_right_down(sample: np.ndarray, flags: int) -> list[float]:
    """Return the thirteen floats of HIL_SENSOR as the message defines them, the slow way."""
    flip = np.array([1.0, -1.0, -1.0])
    field = flip * sample[6:9] * 1e4 if flags & kernels.HAS_FIELD else np.zeros(3)
    air = [0.0] * 4
    if flags & kernels.HAS_PRESSURE:
        altitude = 44330.769 * (1.0 - (sample[9] / 101325.0) ** 0.190263)
        air = [sample[9] / 100.0, 0.0, altitude, sample[10] - 273.15]
    return [*(flip * sample[0:3]), *(flip * sample[3:6]), *field, *air]


def _as_pymavlink(time_us: int, sample: np.ndarray, flags: int, sequence: int) -> bytes:
    codec = mavlink.MAVLink(None, 1, 200)
    codec.seq = sequence
    fields = 0x3F | (0x1C0 if flags & kernels.HAS_FIELD else 0)
    fields |= 0x1A00 if flags & kernels.HAS_PRESSURE else 0
    floats = _front_right_down(sample, flags)
    return mavlink.MAVLink_hil_sensor_message(time_us, *floats, fields, 0).pack(codec)


@pytest.mark.parametrize("flags", [0, kernels.HAS_FIELD, kernels.HAS_PRESSURE, BOTH])
def test_every_field_of_a_sensor_message_is_that_of_pymavlink(flags):
    rng = np.random.default_rng(flags)
    for n in range(200):
        sample, time_us = _random_sample(rng), int(rng.integers(1, 2**53))
        ours = pack_hil_sensor_sample(time_us, sample, flags, sequence=n)
        (read,) = mavlink.MAVLink(None).parse_buffer(ours)
        for name, expected in zip(SENSOR_FIELDS, _front_right_down(sample, flags), strict=True):
            rounding = ALTITUDE_M if name == "pressure_alt" else 0.0
            assert getattr(read, name) == pytest.approx(expected, rel=FLOAT32, abs=rounding)
        assert (read.time_usec, read.get_seq(), read.id) == (time_us, n % 256, 0)
        assert (read.get_srcSystem(), read.get_srcComponent()) == (1, 200)


@pytest.mark.parametrize("flags", [0, kernels.HAS_FIELD])
def test_a_sensor_message_is_that_of_pymavlink_to_the_byte(flags):
    """Without the pressure altitude, whose power function may differ in its last bit."""
    rng = np.random.default_rng(7)
    for n in range(300):
        sample, time_us = _random_sample(rng), 4000 * (n + 1)
        ours = pack_hil_sensor_sample(time_us, sample, flags, sequence=n)
        assert ours == _as_pymavlink(time_us, sample, flags, n % 256)


def test_several_samples_are_packed_as_each_alone():
    rng = np.random.default_rng(2)
    samples = np.array([_random_sample(rng) for _ in range(4)])
    samples[2, 0] = nan
    frames, lengths = np.zeros((4, kernels.FRAME_BYTES), np.uint8), np.zeros(4, np.int64)
    kernels.pack_sensors(frames, lengths, 4000, samples, BOTH, 3, 1, 200)
    for row, length, sample in zip(frames, lengths, samples, strict=True):
        alone = np.zeros(kernels.FRAME_BYTES, np.uint8)
        assert kernels.pack_sensor(alone, 4000, sample, BOTH, 3, 1, 200) == length
        if length != kernels.MALFORMED:
            assert bytes(row[:length]) == bytes(alone[:length])
    assert lengths[2] == kernels.MALFORMED


def test_a_sample_comes_back_through_the_plain_reader():
    sample = _random_sample(np.random.default_rng(4))
    (whole,) = FrameReader().feed_bytes(pack_hil_sensor_sample(8000, sample, BOTH))
    plain = parse_hil_sensor(whole.payload)
    np.testing.assert_allclose(plain.specific_force_body, sample[0:3], rtol=FLOAT32)
    np.testing.assert_allclose(plain.angular_velocity_body, sample[3:6], rtol=FLOAT32)
    np.testing.assert_allclose(plain.magnetic_field_body_tesla, sample[6:9], rtol=FLOAT32)
    assert plain.pressure_pa == pytest.approx(sample[9], rel=FLOAT32)
    assert plain.temperature_k == pytest.approx(sample[10], rel=FLOAT32)


@pytest.mark.parametrize("place", range(kernels.N_SAMPLE))
@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_a_sample_that_is_not_finite_is_not_packed(place, bad):
    sample = _random_sample(np.random.default_rng(5))
    sample[place] = bad
    with pytest.raises(ValueError, match="finite"):
        pack_hil_sensor_sample(4000, sample, BOTH)


@pytest.mark.parametrize(("time_us", "pressure"), [(0, 1e5), (-4000, 1e5), (4000, 0.0)])
def test_a_time_or_pressure_of_zero_is_not_packed(time_us, pressure):
    sample = _random_sample(np.random.default_rng(6))
    sample[kernels.PRESSURE] = pressure
    with pytest.raises(ValueError, match="HIL_SENSOR"):
        pack_hil_sensor_sample(time_us, sample, BOTH)


def test_a_float_beyond_float32_is_not_packed():
    sample = np.zeros(kernels.N_SAMPLE)
    sample[2] = 1e39
    with pytest.raises(ValueError, match="fit"):
        pack_hil_sensor_sample(4000, sample, 0)


def test_a_lone_answer_is_read_like_any_other():
    rng = np.random.default_rng(9)
    for n in range(200):
        values = rng.uniform(-1.0, 1.0, 16).tolist()
        message = mavlink.MAVLink_hil_actuator_controls_message(
            4000 * n + 1, values, 1 + 128 * (n % 2), n % 2
        )
        data = message.pack(mavlink.MAVLink(None, 1 + n, 1))
        system_id, controls = read_lone_answer(data)
        assert system_id == 1 + n
        (frame,) = FrameReader().feed_bytes(data)
        assert controls == parse_hil_actuator_controls(frame.payload)
        assert controls.controls == pytest.approx(values, rel=FLOAT32)
        assert (controls.is_armed, controls.is_lockstep) == (n % 2 == 1, n % 2 == 1)


@pytest.mark.parametrize("bad", [nan, inf, -inf, 1.1, -1.1])
def test_a_lone_answer_that_is_impossible_is_left_to_the_slow_reader(bad):
    message = mavlink.MAVLink_hil_actuator_controls_message(4000, [0.5, bad, *[0.0] * 14], 129, 1)
    assert read_lone_answer(message.pack(mavlink.MAVLink(None, 1, 1))) is None


def test_whatever_is_not_one_whole_answer_is_left_to_the_slow_reader():
    answer = pack_hil_actuator_controls(4000, [0.5] * 4, is_armed=True)
    assert read_lone_answer(answer) is not None
    for place in range(len(answer)):
        damaged = bytearray(answer)
        damaged[place] ^= 0x10
        assert read_lone_answer(bytes(damaged)) is None
    assert read_lone_answer(answer[:-1]) is None
    assert read_lone_answer(answer + answer) is None
    assert read_lone_answer(b"\0" * len(answer)) is None


def _read_slowly(data: bytes) -> bytes | None:
    """Return the payload when data is one HIL_SENSOR and nothing else, the slow way."""
    reader = FrameReader()
    frames = reader.feed_bytes(data)
    if len(frames) != 1 or reader.n_skipped_bytes or not reader.is_empty:
        return None
    return frames[0].payload if frames[0].message_id == HIL_SENSOR else None


def test_a_lone_sample_is_read_like_any_other():
    rng = np.random.default_rng(11)
    for n in range(200):
        data = pack_hil_sensor_sample(4000 * n + 1, _random_sample(rng), n % 4, sequence=n)
        assert read_lone_sensor(data) == _read_slowly(data) is not None


@pytest.mark.parametrize("n_zeros", range(66))
def test_the_zeros_that_a_sender_cuts_are_in_the_payload_of_a_lone_sample(n_zeros):
    for payload in (b"\x01" * 65, b"\x01" * (65 - n_zeros) + bytes(n_zeros)):
        data = pack_frame(HIL_SENSOR, payload, system_id=1, component_id=200)
        assert read_lone_sensor(data) == payload


def test_whatever_is_not_one_whole_sample_is_left_to_the_slow_reader():
    sample = _random_sample(np.random.default_rng(12))
    whole = pack_hil_sensor_sample(4000, sample, BOTH)
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        assert read_lone_sensor(bytes(damaged)) is None
        assert read_lone_sensor(whole[:place]) is None
    gps = pack_hil_gps(4000, 47.0, 8.0, 500.0, (0.0, 0.0, 0.0))
    for other in (whole + whole, whole + b"\0", b"\0" + whole, gps, gps + whole, bytes(77)):
        assert read_lone_sensor(other) is None


def test_of_a_packet_each_lone_sample_is_read_to_the_row_of_its_vehicle():
    """What came with another frame, a second time, or for none of the rows is only found."""
    sample = _random_sample(np.random.default_rng(14))
    whole = pack_hil_sensor_sample(4000, sample, BOTH)
    gps = pack_hil_gps(4000, 47.0, 8.0, 500.0, (0.0, 0.0, 0.0))
    frames = [(2, whole), (1, gps + whole), (0, whole), (2, whole), (3, whole)]
    packet = b"".join(pack_part(number, data) for number, data in frames)
    payloads, parts = np.zeros((3, 72), np.uint8), np.zeros((8, 5), np.int64)
    assert kernels.read_sensor_parts(packet, payloads, parts) == len(frames)
    assert parts[: len(frames), 0].tolist() == [number for number, _ in frames]
    found = [packet[begin:end] for begin, end in parts[: len(frames), 1:3].tolist()]
    assert found == [data for _, data in frames]
    assert parts[: len(frames), 3].tolist() == [4000, -1, 4000, -1, -1]
    assert parts[[0, 2], 4].tolist() == [0x1FFF & ~0x400] * 2
    expected = read_lone_sensor(whole)
    assert [row[:65].tobytes() for row in payloads] == [expected, bytes(65), expected]
    assert kernels.read_sensor_parts(packet[:-1], payloads, parts) == 0


def test_a_time_beyond_int64_is_left_to_the_slow_reader():
    payload = b"\xff" * 8 + bytes(56) + b"\x01"
    data = pack_frame(HIL_SENSOR, payload, system_id=1, component_id=200)
    assert read_lone_sensor(data) is None
    assert _read_slowly(data) == payload


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_read_as_the_slow_reader_reads_it(seed):
    """Some bytes of a frame are drawn anew; in half of the cases the checksum is made right."""
    rng = np.random.default_rng(seed)
    layout = KNOWN[HIL_SENSOR]
    n_read = 0
    for n in range(500):
        data = bytearray(pack_hil_sensor_sample(4000, _random_sample(rng), int(rng.integers(4))))
        for place in rng.integers(0, len(data), rng.integers(0, 3)):
            data[place] = rng.integers(256)
        if n % 2:
            data[-2:] = layout.checksum(bytes(data[1:-2])).to_bytes(2, "little")
        fast, slow = read_lone_sensor(bytes(data)), _read_slowly(bytes(data))
        is_late = slow is not None and slow[7] & 0x80
        assert fast == (None if is_late else slow)
        n_read += fast is not None
    assert n_read > 100


def test_a_malformed_sample_does_not_change_the_payload():
    data = pack_hil_sensor_sample(4000, _random_sample(np.random.default_rng(13)), BOTH)
    payload = np.full(kernels.PAYLOAD_BYTES, 7, np.uint8)
    assert kernels.read_sensor(data[:-1] + b"?", payload) == kernels.MALFORMED
    assert set(payload.tolist()) == {7}
    assert kernels.read_sensor(data, payload) == 4000


def test_an_answer_is_that_of_the_plain_packer_to_the_byte():
    rng = np.random.default_rng(14)
    frame = np.full(kernels.ANSWER_BYTES, 255, np.uint8)
    for n in range(600):
        controls = rng.uniform(-1.0, 1.0, n % 17)
        time_us = int(rng.integers(0, 2**64, dtype=np.uint64, endpoint=False))
        kernels.pack_answer(frame, time_us, controls, n % 2, n, n % 255 + 1)
        assert frame.tobytes() == pack_hil_actuator_controls(
            time_us, controls.tolist(), is_armed=n % 2 == 1, sequence=n, system_id=n % 255 + 1
        )
