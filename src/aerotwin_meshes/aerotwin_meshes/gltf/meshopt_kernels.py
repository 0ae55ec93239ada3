# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that unpack meshoptimizer's triangle and index streams, byte by byte.

Reference: Khronos glTF extension EXT_meshopt_compression, appendix A, modes 1 and 2.
"""

import numpy as np

from aerotwin_core.kernel_cache import njit

_TRIANGLE_TAIL, _SEQUENCE_TAIL = 16, 4  # bytes: a table of codes, and nothing
_NEXT, _LAST, _AT, _VERTEX_AT, _EDGE_AT = range(5)
"""Places in the state: next new vertex, last explicit vertex, next byte, ends of both rings."""
_NEW, _EXPLICIT = 0, 15


@njit("int64(uint8[::1], int64[::1], int64)", cache=True, nogil=True)
def _number(data, state, end):
    """Return a varint: 7 bits a byte, low bits first.

    Beyond ``end`` the state stays past it: the caller checks once, at the end.
    """
    value = np.int64(0)
    for shift in range(0, 35, 7):
        if state[_AT] >= end:
            break
        byte = np.int64(data[state[_AT]])
        state[_AT] += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value
    state[_AT] = end + 1
    return 0


@njit("int64(int64)", cache=True, nogil=True)
def _signed(value):
    """Undo the zigzag encoding, whose lowest bit is the sign."""
    return ~(value >> 1) if value & 1 else value >> 1


@njit("int64(int64, uint8[::1], int64[::1], int64, int64[::1])", cache=True, nogil=True)
def _vertex(kind, data, state, end, ring):
    """Return a vertex that is new, explicit, or in the ring; the first two are added to it."""
    if kind == _NEW:
        vertex = state[_NEXT]
        state[_NEXT] += 1
        return vertex
    if kind == _EXPLICIT:
        state[_LAST] += _signed(_number(data, state, end))
        return state[_LAST]
    return ring[(state[_VERTEX_AT] - kind) & 15]


@njit("void(int64, int64, int64[::1], int64[::1])", cache=True, nogil=True)
def _keep(kind, vertex, state, ring):
    if kind in (_NEW, _EXPLICIT):
        ring[state[_VERTEX_AT] & 15] = vertex
        state[_VERTEX_AT] += 1


@njit("boolean(uint8[::1], uint32[::1])", cache=True, nogil=True)
def decode_triangles(data, indices):
    """Unpack a triangle stream into ``indices``; return whether it was complete.

    The last edges and vertices are stored in two rings of 16. Each triangle has a code byte: an
    edge of the ring and one vertex, or three vertices.
    """
    n_triangles = len(indices) // 3
    end = len(data) - _TRIANGLE_TAIL
    edges, ring = np.zeros((16, 2), np.int64), np.zeros(16, np.int64)
    state = np.zeros(5, np.int64)
    state[_AT] = 1 + n_triangles
    if state[_AT] > end:
        return False
    for i in range(n_triangles):
        code = np.int64(data[1 + i])
        high, low = code >> 4, code & 15
        if high < 15:
            a, b = edges[(state[_EDGE_AT] - 1 - high) & 15]
            if low in (13, 14):
                state[_LAST] += 2 * low - 27
                c, kind = state[_LAST], np.int64(_EXPLICIT)
            else:
                kind = low + 1 if 0 < low < 13 else low
                c = _vertex(kind, data, state, end, ring)
            _keep(kind, c, state, ring)
        else:
            first = _EXPLICIT if low == 15 else _NEW
            if low < 14:
                pair = np.int64(data[end + low])
            elif state[_AT] < end:
                pair = np.int64(data[state[_AT]])
                state[_AT] += 1
                if pair == 0:
                    state[_NEXT] = 0
            else:
                return False
            a = _vertex(first, data, state, end, ring)
            b = _vertex(pair >> 4, data, state, end, ring)
            c = _vertex(pair & 15, data, state, end, ring)
            _keep(first, a, state, ring)
            _keep(pair >> 4, b, state, ring)
            _keep(pair & 15, c, state, ring)
            edges[state[_EDGE_AT] & 15] = b, a
            state[_EDGE_AT] += 1
        edges[state[_EDGE_AT] & 15] = c, b
        edges[(state[_EDGE_AT] + 1) & 15] = a, c
        state[_EDGE_AT] += 2
        indices[3 * i], indices[3 * i + 1], indices[3 * i + 2] = a, b, c
    return state[_AT] == end


@njit("boolean(uint8[::1], uint32[::1])", cache=True, nogil=True)
def decode_sequence(data, indices):
    """Unpack a stream of differences to one of two last indices; return whether it was complete."""
    end = len(data) - _SEQUENCE_TAIL
    state, last = np.zeros(5, np.int64), np.zeros(2, np.int64)
    state[_AT] = 1
    for i in range(len(indices)):
        value = _number(data, state, end)
        last[value & 1] += _signed(value >> 1)
        indices[i] = last[value & 1]
    return state[_AT] == end
