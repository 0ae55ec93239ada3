# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits on the lengths of many vectors."""

import numpy as np

from aerotwin_core.frames import FloatArray


def limited(vectors: FloatArray, largest: float) -> FloatArray:
    """Return vectors (n, 3), those longer than `largest` shortened to it.

    >>> limited(np.array([[3.0, 0.0, 4.0], [0.0, 1.0, 0.0]]), 1.0).tolist()
    [[0.6000000000000001, 0.0, 0.8], [0.0, 1.0, 0.0]]
    """
    squares = np.einsum("nx,nx->n", vectors, vectors)
    too_long = squares > largest * largest
    if not too_long.any():
        return vectors
    factors = np.ones(len(vectors))
    factors[too_long] = largest / np.sqrt(squares[too_long])
    return vectors * factors[:, None]
