# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The record of one sensor, with its random numbers drawn in advance."""

from typing import Any

import numpy as np

from aerotwin_sensor_models import layout as at


class SensorBlock:
    """The record of a compiled sensor and its memory, which the kernels read.

    It has its own array until it moves into that of a vehicle. Normal numbers are drawn many
    samples ahead, because single draws are slow; the batch size changes no result. `rng` is not
    shared from now on, `dtype` one of `layout`; a sample takes `width` normal numbers.
    """

    def __init__(self, rng: np.random.Generator, dtype: np.dtype[Any], width: int) -> None:
        self._rng = rng
        self._use(np.zeros(1, dtype))
        self.record["width"], self.record["end"] = width, at.ROWS * width
        self.draw()

    def _use(self, array: np.ndarray) -> None:
        self.record, self.memory = array[0], array.view(np.float64)

    def draw(self) -> None:
        """Replace the used normal numbers."""
        self._rng.standard_normal(out=self.record["normals"][: self.record["end"]])
        self.record["next"] = 0

    def move(self, array: np.ndarray) -> None:
        """Move to another array of one record; earlier views become invalid."""
        array[0] = self.record
        self._use(array)
