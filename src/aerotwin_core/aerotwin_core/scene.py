# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A 3-D view for reports: clouds of points and paths in one frame, as plain data.

The report thins layers that are too large for a page and says so; provide all points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Layer:
    """What a layer of points and a layer of a path have in common."""

    name: str
    points_map: np.ndarray
    values: np.ndarray | None = None
    unit: str = ""
    limits: tuple[float, float] | None = None
    colour: str | None = None
    quantity: str = "error"
    is_shown: bool = True

    def __post_init__(self) -> None:
        points = _real_array(self.points_map, f"layer {self.name!r}: points_map")
        if points.ndim != 2 or points.shape[1] != 3:
            raise ValueError(f"layer {self.name!r}: points_map must be (n, 3), got {points.shape}")
        if not np.isfinite(points).all():
            n_bad = int((~np.isfinite(points).all(axis=1)).sum())
            raise ValueError(
                f"layer {self.name!r}: points_map must be finite, {n_bad} of {len(points)} points "
                "are not; leave them out"
            )
        object.__setattr__(self, "points_map", points)
        self._check_values(len(points))
        self._check_look()

    def _check_values(self, n_points: int) -> None:
        if self.values is None:
            return
        values = _real_array(self.values, f"layer {self.name!r}: values")
        if values.shape != (n_points,):
            raise ValueError(
                f"layer {self.name!r}: values must be ({n_points},), one for each point, "
                f"got {values.shape}"
            )
        if np.isinf(values).any():
            raise ValueError(
                f"layer {self.name!r}: values must not be infinite; NaN says that a point was not "
                "judged"
            )
        object.__setattr__(self, "values", values)

    def _check_look(self) -> None:
        if self.limits is not None:
            low, high = self.limits
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                raise ValueError(
                    f"layer {self.name!r}: limits must be two finite numbers, the lower first, "
                    f"got {self.limits!r}"
                )
        if self.colour is not None and not _COLOUR.fullmatch(self.colour):
            raise ValueError(f"layer {self.name!r}: colour must be #rrggbb, got {self.colour!r}")


def _real_array(provided: np.ndarray, what: str) -> np.ndarray:
    array = np.asarray(provided)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{what} must hold numbers, got {array.dtype}")
    return array


class PointLayer(_Layer):
    """A cloud of points, coloured by a value or in one colour.

    The legend shows `name` and switches the layer on and off; `is_shown` is its state when the page
    opens.

    Parameters
    ----------
    points_map : (n, 3) array
        Finite; in the frame of the scene [m].
    values : (n,) array, optional
        Values that colour the points; NaN = not evaluated, drawn grey.
    unit, quantity : str
        Unit and name of the values, in the colour bar and the read-out.
    limits : (low, high), optional
        Ends of the colour scale, in `unit`; from 0 (or the least value, if that is below 0) to the
        95th percentile by default.
    colour : str, optional
        ``#rrggbb`` where there are no values; one of the report's colours by default.
    """


class PathLayer(_Layer):
    """A path through its points, one after the other; parameters as in `PointLayer`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportScene:
    """A 3-D view in the browser: turn, shift, zoom, layers on and off.

    At least one layer, all in one frame with z up; names differ.
    """

    title: str
    layers: tuple[PointLayer | PathLayer, ...]
    caption: str = ""

    def __post_init__(self) -> None:
        if not self.layers:
            raise ValueError(f"scene {self.title!r} must have a layer; leave out an empty scene")
        names = [layer.name for layer in self.layers]
        if len(set(names)) != len(names):
            raise ValueError(f"scene {self.title!r}: layers must have different names, got {names}")
