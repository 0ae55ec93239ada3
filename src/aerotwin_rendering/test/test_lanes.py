# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Eight numbers at a time are what NumPy computes of each, to the bit."""

import operator

import numpy as np
import pytest
from numba import njit

from aerotwin_core.kernel_cache import SourceStamp
from aerotwin_rendering.rasteriser import lanes, memory, shade_kernels, texel_kernels
from aerotwin_rendering.rasteriser.fill_kernels import fill_band
from aerotwin_rendering.rasteriser.lanes import (
    N_LANES,
    absolute,
    any_of,
    first_of,
    floor,
    lane_numbers,
    select,
    spread,
    to_floats,
    to_integers,
    to_longs,
)

SEED = 1000


@pytest.fixture
def rng():
    """Random numbers."""
    return np.random.default_rng(SEED)


def at(array):
    """Return the address of an array, which the caller keeps."""
    return np.uint64(array.ctypes.data)


@njit
def _float_results(a_at, b_at, out):
    a, b = memory.load_floats(a_at), memory.load_floats(b_at)
    size = np.uint64(4 * N_LANES)
    results = (
        a + b, a - b, a * b, a / b, floor(a), absolute(a), select(a < b, a, b),
        select(a >= b, a, b), select((a > spread(np.float32(0.0))) & (b <= a), a, b),
        to_floats(to_integers(a)),
    )  # fmt: skip
    for result in results:
        memory.store(out, result)
        out += size


def test_floats_are_those_of_numpy(rng):
    a, b = (rng.normal(0.0, 1e3, N_LANES).astype(np.float32) for _ in range(2))
    out = np.zeros((10, N_LANES), np.float32)
    _float_results(at(a), at(b), at(out))
    expected = [
        a + b, a - b, a * b, a / b, np.floor(a), np.abs(a), np.minimum(a, b), np.maximum(a, b),
        np.where((a > 0) & (b <= a), a, b), np.trunc(a),
    ]  # fmt: skip
    np.testing.assert_array_equal(out, expected)


@njit
def _integer_results(a_at, b_at, out):
    a, b = memory.load_integers(a_at), memory.load_integers(b_at)
    size = np.uint64(4 * N_LANES)
    three = spread(np.int32(3))
    results = (
        a + b, a - b, a * b, a >> three, a & b, a | b, a % b, a + lane_numbers(),
        select(a == b, a, three), select(a != b, a, three),
    )  # fmt: skip
    for result in results:
        memory.store(out, result)
        out += size


def test_integers_are_those_of_numpy(rng):
    a, b = rng.integers(-1000, 1000, N_LANES, np.int32), rng.integers(1, 40, N_LANES, np.int32)
    a[2] = b[2]
    out = np.zeros((10, N_LANES), np.int32)
    _integer_results(at(a), at(b), at(out))
    expected = [
        a + b, a - b, a * b, a >> 3, a & b, a | b, a % b, a + np.arange(N_LANES),
        np.where(a == b, a, 3), np.where(a != b, a, 3),
    ]  # fmt: skip
    np.testing.assert_array_equal(out, expected)


@njit
def _rounded(doubles_at, out):
    doubles = memory.load_doubles(doubles_at)
    memory.store(out, to_floats(doubles / spread(3.0)))
    return any_of(doubles > spread(1e9)), first_of(doubles)


def test_doubles_are_rounded_as_numpy_rounds_them(rng):
    doubles, out = rng.normal(0.0, 1e5, N_LANES), np.zeros(N_LANES, np.float32)
    assert _rounded(at(doubles), at(out)) == (False, doubles[0])
    np.testing.assert_array_equal(out, (doubles / 3.0).astype(np.float32))
    doubles[N_LANES - 1] = 2e9
    assert _rounded(at(doubles), at(out))[0]


@njit
def _gathered(table, index_at, longs, floats, integers):
    index = to_longs(memory.load_integers(index_at))
    places = spread(np.int64(table)) + index * spread(np.int64(1))
    memory.store(longs, memory.gather_longs(places))
    memory.store(floats, memory.gather_floats(places))
    memory.store(integers, memory.gather_integers(places))
    last = table + np.uint64(first_of(index))
    return memory.read_long(last), memory.read_float(last), memory.read_integer(last)


def test_numbers_are_gathered_at_any_byte(rng):
    table = rng.integers(0, 255, 100, np.uint8)
    index = rng.integers(0, 90, N_LANES, np.int32)
    for k, kind in enumerate((np.int64, np.float32, np.int32)):
        outs = [np.zeros(N_LANES, other) for other in (np.int64, np.float32, np.int32)]
        read = _gathered(at(table), at(index), *map(at, outs))
        expected = [table[i : i + np.dtype(kind).itemsize].view(kind)[0] for i in index.tolist()]
        np.testing.assert_array_equal(outs[k], np.array(expected))
        np.testing.assert_equal(kind(read[k]), expected[0])


@njit
def _bytes_plus_250(source, target):
    memory.store_bytes(target, memory.load_bytes(source) + spread(np.int32(250)))


def test_bytes_keep_their_lowest_eight_bits(rng):
    source, target = rng.integers(0, 255, N_LANES, np.uint8), np.zeros(N_LANES + 1, np.uint8)
    _bytes_plus_250(at(source), at(target))
    np.testing.assert_array_equal(target[:-1], source + np.uint8(250))
    assert target[-1] == 0


def test_what_stands_behind_rows_is_readable_and_their_numbers_are_the_same(rng):
    rows = rng.normal(size=(3, 5))
    copy = memory.with_spare(rows)
    np.testing.assert_array_equal(copy, rows)
    assert copy.base is not None
    assert copy.base.size >= rows.size + memory.SPARE


@njit
def _mixed_types(a, b):
    return spread(a) + spread(b)


def test_both_operands_are_of_one_type():
    with pytest.raises(Exception, match="No implementation of function"):
        _mixed_types(1.0, np.float32(1.0))


@njit
def _nan_comparisons(a_at):
    a = memory.load_floats(a_at)
    return any_of(a == a), any_of(a != a), any_of(a < a), any_of(a >= a)


def test_nan_compares_as_in_python():
    assert _nan_comparisons(at(np.full(N_LANES, np.nan, np.float32))) == (False, True, False, False)


@pytest.mark.parametrize(
    "kernel", [texel_kernels.least, texel_kernels.grey_of, shade_kernels._soften_row, fill_band]
)
def test_a_changed_operator_renews_the_kernels_that_use_it(kernel, monkeypatch):
    before = SourceStamp(kernel.py_func).digest
    assert SourceStamp(kernel.py_func).digest == before
    monkeypatch.setitem(lanes._ARITHMETIC, operator.add, ("fsub", "sub"))
    assert SourceStamp(kernel.py_func).digest != before
