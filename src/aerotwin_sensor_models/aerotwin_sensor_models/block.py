# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The block of one sensor in an arena, with its random numbers drawn in advance."""

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_sensor_models import layout as at


class SensorBlock:
    """The numbers of a compiled sensor, laid out by `layout`.

    A block has its own array until it moves into the arena of a vehicle. Normal numbers are drawn
    many samples ahead, because single draws are slow; the batch size changes no result. `rng` is
    not shared from now on, `n_numbers` the length without normal numbers, of which a sample takes
    `width`.
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
        """Return a view of n numbers of the block from an index on."""
        first = self.start + place
        return self.arena[first : first + n]

    def draw(self) -> None:
        """Replace the used normal numbers."""
        self._rng.standard_normal(out=self._normals)
        self.arena[self.start + at.NEXT] = 0.0

    def move(self, arena: np.ndarray, start: int) -> None:
        """Move to another array, from an index on; earlier views become invalid."""
        arena[start : start + self.length] = self.view(0, self.length)
        self.arena, self.start = arena, start
        self._normals = self.view(int(self.view(at.NORMALS, 1)[0]), len(self._normals))


def triad_numbers(
    *, limit: float, resolution: float, bias: ArrayLike, offset: ArrayLike, matrix: ArrayLike
) -> list[float]:
    """Return the numbers of three axes, their noise not yet tuned to a time step."""
    return [0.0, 0.0, 0.0, limit, resolution, *np.ravel(bias), *np.ravel(offset), *np.ravel(matrix)]
