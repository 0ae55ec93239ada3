# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Eight numbers at a time in compiled kernels: `Lanes`, the vectors of LLVM.

The compiler vectorises no loop with a condition on each pixel, a table or eight turns only. Lanes
have the operators + - * / % >> & | and comparisons, which give the bits of eight scalar operations;
both operands are of one type. `memory` loads and stores them.

numba has no such type; this one is as long as what the kernels use.
"""

import functools
import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from aerotwin_core.kernel_cache import njit

N_LANES = 8


class Lanes(types.Type):
    """Eight numbers of one type."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"Lanes({element})")


BITS = {types.float64: 64, types.float32: 32, types.int64: 64, types.int32: 32, types.boolean: 1}
DOUBLES, FLOATS = Lanes(types.float64), Lanes(types.float32)
LONGS, INTEGERS, MASK = Lanes(types.int64), Lanes(types.int32), Lanes(types.boolean)


def is_float(element: Any) -> bool:
    """Return whether elements are no integers."""
    return isinstance(element, types.Float)


def vector_of(element: Any) -> ir.VectorType:
    """Return the type of LLVM of eight elements."""
    scalars = {types.float64: ir.DoubleType(), types.float32: ir.FloatType()}
    return ir.VectorType(scalars.get(element) or ir.IntType(BITS[element]), N_LANES)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, vector_of(lanes.element))


_ARITHMETIC = {
    operator.add: ("fadd", "add"),
    operator.sub: ("fsub", "sub"),
    operator.mul: ("fmul", "mul"),
    operator.truediv: ("fdiv", ""),
    operator.rshift: ("", "ashr"),
    operator.and_: ("", "and_"),
    operator.or_: ("", "or_"),
    operator.mod: ("", "srem"),
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
        if not is_float(element):
            return builder.icmp_signed(_COMPARISONS[operation], a, b)
        # A NaN differs from every number.
        is_unequal = operation is operator.ne
        compare = builder.fcmp_unordered if is_unequal else builder.fcmp_ordered
        return compare(_COMPARISONS[operation], a, b)
    result = getattr(builder, _ARITHMETIC[operation][not is_float(element)])(a, b)
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
            if names and not names[not is_float(lanes.element)]:
                return None
            return signature(lanes if names else MASK, lanes, lanes)

    @lower_builtin(operation, Lanes, Lanes)
    def lower(context: Any, builder: Any, form: Any, arguments: Any) -> Any:
        return _compute(operation, builder, form.args[0].element, *arguments)


for _operation in (*_ARITHMETIC, *_COMPARISONS):
    _define(_operation)

lane_njit = functools.partial(
    njit,
    nogil=True,
    cache=True,
    generated_by=(vector_of, _LanesModel.__init__, _compute, _define, _ARITHMETIC, _COMPARISONS),
)
"""`njit` of kernels with lanes: operators are no names that lead to what generates them."""


@intrinsic
def spread(typing_context, number):
    """Return a number eight times."""
    lanes = Lanes(number)

    def generate(context, builder, form, arguments):
        undefined = ir.Constant(vector_of(number), ir.Undefined)
        one = builder.insert_element(undefined, arguments[0], ir.Constant(ir.IntType(32), 0))
        first = ir.Constant(vector_of(types.int32), [0] * N_LANES)
        return builder.shuffle_vector(one, undefined, first)

    return lanes(number), generate


@intrinsic
def lane_numbers(typing_context):
    """Return 0, 1, 2 … as integers."""

    def generate(context, builder, form, arguments):
        return ir.Constant(vector_of(types.int32), list(range(N_LANES)))

    return INTEGERS(), generate


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
def first_of(typing_context, lanes):
    """Return the first number."""

    def generate(context, builder, form, arguments):
        return builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), 0))

    return lanes.element(lanes), generate


def _converter(instruction, source, target):
    """Return the type and the generator of a conversion."""

    def generate(context, builder, form, arguments):
        return getattr(builder, instruction)(arguments[0], vector_of(target))

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
        own = f"llvm.{name}.v{N_LANES}f{BITS[element]}"
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


@intrinsic
def ceil(typing_context, floats):
    """Return the smallest whole numbers that are not less."""
    return floats(floats), _function("ceil")


@lane_njit(forceinline=True)
def least(a, b):
    """Return the lower of each two numbers."""
    return select(a < b, a, b)


@lane_njit(forceinline=True)
def greatest(a, b):
    """Return the higher of each two numbers."""
    return select(a > b, a, b)
