# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenes embedded in the page: thinned, on a lattice, differences deflated, in base64.

The points of a layer are stored as 16-bit lattice coordinates in the order of Morton's curve, so
that neighbours follow each other and their differences are small; a value is a 16-bit number as
well. Low and high bytes are in separate planes, which deflates better. The browser decodes it with
`DecompressionStream`; 200,000 points of a map take about 1.3 MB of the page.
"""

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.charts import default_limits, thinned
from aerotwin_core.plots import colours
from aerotwin_core.section import PathLayer, PointLayer, ReportScene
from aerotwin_report.thinning import lattice_of, morton_codes, shares, thin

POINT_BUDGET = 300_000  # of the page, over all its scenes: about 2 MB
LAYER_BUDGET = 200_000
MAX_PATH_POINTS = 4000
FINEST_M = 1e-3
# Values are resolved to one part in this many of the colour scale: the rest is rounding noise.
VALUE_STEPS = 4096
NOT_JUDGED = 2**16 - 1
_ENDS = (0.002, 0.998)
_FAR_SIZES = 2.0


@dataclass(frozen=True, kw_only=True)
class ShownLayer:
    """A layer as it is shown.

    Attributes
    ----------
    layer : PointLayer or PathLayer
        The input.
    which : (m,) array
        Indices of the shown points, in this order.
    limits : (low, high)
        Ends of the colour scale.
    colour : str
        ``#rrggbb`` if there are no values.
    n_far : int
        Outliers that are dropped: they would coarsen the lattice.
    """

    layer: PointLayer | PathLayer
    which: np.ndarray
    limits: tuple[float, float]
    colour: str
    n_far: int = 0

    @property
    def points(self) -> np.ndarray:
        """The shown points, (m, 3) [m]."""
        return self.layer.points_map[self.which].astype(np.float64)

    @property
    def values(self) -> np.ndarray | None:
        """Their values, (m,)."""
        provided = self.layer.values
        return None if provided is None else provided[self.which].astype(np.float64)

    @property
    def is_path(self) -> bool:
        """Whether its points are joined."""
        return isinstance(self.layer, PathLayer)


def thinned_scenes(
    scenes: Sequence[ReportScene], budget: int = POINT_BUDGET
) -> list[tuple[ShownLayer, ...]]:
    """Return the shown layers of each scene of a page when all share one budget of points.

    One cloud takes at most `LAYER_BUDGET` of it; paths are thinned to `MAX_PATH_POINTS` each.
    """
    clouds = [(s, k) for s, scene in enumerate(scenes) for k in _cloud_indices(scene)]
    requested = [min(len(scenes[s].layers[k].points_map), LAYER_BUDGET) for s, k in clouds]
    provided = dict(zip(clouds, shares(requested, budget)))
    return [
        tuple(
            _shown(layer, provided.get((s, k), MAX_PATH_POINTS), colour)
            for k, (layer, colour) in enumerate(zip(scene.layers, colours(len(scene.layers))))
        )
        for s, scene in enumerate(scenes)
    ]


def _cloud_indices(scene: ReportScene) -> list[int]:
    return [k for k, layer in enumerate(scene.layers) if isinstance(layer, PointLayer)]


def _shown(layer: PointLayer | PathLayer, budget: int, colour: str) -> ShownLayer:
    points, near = layer.points_map, None
    if isinstance(layer, PathLayer) or not len(points):
        which = thinned(len(points), budget)
    else:
        near = np.flatnonzero(_is_near(points))
        which = near[thin(morton_codes(_on_lattice(points[near])[0]), budget)]
    values = np.empty(0) if layer.values is None else layer.values
    limits = layer.limits or default_limits(values)
    return ShownLayer(
        layer=layer,
        which=which,
        limits=limits,
        colour=layer.colour or colour,
        n_far=0 if near is None else len(points) - len(near),
    )


def _is_near(points: np.ndarray) -> np.ndarray:
    """Return which points are within five times the box of all but the farthest thousandths."""
    low, high = np.quantile(points, _ENDS, axis=0)
    margin = max(_FAR_SIZES * float((high - low).max()), 1.0)
    return ((points >= low - margin) & (points <= high + margin)).all(axis=1)


def _on_lattice(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    low, step = lattice_of(points, FINEST_M)
    return np.rint((points - low) / step).astype(np.uint16), low, step


def scene_document(scene: ReportScene, shown: Sequence[ShownLayer]) -> dict[str, Any]:
    """Return the input of the viewer: text, and one entry for each layer that has points.

    Coordinates are relative to `origin_m`, so that single precision is enough in the browser.
    """
    there = [part for part in shown if len(part.which)]
    stacked = [part.points for part in there] or [np.zeros((1, 3))]
    # The initial view: a cloud has outliers, a path has not.
    ends = [(0.0, 1.0) if part.is_path else _ENDS for part in there] or [_ENDS]
    low, high = (
        pick([np.quantile(points, end[k], axis=0) for points, end in zip(stacked, ends)], axis=0)
        for k, pick in enumerate((np.min, np.max))
    )
    origin = np.round((low + high) / 2.0, 3)
    reach = max(float(np.linalg.norm(points - origin, axis=1).max()) for points in stacked)
    return {
        "title": scene.title,
        "origin_m": origin.tolist(),
        "half_m": ((high - low) / 2.0).tolist(),
        "reach_m": reach,
        "layers": [_layer_document(part, origin) for part in there],
    }


def _layer_document(shown: ShownLayer, origin: np.ndarray) -> dict[str, Any]:
    cells, low, step = _on_lattice(shown.points)
    columns = [cells[:, k] for k in range(3)]
    document = {
        "kind": "path" if shown.is_path else "points",
        "name": shown.layer.name,
        "n": len(cells),
        "n_all": len(shown.layer.points_map),
        "n_far": shown.n_far,
        "low_m": (low - origin).tolist(),
        "step_m": step,
        "colour": shown.colour,
        "is_shown": shown.layer.is_shown,
        "values": None,
    }
    if shown.values is not None:
        codes, value_low, value_step = value_codes(shown.values, shown.limits)
        columns.append(codes)
        document["values"] = {
            "quantity": shown.layer.quantity,
            "unit": shown.layer.unit,
            "limits": list(shown.limits),
            "low": value_low,
            "step": value_step,
        }
    document["data"] = base64.b64encode(pack(columns)).decode("ascii")
    return document


def value_codes(values: np.ndarray, limits: tuple[float, float]) -> tuple[np.ndarray, float, float]:
    """Return 16-bit codes of values, and the value of code 0 and of a step; NaN = `NOT_JUDGED`."""
    judged = np.isfinite(values)
    low = float(values[judged].min()) if judged.any() else 0.0
    high = float(values[judged].max()) if judged.any() else 0.0
    step = max((high - low) / (NOT_JUDGED - 1), (limits[1] - limits[0]) / VALUE_STEPS)
    codes = np.full(len(values), NOT_JUDGED, dtype=np.uint16)
    codes[judged] = np.rint((values[judged] - low) / step)
    return codes, low, step


def pack(columns: Sequence[np.ndarray]) -> bytes:
    """Return columns of 16-bit numbers as one deflated string (zlib).

    Each column is stored as differences modulo 2^16, folded so that small ones of either sign are
    small numbers: first all low bytes, then all high bytes.
    """
    planes = []
    for column in columns:
        steps = np.diff(column, prepend=np.uint16(0)).astype(np.uint16).view(np.int16)
        folded = ((steps << 1) ^ (steps >> 15)).astype(np.uint16)
        planes += [(folded & 0xFF).astype(np.uint8), (folded >> 8).astype(np.uint8)]
    return zlib.compress(np.concatenate(planes).tobytes(), 9)
