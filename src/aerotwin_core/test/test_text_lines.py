# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines of text files: ends, encodings, pieces, and what is too long."""

import tracemalloc

import pytest

from aerotwin_core import text_lines as module
from aerotwin_core.errors import UserError
from aerotwin_core.text_lines import MAX_LINE, text_lines


@pytest.mark.parametrize("step_bytes", [1, 2, 3, 1 << 18])
@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\nb\r\nc\rd\n\n", ["a", "b", "c", "d", ""]),
        (b"\xef\xbb\xbf1 2\n", ["1 2"]),
        ("1 m\u00b2\n\u2028\x0c2".encode(), ["1 m\u00b2", "\u2028\x0c2"]),
        (b"\xff\xc3\n\xc3", ["\ufffd\ufffd", "\ufffd"]),
    ],
)
def test_lines_are_cut_at_their_ends_alone(tmp_path, monkeypatch, data, lines, step_bytes):
    monkeypatch.setattr(module, "_STEP_BYTES", step_bytes)
    (tmp_path / "a.txt").write_bytes(data)
    assert list(text_lines(tmp_path / "a.txt")) == lines


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_is_too_long_is_named_and_takes_no_memory(tmp_path, end):
    path = tmp_path / "a.txt"
    path.write_bytes(b"1\n" + b"2" * MAX_LINE + end)
    assert [len(line) for line in text_lines(path)] == [1, MAX_LINE]
    path.write_bytes(b"1\n" + b"2 " * 20_000_000 + end)
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=r"a\.txt: line 2 has more than 65536 characters"):
            list(text_lines(path))
        assert tracemalloc.get_traced_memory()[1] < 4e6
    finally:
        tracemalloc.stop()


def test_a_file_that_is_too_long_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"12345\n" * 10)
    assert len(list(text_lines(path, max_bytes=60))) == 10
    with pytest.raises(UserError, match=r"a\.txt: more than 59 bytes"):
        list(text_lines(path, max_bytes=59))


def test_its_first_bytes_can_be_looked_at_before_any_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 10_000)
    heads: list[bytes] = []
    assert list(text_lines(path, check_head=heads.append)) == ["x" * 10_000]
    assert heads == [b"x" * 4096]
