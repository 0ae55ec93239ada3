# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Small dense positive definite systems, solved in one thread and in a fixed order.

A threaded LAPACK has its own order of summation, and compiling the calls to it takes longer than
compiling these loops; the systems have at most a few hundred unknowns.
"""

import numpy as np

from aerotwin_core.kernel_cache import njit


@njit(cache=True, error_model="numpy")
def factorise(A):
    """Overwrite the lower triangle of A by its Cholesky factor; False if not positive definite."""
    n = A.shape[0]
    for j in range(n):
        pivot = A[j, j]
        for k in range(j):
            pivot -= A[j, k] * A[j, k]
        if not pivot > 0.0:
            return False
        pivot = np.sqrt(pivot)
        A[j, j] = pivot
        for i in range(j + 1, n):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total / pivot
    return True


@njit(cache=True, error_model="numpy")
def solve_factorised(L, b):
    """Overwrite b by the solution of L L^T x = b."""
    n = L.shape[0]
    for i in range(n):
        for k in range(i):
            b[i] -= L[i, k] * b[k]
        b[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= L[k, i] * b[k]
        b[i] /= L[i, i]


@njit(cache=True, error_model="numpy")
def last_block_of_inverse(L, size):
    """Return the last (size, size) block of the inverse of L L^T."""
    n = L.shape[0]
    block = np.empty((size, size))
    column = np.empty(n)
    for j in range(size):
        column[:] = 0.0
        column[n - size + j] = 1.0
        solve_factorised(L, column)
        for i in range(size):
            block[i, j] = column[n - size + i]
    return block


@njit(cache=True, error_model="numpy")
def invert_3x3(A, out):
    """Write the inverse of a symmetric (3, 3) matrix by cofactors."""
    a, b, c = A[0, 0], A[0, 1], A[0, 2]
    d, e, f = A[1, 1], A[1, 2], A[2, 2]
    x = d * f - e * e
    y = c * e - b * f
    z = b * e - c * d
    scale = 1.0 / (a * x + b * y + c * z)
    out[0, 0] = x * scale
    out[0, 1] = out[1, 0] = y * scale
    out[0, 2] = out[2, 0] = z * scale
    out[1, 1] = (a * f - c * c) * scale
    out[1, 2] = out[2, 1] = (b * c - a * e) * scale
    out[2, 2] = (a * d - b * b) * scale
