# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Blocks of space and time, within which samples may be correlated."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_BITS = 20
_FEWEST_BLOCKS = 20
# Doubled blocks raise the standard error by 1.41 along a line (2 on a surface) within the
# correlation and by nothing beyond it; with 20 blocks it is known to 1 / sqrt(2 * 20) = 16 %.
_GROWTH = 1.25


@dataclass(frozen=True, kw_only=True)
class BlockSize:
    """A chosen size of blocks.

    Attributes
    ----------
    edge : float
        Edge of a cube [m], or duration [s].
    edges, standard_errors : tuple of float
        Sizes that were tried, and the standard error of the mean with each.
    n_blocks : int
        Blocks of size `edge` that contain samples.
    is_settled : bool
        False when the standard error still grows at the largest blocks that leave enough of them:
        samples are correlated over longer distances, and intervals are too short.
    """

    edge: float
    edges: tuple[float, ...]
    standard_errors: tuple[float, ...]
    n_blocks: int
    is_settled: bool


def blocks_in_space(points: np.ndarray, edge_m: float) -> np.ndarray:
    """Return the number (n,) int64 of the cube of edge_m [m] that each point is in.

    Points are (n, d) [m], d from 1 to 3. The cubes form a lattice at the origin: points of two
    clouds in the same cube have the same number.

    Raises
    ------
    ValueError
        If a point is not finite or farther from the origin than half a million edges.
    """
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or not 1 <= points.shape[1] <= 3:
        raise ValueError(f"points must be (n, 1) to (n, 3), got {points.shape}")
    if not edge_m > 0.0:
        raise ValueError(f"edge_m must be positive, got {edge_m}")
    half = 1 << (_BITS - 1)
    cells = np.floor(points / edge_m)
    if not (np.abs(cells) < half).all():
        raise ValueError(f"points must be finite and within {half:d} edges of {edge_m:g} m")
    numbers = np.zeros(len(points), dtype=np.int64)
    for column in cells.T:
        numbers = (numbers << _BITS) + (column.astype(np.int64) + half)
    return numbers


def blocks_in_time(times_s: np.ndarray, length_s: float) -> np.ndarray:
    """Return the number (n,) of the interval of length_s [s] that each instant (n,) [s] is in."""
    times = np.asarray(times_s, dtype=np.float64)
    return blocks_in_space(times[:, None], length_s)


def choose_block_size(values: np.ndarray, points: np.ndarray, edges: Sequence[float]) -> BlockSize:
    """Return the block size whose standard error of the mean is largest.

    With blocks shorter than the correlation the standard error is too small; it grows with the
    blocks until they are longer, and then stays. The largest is a cautious choice.

    Parameters
    ----------
    values : (n,) array
        Values to average.
    points : (n, d) array
        Positions [m], or (n, 1) positions [m] or times [s].
    edges : sequence of float
        Sizes to try, each twice the last. Those that leave fewer than 20 blocks are skipped,
        except the smallest.
    """
    tried: list[tuple[float, float, int]] = []
    for edge in edges:
        n_blocks, error = _error_of_mean(np.asarray(values, float), blocks_in_space(points, edge))
        if tried and n_blocks < _FEWEST_BLOCKS:
            break
        tried.append((edge, error, n_blocks))
    errors = [error for _, error, _ in tried]
    best = int(np.argmax(errors))
    is_last = best == len(tried) - 1
    grows = len(tried) < 2 or errors[-1] > _GROWTH * errors[-2]
    return BlockSize(
        edge=tried[best][0],
        edges=tuple(edge for edge, _, _ in tried),
        standard_errors=tuple(errors),
        n_blocks=tried[best][2],
        is_settled=not (is_last and grows),
    )


def _error_of_mean(values: np.ndarray, blocks: np.ndarray) -> tuple[int, float]:
    """Return the number of blocks and the cluster-robust standard error of the mean."""
    _, index = np.unique(blocks, return_inverse=True)
    totals = np.bincount(index, values - values.mean())
    n = len(totals)
    if n < 2:
        return n, 0.0
    return n, float(np.sqrt(n / (n - 1.0) * np.sum(totals**2)) / len(values))
