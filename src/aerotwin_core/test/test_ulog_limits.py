# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ULog files whose few bytes stand for more fields, or more reading, than a log has."""

import struct
import tracemalloc

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.ulog import open_ulog

HEADER = b"ULog\x01\x12\x35\x01" + bytes(8)


def record(kind, data):
    """Return a message of a ULog file."""
    return struct.pack("<HB", len(data), ord(kind)) + data


def log_of(formats, topic, n_instances=1):
    """Return a log with formats and subscriptions of a topic."""
    data = HEADER + b"".join(record("F", text.encode()) for text in formats)
    return data + b"".join(
        record("A", struct.pack("<BH", k % 256, k) + topic.encode()) for k in range(n_instances)
    )


BOMB = log_of([*(f"a{k}:a{k + 1}[65535] x;" for k in range(3)), "a3:uint8_t[65535] x;"], "a0")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(BOMB, "topics have more than 200000 fields", id="nested arrays"),
        pytest.param(
            log_of(["a:uint8_t[60000] x;"], "a", 50), "200000 fields", id="many subscriptions"
        ),
        pytest.param(
            log_of(["e:", "a:e[65535] x;", "b:a[65535] y;"], "b"), "200000 fields", id="of nothing"
        ),
        pytest.param(log_of(["a:a x;"], "a"), "nested more than 50 deep", id="holds itself"),
        pytest.param(HEADER + b"\xff" * 4_000_000, "cannot be followed", id="wrong lengths"),
        pytest.param(
            log_of(["a:bool x;"], "a") + b"\xff" * 4_000_000, "cannot be followed", id="behind"
        ),
    ],
)
def test_what_expands_beyond_a_log_is_refused_before_it_does(tmp_path, capsys, data, message):
    path = tmp_path / "log.ulg"
    path.write_bytes(data)
    with pytest.raises(UserError, match=rf"log\.ulg: .*{message}"):
        open_ulog(path)
    assert capsys.readouterr() == ("", "")


def test_a_bomb_of_few_bytes_takes_no_memory(tmp_path):
    assert len(BOMB) < 167
    (tmp_path / "log.ulg").write_bytes(BOMB)
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match="fields"):
            open_ulog(tmp_path / "log.ulg")
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_nested_formats_and_arrays_that_are_meant_are_read(tmp_path):
    path = tmp_path / "log.ulg"
    formats = ["inner:float[2] v;", "a:uint64_t timestamp;inner[2] x;"]
    values = struct.pack("<HQ4f", 0, 7, 1.0, 2.0, 3.0, 4.0)
    path.write_bytes(log_of(formats, "a") + record("D", values) + record("D", values))
    (topic,) = open_ulog(path, ["a"]).data_list
    assert list(topic.data) == ["timestamp", "x[0].v[0]", "x[0].v[1]", "x[1].v[0]", "x[1].v[1]"]
    np.testing.assert_array_equal(topic.data["x[1].v[0]"], [3.0, 3.0])
    assert open_ulog(path, ["b"]).data_list == []


def test_what_is_no_log_is_named(tmp_path):
    (tmp_path / "log.ulg").write_bytes(b"no log")
    with pytest.raises(UserError, match=r"log\.ulg: not a readable ULog"):
        open_ulog(tmp_path / "log.ulg")
    with pytest.raises(UserError, match=r"b\.ulg: cannot be read"):
        open_ulog(tmp_path / "b.ulg")
