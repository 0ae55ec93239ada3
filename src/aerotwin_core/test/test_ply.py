# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PLY elements of every type and layout, against bytes that struct packs."""

import io
import struct

import numpy as np
import pytest

from aerotwin_core.ply import PlyList, ply_columns, ply_header, write_ply

ORDERS = {"<": "binary_little_endian", ">": "binary_big_endian"}
KINDS = {
    "char": ("b", -128, 127), "uint8": ("B", 0, 255), "short": ("h", -32768, 32767),
    "uint16": ("H", 0, 65535), "int32": ("i", -(2**31), 2**31 - 1), "uint": ("I", 0, 2**32 - 1),
    "float": ("f", -0.5, 2.0**100), "double": ("d", 0.1, -1e300),
}  # fmt: skip


def head(form, *elements):
    lines = ["ply", f"format {form} 1.0", "comment made by a test"]
    for name, count, *properties in elements:
        lines += [f"element {name} {count}", *(f"property {p}" for p in properties)]
    return "\n".join([*lines, "end_header", ""]).encode()


def read(data, *, are_kinds_checked=True):
    return ply_columns(data, ply_header(data), are_kinds_checked=are_kinds_checked)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("lengths", [(2, 2, 2), (0, 3, 1)])
def test_every_type_is_read_as_it_was_packed(order, lengths):
    properties = [f"{name} p{i}" for i, name in enumerate(KINDS)]
    data = head(ORDERS[order], ("a", 2, *properties), ("b", 3, "list ushort int v", "uchar c"))
    for k in (1, 2):
        for code, *values in KINDS.values():
            data += struct.pack(order + code, values[k - 1])
    rows = [range(10 * n, 10 * n + n) for n in lengths]
    for row in rows:
        data += struct.pack(f"{order}H{len(row)}iB", len(row), *row, 7)
    columns, n_left = read(data + b"\n")
    assert n_left == 0
    for i, (code, *values) in enumerate(KINDS.values()):
        assert columns["a"][f"p{i}"].tolist() == values
        assert columns["a"][f"p{i}"].dtype == np.dtype(code)
    assert columns["b"]["v"].lengths.tolist() == list(lengths)
    assert columns["b"]["v"].values.tolist() == [value for row in rows for value in row]
    assert columns["b"]["c"].tolist() == [7, 7, 7]


def test_text_is_read_as_it_stands_or_in_its_types():
    data = head("ascii", ("a", 2, "float x", "uchar n"), ("b", 1, "list uchar int v"))
    data += b"0.1 1\n0.2\n2 3 7 8 9\n"  # a row may go on in the next line
    as_it_stands, _ = read(data, are_kinds_checked=False)
    typed, n_left = read(data)
    assert n_left == 0
    assert as_it_stands["a"]["x"].tolist() == [0.1, 0.2]
    assert typed["a"]["x"].tolist() == np.float32([0.1, 0.2]).tolist()
    assert typed["a"]["n"].dtype == np.uint8
    assert typed["b"]["v"].values.dtype == np.int32
    assert as_it_stands["b"]["v"].values.tolist() == [7.0, 8.0, 9.0]


def test_what_follows_the_last_element_is_counted():
    assert read(head("ascii", ("a", 1, "int x")) + b"1 23\n4\n")[1] == len("23 4")
    assert read(head(ORDERS["<"], ("a", 1, "uchar x")) + b"\x01\x02\x03")[1] == 2


def test_elements_of_nothing_take_no_memory():
    for form in ("ascii", *ORDERS.values()):
        assert read(head(form, ("a", 10**12), ("b", 0, "int x", "list uchar int v")))[0]["a"] == {}


def test_lists_of_one_length_are_rows():
    lists = PlyList(np.array([2, 3, 2]), np.arange(7))
    assert lists.rows(np.array([0, 2]), 2).tolist() == [[0, 1], [5, 6]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ply\nformat ascii 1.0\n", "no PLY header"),
        (b"ply\nelement a 1\nend_header\n", "names no format"),
        (b"ply\nformat zip 1.0\nend_header\n", "format zip is not known"),
        (b"ply\nformat ascii 1.0\nproperty int x\nend_header\n", "belongs to no element"),
        (head("ascii", ("a", -1, "int x")), "'element a -1' must be"),
        (head("ascii", ("a", "9" * 5000, "int x")), "must be an element"),
        (head("ascii", ("a", 1, "half x")), "type 'half' is not known"),
        (head("ascii", ("a", 1, "list int x")), "unknown property"),
        (head("ascii", ("a", 1, "list float int x")), "length of a list 'x' is no integer"),
        (head("ascii", ("a", 10**15, "int x")) + b"1", "element 'a': its text ends too early"),
        (head("ascii", ("a", 1, "list int int x")) + b"-1", "a list 'x' of -1 values"),
        (head("ascii", ("a", 1, "list int int x")), "its text ends too early"),
        (head("ascii", ("a", 1, "uchar x")) + b"256", "'x' is beyond its type"),
        (head("ascii", ("a", 1, "int x")) + b"nan", "'x' is beyond its type"),
        (head("ascii", ("a", 1, "int x")) + b"1.5", "'x' is not an integer"),
        (head("ascii", ("a", 1, "int x")) + b"one", "element 'a': .*one"),
        (head(ORDERS["<"], ("a", 10**15, "int x")) + b"1234", "bytes, 4 are left"),
        (head(ORDERS["<"], ("a", 1, "list int int x")) + b"\xff\xff\xff\x7f", "0 bytes are left"),
        (head(ORDERS["<"], ("a", 1, "list int int x")) + b"\xff\xff\xff\xff", "of -1 values"),
        (head(ORDERS["<"], ("a", 2, "list uchar char x")) + b"\x01\x05\x02\x05", "list 'x' of 2"),
    ],
)
def test_what_is_not_whole_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        read(data)


def test_what_is_written_is_read_back():
    rng = np.random.default_rng(1)
    columns = {
        "x": rng.normal(size=5),
        "y": rng.normal(size=5).astype(np.float32),
        "red": rng.integers(0, 256, 5).astype(np.uint8),
        "class": rng.integers(-(2**31), 2**31, 5).astype(np.int32),
    }
    file = io.BytesIO()
    write_ply(columns, file)
    (found,), n_left = read(file.getvalue())[0].values(), read(file.getvalue())[1]
    assert n_left == 0
    assert found.keys() == columns.keys()
    for name, column in columns.items():
        np.testing.assert_array_equal(found[name], column, strict=True)


def test_numbers_may_cross_the_parts_in_which_text_is_read():
    n = 40_000  # of 7 bytes each: several parts, none of whose ends is between two numbers
    numbers = [f"{k:06d}" for k in range(n)]
    data = head("ascii", ("a", n, "int x")) + " ".join(numbers).encode()
    columns, n_left = read(data)
    assert columns["a"]["x"].tolist() == list(range(n)) and n_left == 0


def test_a_number_as_long_as_the_file_is_refused():
    with pytest.raises(ValueError, match="a number of more than 65536 characters"):
        read(head("ascii", ("a", 1, "int x")) + b"1" * 1_000_000)
