# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes by address for compiled kernels, where arrays do not suffice.

Nothing is checked: the caller ensures that addresses lie inside living arrays.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_FOUR = ir.VectorType(ir.IntType(32), 4)


@intrinsic
def write_least_of_three(typing_context, a, b, c, floor, out):
    """Write four numbers at once: the least of those at a, b and c, but no less than the floor's.

    All are addresses of four int32. The compiler does not vectorise four comparisons side by side.
    """

    def generate(context, builder, signature, arguments):
        pointers = [builder.inttoptr(x, _FOUR.as_pointer()) for x in arguments]
        p, q, r, least = (builder.load(pointer, align=4) for pointer in pointers[:4])
        p = builder.select(builder.icmp_signed("<", p, q), p, q)
        p = builder.select(builder.icmp_signed("<", p, r), p, r)
        p = builder.select(builder.icmp_signed(">", p, least), p, least)
        builder.store(p, pointers[4], align=4)
        return context.get_dummy_value()

    return types.void(*[types.uint64] * 5), generate
