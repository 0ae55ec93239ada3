# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames out of streams that are cut, damaged and mixed; oracle: the list of what was sent."""

import re

import numpy as np
import pytest
from pymavlink.dialects.v20 import ardupilotmega as ardupilot
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_px4_bridge.mavlink2 import (
    COMMAND_ACK,
    HIL_ACTUATOR_CONTROLS,
    HIL_SENSOR,
    KNOWN,
    ODOMETRY,
    UNFINISHED,
    FrameReader,
    MessageLayout,
    pack_frame,
    split_datagram,
)
from aerotwin_px4_bridge.messages import (
    pack_hil_actuator_controls,
    parse_hil_actuator_controls,
)


def _answer(n: int, **keywords) -> bytes:
    controls = [0.1 + 0.001 * (n % 800)] * 4
    return pack_hil_actuator_controls(4000 * n, controls, is_armed=True, sequence=n, **keywords)


def _times(frames) -> list[int]:
    return [parse_hil_actuator_controls(f.payload).time_us // 4000 for f in frames]


def test_frames_come_out_of_single_bytes_in_order():
    reader = FrameReader()
    stream = b"".join(_answer(n) for n in range(1, 20))
    frames = [f for byte in stream for f in reader.feed_bytes(bytes([byte]))]
    assert _times(frames) == list(range(1, 20))
    assert reader.n_skipped_bytes == 0


def test_header_fields_are_read():
    (frame,) = FrameReader().feed_bytes(_answer(300, system_id=7))
    assert (frame.message_id, frame.system_id, frame.component_id) == (HIL_ACTUATOR_CONTROLS, 7, 1)
    assert frame.sequence == 300 % 256


def test_garbage_before_a_frame_is_skipped_and_counted():
    reader = FrameReader()
    assert _times(reader.feed_bytes(b"boot: hello\n\x00\xff" + _answer(5))) == [5]
    assert reader.n_skipped_bytes == 14


def test_a_wrong_checksum_drops_one_frame_only():
    damaged = bytearray(_answer(2))
    damaged[20] ^= 0x40
    assert _times(FrameReader().feed_bytes(_answer(1) + bytes(damaged) + _answer(3))) == [1, 3]


def test_a_damaged_length_does_not_swallow_the_next_frame():
    damaged = bytearray(_answer(2))
    damaged[1] = 40
    assert _times(FrameReader().feed_bytes(bytes(damaged) + _answer(3))) == [3]


def test_a_false_start_does_not_hold_back_a_whole_frame():
    """Lockstep: nothing more comes until we answer, so the frame must come out at once."""
    false_start = _answer(9)[:11]
    assert _times(FrameReader().feed_bytes(false_start + _answer(1))) == [1]


def test_messages_that_are_not_ours_are_skipped():
    codec = mavlink.MAVLink(None, 1, 1)
    other = mavlink.MAVLink_vfr_hud_message(1.0, 1.0, 90, 50, 500.0, 0.1).pack(codec)
    reader = FrameReader()
    assert _times(reader.feed_bytes(_answer(1) + other + _answer(2))) == [1, 2]
    assert reader.n_skipped_bytes == len(other)


def test_a_signed_frame_is_read():
    codec = mavlink.MAVLink(None, 1, 1)
    codec.signing.secret_key = b"k" * 32
    codec.signing.sign_outgoing = True
    codec.signing.timestamp = 1
    message = mavlink.MAVLink_hil_actuator_controls_message(8000, [0.5] * 16, 129, 1)
    assert _times(FrameReader().feed_bytes(message.pack(codec) + _answer(3))) == [2, 3]


def test_an_unknown_incompatible_flag_refuses_the_frame():
    frame = bytearray(_answer(1))
    frame[2] = 0x02
    assert FrameReader().feed_bytes(bytes(frame)) == []


@pytest.mark.parametrize("seed", range(8))
def test_every_frame_is_found_between_noise_however_it_is_cut(seed):
    rng = np.random.default_rng(seed)
    parts: list[bytes] = []
    for n in range(1, 60):
        noise = rng.integers(0, 256, rng.integers(0, 60), dtype=np.uint8).tobytes()
        parts += [noise.replace(b"\x5d", b"\xfd"), _answer(n)]
    stream = b"".join(parts)
    cuts = np.sort(rng.integers(0, len(stream), 40))
    reader = FrameReader()
    frames = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        frames += reader.feed_bytes(stream[start:end])
    assert _times(frames) == list(range(1, 60))


def test_the_buffer_of_a_reader_stays_small_under_endless_noise():
    reader = FrameReader()
    rng = np.random.default_rng(1)
    for _ in range(100):
        assert reader.feed_bytes(rng.integers(0, 256, 4096, dtype=np.uint8).tobytes()) == []
    assert len(reader._buffer) < 4096
    assert reader.n_skipped_bytes > 99 * 4096


def test_only_known_messages_can_be_packed():
    with pytest.raises(KeyError):
        pack_frame(9999, b"x", system_id=1, component_id=1)


PUBLISHED = {HIL_ACTUATOR_CONTROLS: (81, 47), HIL_SENSOR: (65, 108), ODOMETRY: (233, 91)}
"""Length with extensions and CRC_EXTRA as common.xml gives them."""


@pytest.mark.parametrize("message_id", PUBLISHED)
def test_lengths_and_checksum_seeds_are_those_of_common_xml(message_id):
    layout = KNOWN[message_id]
    assert (layout.size, layout.crc_extra) == PUBLISHED[message_id]


@pytest.mark.parametrize("message_id", sorted(KNOWN))
def test_fields_lie_where_pymavlink_packs_them(message_id):
    kind = ardupilot.mavlink_map[message_id]
    layout = KNOWN[message_id]
    numbers = iter(range(1, 120))
    fields = {}
    for name, array_length, item in zip(
        kind.ordered_fieldnames, kind.array_lengths, _items(layout.wire.format), strict=True
    ):
        if item.endswith("s"):
            fields[name] = bytes([next(numbers)]).ljust(array_length, b"\0")
        elif array_length:
            fields[name] = tuple(next(numbers) for _ in range(array_length))
        else:
            fields[name] = next(numbers)
    message = kind(**{name: fields[name] for name in kind.fieldnames})
    codec = mavlink.MAVLink(None, 3, 4)
    (frame,) = split_datagram(message.pack(codec))
    assert vars(layout.record(frame.payload)) == fields
    flat = [v for value in fields.values() for v in _flat(value)]
    assert layout.pack(*flat) == frame.payload


def _items(wire: str) -> list[str]:
    return re.findall(r"\d*[a-zA-Z]", wire)


def _flat(value) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def test_a_value_that_does_not_fit_names_the_message():
    with pytest.raises(ValueError, match="does not fit COMMAND_ACK"):
        KNOWN[COMMAND_ACK].pack(70_000, 0, 0, 0, 0, 0)


def test_messages_that_pymavlink_leaves_out_have_a_layout():
    for name, (number, wire, crc_extra) in UNFINISHED.items():
        layout = MessageLayout(name)
        assert (layout.id, layout.wire.format, layout.crc_extra) == (number, wire, crc_extra)


def _position() -> bytes:
    message = mavlink.MAVLink_global_position_int_message(1, 2, 3, 4, 5, 6, 7, 8, 9000)
    return message.pack(mavlink.MAVLink(None, 1, 1))


def test_a_datagram_with_many_messages_is_cut():
    vfr_hud = mavlink.MAVLink_vfr_hud_message(1, 1, 9, 5, 5, 0.1)
    current = mavlink.MAVLink_mission_current_message(3)
    data = _position() + vfr_hud.pack(mavlink.MAVLink(None, 1, 1))
    data += current.pack(mavlink.MAVLink(None, 9, 1)) + b"rubbish"
    frames = split_datagram(data)
    assert [(frame.message_id, frame.system_id) for frame in frames] == [(33, 1), (74, 1), (42, 9)]
    assert frames[1].payload == b""


def test_damaged_and_cut_messages_are_left_out_of_a_datagram():
    whole = _position()
    damaged = bytearray(whole)
    damaged[15] ^= 0x01
    assert [frame.message_id for frame in split_datagram(bytes(damaged) + whole)] == [33]
    for n in range(len(whole)):
        assert split_datagram(whole[:n]) == []


def test_a_newer_sender_may_have_added_fields():
    frame = mavlink.MAVLink_mission_current_message(3, 4, 5, 1).pack(mavlink.MAVLink(None, 1, 1))
    (read,) = split_datagram(frame)
    assert KNOWN[read.message_id].record(read.payload + b"\1\2\3\4").seq == 3


@pytest.mark.parametrize("seed", range(5))
def test_a_datagram_of_noise_holds_no_message(seed):
    rng = np.random.default_rng(seed)
    for _ in range(200):
        noise = b"\xfd" + rng.integers(0, 256, 60, dtype=np.uint8).tobytes()
        assert all(frame.payload == b"" for frame in split_datagram(noise))
