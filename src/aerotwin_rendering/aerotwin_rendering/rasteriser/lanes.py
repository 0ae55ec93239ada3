# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Eight numbers at a time in compiled kernels: `Lanes`, the vectors of LLVM.

The compiler vectorises no loop with a condition on each pixel, a table or eight turns only. Lanes
have the operators + - * / % >> & | and comparisons, which give the bits of eight scalar operations;
both operands are of one type. Loads, stores and gathers take addresses, which are not checked: the
caller ensures that they lie inside living arrays.

numba has no such type; this one is as long as what the kernels use.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

N_LANES = 8
SPARE = N_LANES - 1
"""Elements behind an array that is read or written by blocks of lanes."""


class Lanes(types.Type):
    """Eight numbers of one type."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"Lanes({element})")


_BITS = {types.float64: 64, types.float32: 32, types.int64: 64, types.int32: 32, types.boolean: 1}
DOUBLES, FLOATS = Lanes(types.float64), Lanes(types.float32)
LONGS, INTEGERS, MASK = Lanes(types.int64), Lanes(types.int32), Lanes(types.boolean)


def _is_float(element: Any) -> bool:
    return isinstance(element, types.Float)


def _vector(element: Any) -> ir.VectorType:
    scalars = {types.float64: ir.DoubleType(), types.float32: ir.FloatType()}
    return ir.VectorType(scalars.get(element) or ir.IntType(_BITS[element]), N_LANES)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, _vector(lanes.element))


_ARITHMETIC = {
    operator.add: ("fadd", "add"),
    operator.sub: ("fsub", "sub"),
    operator.mul: ("fmul", "mul"),
    operator.truediv: ("fdiv", None),
    operator.rshift: (None, "ashr"),
    operator.and_: (None, "and_"),
    operator.or_: (None, "or_"),
    operator.mod: (None, "srem"),
}
"""Name of the instruction for floats and for integers."""
_COMPARISONS = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


def _compute(operation: Any, builder: Any, element: Any, a: Any, b: Any) -> Any:
    """Generate the instruction of an operator."""
    if operation in _COMPARISONS:
        compare = builder.fcmp_ordered if _is_float(element) else builder.icmp_signed
        return compare(_COMPARISONS[operation], a, b)
    result = getattr(builder, _ARITHMETIC[operation][not _is_float(element)])(a, b)
    if operation is operator.mod:  # as in Python, of a positive divisor
        is_negative = builder.icmp_signed("<", result, ir.Constant(result.type, None))
        result = builder.select(is_negative, builder.add(result, b), result)
    return result


def _define(operation: Any) -> None:
    """Make an operator work on lanes."""

    @infer_global(operation)
    class Operator(AbstractTemplate):
        def generic(self, arguments: Any, _keywords: Any) -> Any:
            if len(arguments) != 2 or arguments[0] != arguments[1]:
                return None
            lanes = arguments[0]
            if not isinstance(lanes, Lanes):
                return None
            names = _ARITHMETIC.get(operation)
            if names and names[not _is_float(lanes.element)] is None:
                return None
            return signature(lanes if names else MASK, lanes, lanes)

    @lower_builtin(operation, Lanes, Lanes)
    def lower(context: Any, builder: Any, form: Any, arguments: Any) -> Any:
        return _compute(operation, builder, form.args[0].element, *arguments)


for _operation in (*_ARITHMETIC, *_COMPARISONS):
    _define(_operation)

_OPERATORS = (_compute, _ARITHMETIC, _COMPARISONS)
"""What the code of every kernel with lanes depends on: `spread` names it for the kernel cache."""


@intrinsic
def spread(typing_context, number):
    """Return a number eight times."""
    assert _OPERATORS
    lanes = Lanes(number)

    def generate(context, builder, form, arguments):
        undefined = ir.Constant(_vector(number), ir.Undefined)
        zero = ir.Constant(ir.IntType(32), 0)
        one = builder.insert_element(undefined, arguments[0], zero)
        first = ir.Constant(ir.VectorType(ir.IntType(32), N_LANES), [0] * N_LANES)
        return builder.shuffle_vector(one, undefined, first)

    return lanes(number), generate


@intrinsic
def lane_numbers(typing_context):
    """Return 0, 1, 2 … as integers."""

    def generate(context, builder, form, arguments):
        return ir.Constant(_vector(types.int32), list(range(N_LANES)))

    return INTEGERS(), generate


def _loader(element):
    """Return the type and the generator of what loads eight numbers from an address."""

    def generate(context, builder, form, arguments):
        pointer = builder.inttoptr(arguments[0], _vector(element).as_pointer())
        return builder.load(pointer, align=1, typ=_vector(element))

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
        kind = _vector(element).element
        pointer = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.load(pointer, align=1, typ=kind)

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


@intrinsic
def load_bytes(typing_context, address):
    """Return eight bytes at an address as int32."""

    def generate(context, builder, form, arguments):
        octets = ir.VectorType(ir.IntType(8), N_LANES)
        pointer = builder.inttoptr(arguments[0], octets.as_pointer())
        return builder.zext(builder.load(pointer, align=1, typ=octets), _vector(types.int32))

    return INTEGERS(types.uint64), generate


@intrinsic
def store(typing_context, address, lanes):
    """Write eight numbers at an address."""

    def generate(context, builder, form, arguments):
        pointer = builder.inttoptr(arguments[0], arguments[1].type.as_pointer())
        builder.store(arguments[1], pointer, align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, lanes), generate


@intrinsic
def store_bytes(typing_context, address, integers):
    """Write the lowest bytes of eight int32 at an address."""

    def generate(context, builder, form, arguments):
        low = builder.trunc(arguments[1], ir.VectorType(ir.IntType(8), N_LANES))
        pointer = builder.inttoptr(arguments[0], low.type.as_pointer())
        builder.store(low, pointer, align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, INTEGERS), generate


@intrinsic
def select(typing_context, mask, lanes, others):
    """Return each number where its mask is true, or else that of the others."""

    def generate(context, builder, form, arguments):
        return builder.select(*arguments)

    return lanes(MASK, lanes, lanes), generate


@intrinsic
def any_of(typing_context, mask):
    """Return whether one is true."""

    def generate(context, builder, form, arguments):
        bits = builder.bitcast(arguments[0], ir.IntType(N_LANES))
        is_any = builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))
        return context.cast(builder, is_any, types.boolean, types.boolean)

    return types.boolean(MASK), generate


@intrinsic
def is_true(typing_context, mask, lane):
    """Return whether that of a lane is true."""

    def generate(context, builder, form, arguments):
        return builder.extract_element(*arguments)

    return types.boolean(MASK, types.int32), generate


@intrinsic
def first_of(typing_context, lanes):
    """Return the first number."""

    def generate(context, builder, form, arguments):
        return builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), 0))

    return lanes.element(lanes), generate


def _converter(instruction, source, target):
    """Return the type and the generator of a conversion."""

    def generate(context, builder, form, arguments):
        return getattr(builder, instruction)(arguments[0], _vector(target))

    return Lanes(target)(Lanes(source)), generate


@intrinsic
def to_floats(typing_context, lanes):
    """Convert float64 or int32 to float32."""
    instruction = "fptrunc" if lanes == DOUBLES else "sitofp"
    return _converter(instruction, lanes.element, types.float32)


@intrinsic
def to_integers(typing_context, floats):
    """Convert float32 to int32, towards zero."""
    return _converter("fptosi", types.float32, types.int32)


@intrinsic
def to_longs(typing_context, integers):
    """Convert int32 to int64."""
    return _converter("sext", types.int32, types.int64)


def _function(name):
    """Return the generator of a function of one float, which LLVM has for vectors."""

    def generate(context, builder, form, arguments):
        vector, element = arguments[0].type, form.args[0].element
        own = f"llvm.{name}.v{N_LANES}f{_BITS[element]}"
        kind = ir.FunctionType(vector, [vector])
        function = cgutils.get_or_insert_function(builder.module, kind, own)
        return builder.call(function, arguments)

    return generate


@intrinsic
def absolute(typing_context, lanes):
    """Return absolute values of floats."""
    return lanes(lanes), _function("fabs")


@intrinsic
def floor(typing_context, floats):
    """Return the largest whole numbers that are not greater."""
    return floats(floats), _function("floor")


def _gatherer(element):
    """Return the type and the generator of what reads a number at each of eight addresses."""

    def generate(context, builder, form, arguments):
        vector, pointers = _vector(element), ir.VectorType(ir.PointerType(), N_LANES)
        masks = _vector(types.boolean)
        kind = ir.FunctionType(vector, [pointers, ir.IntType(32), masks, vector])
        letter = "f" if _is_float(element) else "i"
        name = f"llvm.masked.gather.v{N_LANES}{letter}{_BITS[element]}.v{N_LANES}p0"
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


def with_spare(values: np.ndarray) -> np.ndarray:
    """Return a copy of an array with as many elements behind it as a block of lanes may touch."""
    memory = np.zeros(values.size + SPARE, values.dtype)
    memory[: values.size] = values.ravel()
    return memory[: values.size].reshape(values.shape)
