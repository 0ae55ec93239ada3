# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes by address for compiled kernels: one number, or the eight of `lanes`.

Nothing is checked: the caller ensures that addresses lie inside living arrays.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from aerotwin_rendering.rasteriser.lanes import (
    BITS,
    INTEGERS,
    LONGS,
    N_LANES,
    Lanes,
    is_float,
    lane_njit,
    spread,
    to_longs,
    vector_of,
)

SPARE = N_LANES - 1
"""Elements behind an array that is read or written by blocks of lanes."""


def _loaded(builder, address, kind):
    """Generate the load of a value of a type of LLVM."""
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1, typ=kind)


def _stored(context, builder, address, value):
    """Generate the store of a value; return what a function without a result returns."""
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=1)
    return context.get_dummy_value()


def _loader(element):
    """Return the type and the generator of what loads eight numbers from an address."""

    def generate(context, builder, form, arguments):
        return _loaded(builder, arguments[0], vector_of(element))

    return Lanes(element)(types.uint64), generate


@intrinsic
def load_doubles(typing_context, address):
    """Return eight float64 at an address."""
    return _loader(types.float64)


@intrinsic
def load_floats(typing_context, address):
    """Return eight float32 at an address."""
    return _loader(types.float32)


@intrinsic
def load_integers(typing_context, address):
    """Return eight int32 at an address."""
    return _loader(types.int32)


def _reader(element):
    """Return the type and the generator of what loads one number from an address."""

    def generate(context, builder, form, arguments):
        return _loaded(builder, arguments[0], vector_of(element).element)

    return element(types.uint64), generate


@intrinsic
def read_long(typing_context, address):
    """Return one int64 at an address."""
    return _reader(types.int64)


@intrinsic
def read_integer(typing_context, address):
    """Return one int32 at an address."""
    return _reader(types.int32)


@intrinsic
def read_float(typing_context, address):
    """Return one float32 at an address."""
    return _reader(types.float32)


def _unsigned_loader(bits):
    """Return the type and the generator of what loads eight small unsigned numbers as int32."""

    def generate(context, builder, form, arguments):
        small = _loaded(builder, arguments[0], ir.VectorType(ir.IntType(bits), N_LANES))
        return builder.zext(small, vector_of(types.int32))

    return INTEGERS(types.uint64), generate


@intrinsic
def load_bytes(typing_context, address):
    """Return eight bytes at an address as int32."""
    return _unsigned_loader(8)


@intrinsic
def load_shorts(typing_context, address):
    """Return eight uint16 at an address as int32."""
    return _unsigned_loader(16)


@intrinsic
def store(typing_context, address, lanes):
    """Write eight numbers at an address."""

    def generate(context, builder, form, arguments):
        return _stored(context, builder, *arguments)

    return types.void(types.uint64, lanes), generate


@intrinsic
def store_bytes(typing_context, address, integers):
    """Write the lowest bytes of eight int32 at an address."""

    def generate(context, builder, form, arguments):
        low = builder.trunc(arguments[1], ir.VectorType(ir.IntType(8), N_LANES))
        return _stored(context, builder, arguments[0], low)

    return types.void(types.uint64, INTEGERS), generate


def _gatherer(element):
    """Return the type and the generator of what reads a number at each of eight addresses."""

    def generate(context, builder, form, arguments):
        vector, pointers = vector_of(element), ir.VectorType(ir.PointerType(), N_LANES)
        masks = vector_of(types.boolean)
        kind = ir.FunctionType(vector, [pointers, ir.IntType(32), masks, vector])
        letter = "f" if is_float(element) else "i"
        name = f"llvm.masked.gather.v{N_LANES}{letter}{BITS[element]}.v{N_LANES}p0"
        gather = cgutils.get_or_insert_function(builder.module, kind, name)
        every = ir.Constant(masks, [1] * N_LANES)
        places = builder.inttoptr(arguments[0], pointers)
        at_any_byte = ir.Constant(ir.IntType(32), 1)
        return builder.call(gather, [places, at_any_byte, every, ir.Constant(vector, ir.Undefined)])

    return Lanes(element)(LONGS), generate


@intrinsic
def gather_integers(typing_context, addresses):
    """Return the int32 at each address."""
    return _gatherer(types.int32)


@intrinsic
def gather_floats(typing_context, addresses):
    """Return the float32 at each address."""
    return _gatherer(types.float32)


@intrinsic
def gather_longs(typing_context, addresses):
    """Return the int64 at each address."""
    return _gatherer(types.int64)


@lane_njit(forceinline=True)
def places_in(table, index, n_bytes):
    """Return the addresses of eight elements, int32 indices, of a table at an address (int64)."""
    return spread(table) + to_longs(index) * spread(np.int64(n_bytes))


def with_spare(values: np.ndarray) -> np.ndarray:
    """Return a copy of an array with as many elements behind it as a block of lanes may touch."""
    memory = np.zeros(values.size + SPARE, values.dtype)
    memory[: values.size] = values.ravel()
    return memory[: values.size].reshape(values.shape)
