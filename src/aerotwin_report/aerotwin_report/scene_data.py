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


POINT_BUDGET = 300_000  # of the page, over all its scenes: about 2 MB
LAYER_BUDGET = 200_000
MAX_PATH_POINTS = 4000
FINEST_M = 1e-3
# Values are resolved to one part in this many of the colour scale: the rest is rounding noise.
VALUE_STEPS = 4096
NOT_JUDGED = 2**16 - 1
DEFLATE_LEVEL = 7  # 9 takes six times as long and saves 0.7 %
_ENDS = (0.002, 0.998)
_FAR_SIZES = 2.0


@dataclass(frozen=True, kw_only=True)
class ShownLayer:
    """A layer as it is shown.

    `which` (m,) are the indices of the shown points, in this order; `limits` the ends of the colour
    scale; `colour` is ``#rrggbb``, used without values. `n_far` outliers are dropped: they would
    coarsen the lattice.
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
    return zlib.compress(np.concatenate(planes).tobytes(), DEFLATE_LEVEL)
