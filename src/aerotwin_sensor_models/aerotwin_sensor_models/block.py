# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The block of one sensor in an arena, and the random numbers that it draws ahead."""

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_sensor_models import layout as at


class SensorBlock:
    """The numbers that a compiled sensor works on, laid out in `layout`.

    It stands in an array of its own until it is moved into the arena of a vehicle. Normal numbers
    are drawn many samples ahead, because single draws are slow; how many at a time changes nothing.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the normal numbers come from; nothing else may draw from it from now on.
    n_numbers : int
        Length of the block without its normal numbers.
    width : int
        Normal numbers that a sample takes.
    """

    def __init__(self, rng: np.random.Generator, n_numbers: int, width: int) -> None:
        self._rng = rng
        n_normals = at.ROWS * width
        self.length = n_numbers + n_normals
        self.arena, self.start = np.zeros(self.length), 0
        self.arena[at.WIDTH], self.arena[at.END] = width, n_normals
        self.arena[at.NORMALS] = n_numbers
        self._normals = self.view(n_numbers, n_normals)
        self.draw()

    def view(self, place: int, n: int) -> np.ndarray:
        """Return n numbers of the block from a place on, as a view."""
        first = self.start + place
        return self.arena[first : first + n]

    def draw(self) -> None:
        """Draw new normal numbers over the used ones."""
        self._rng.standard_normal(out=self._normals)
        self.arena[self.start + at.NEXT] = 0.0

    def move(self, arena: np.ndarray, start: int) -> None:
        """Go on in another array, from an index on; views taken before are void."""
        arena[start : start + self.length] = self.view(0, self.length)
        self.arena, self.start = arena, start
        self._normals = self.view(int(self.view(at.NORMALS, 1)[0]), len(self._normals))


def triad_numbers(
    *, limit: float, resolution: float, bias: ArrayLike, offset: ArrayLike, matrix: ArrayLike
) -> list[float]:
    """Return the numbers of three axes, their noise still to be tuned to a time step."""
    return [0.0, 0.0, 0.0, limit, resolution, *np.ravel(bias), *np.ravel(offset), *np.ravel(matrix)]
