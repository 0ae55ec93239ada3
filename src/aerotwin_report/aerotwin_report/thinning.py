# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Thin points with the same appearance: at most one per cell of the finest possible lattice."""

import numpy as np

_LATTICE_BITS = 16
LATTICE = 2**_LATTICE_BITS - 1


def lattice_of(points: np.ndarray, finest_m: float) -> tuple[np.ndarray, float]:
    """Return the low corner (3,) [m] and the step [m] of the lattice on which points are stored.

    The longest side of the finite points (n, 3), n > 0, has at most `LATTICE` steps; the step is
    never finer than `finest_m` [m].
    """
    low = points.min(axis=0).astype(np.float64)
    extent = float((points.max(axis=0) - low).max())
    return low, max(extent / LATTICE, finest_m)


def morton_codes(cells: np.ndarray) -> np.ndarray:
    """Return the numbers of integer cells (n, 3) along Morton's curve: bits of x, y and z in turn.

    Coordinates are 0 to `LATTICE`.

    >>> morton_codes(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [3, 3, 3]])).tolist()
    [1, 2, 4, 63]
    """
    x, y, z = (_spread(cells[:, k].astype(np.uint64)) for k in range(3))
    return x | (y << np.uint64(1)) | (z << np.uint64(2))


def _spread(bits: np.ndarray) -> np.ndarray:
    """Insert two zeros between the bits of 16-bit numbers, by moving halves of them apart."""
    for shift, mask in (
        (16, 0x001F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
    return bits


def thin(codes: np.ndarray, budget: int) -> np.ndarray:
    """Return which points to keep: indices along Morton's curve, at most `budget`.

    The finest lattice (of edges 1, 2, 4 … steps) whose occupied cells are within the budget gives
    one point for each cell, drawn at random so that neither low nor good points are preferred; the
    rest of the budget is filled from the cells of the next finer lattice. The same `codes`, from
    `morton_codes`, give the same output.

    Notes
    -----
    One sort; a coarser lattice is the same order with three bits fewer.
    """
    order = np.argsort(codes, kind="stable")
    if len(codes) <= budget:
        return order
    if budget <= 0:
        return order[:0]
    rng = np.random.default_rng(0)
    ordered = codes[order]
    level, starts = 0, _starts(ordered, 0)
    finer = np.arange(len(codes))
    while len(starts) > budget:
        finer, level = starts, level + 1
        starts = _starts(ordered, level)
    retained = _one_of_each(starts, len(codes), rng)
    spare = np.setdiff1d(_one_of_each(finer, len(codes), rng), retained, assume_unique=True)
    n_more = min(budget - len(retained), len(spare))
    retained = np.concatenate([retained, rng.choice(spare, n_more, replace=False)])
    return order[np.sort(retained)]


def _starts(ordered: np.ndarray, level: int) -> np.ndarray:
    """Return the first index of each cell of a level in the sorted codes."""
    cells = ordered >> np.uint64(3 * level)
    return np.concatenate([[0], np.flatnonzero(cells[1:] != cells[:-1]) + 1])


def _one_of_each(starts: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    counts = np.diff(np.append(starts, n))
    return starts + (rng.random(len(starts)) * counts).astype(np.int64)


def shares(requested: list[int], budget: int) -> list[int]:
    """Return each share of a budget: the whole request if it is small, the rest evenly.

    >>> shares([10, 500, 900], 300)
    [10, 145, 145]
    """
    provided = [0] * len(requested)
    left = budget
    order = sorted(range(len(requested)), key=lambda k: requested[k])
    for position, k in enumerate(order):
        provided[k] = min(requested[k], left // (len(requested) - position))
        left -= provided[k]
    return provided
