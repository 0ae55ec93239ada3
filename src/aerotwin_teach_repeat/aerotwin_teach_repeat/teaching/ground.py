# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ground under a path: a grid of heights from a cloud, and the pose of a vehicle on it."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import distance_transform_edt

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter

MAX_CELLS = 100_000_000
"""Of a grid of heights: 6 km^2 in cells of a quarter of a metre."""
_ROUNDS, _ROUGH_M = 4, 0.05
"""Re-weighting of the fit of a plane: rounds, and the scale of Cauchy's weights [m]."""
_FEWEST_CELLS = 4


@dataclass(frozen=True, kw_only=True)
class GroundParameters:
    """Parameters of the ground extraction from a cloud."""

    cell_m: float = parameter(
        0.25, text="Edge of a cell of heights.", unit="m", minimum=0.05, maximum=5.0
    )
    percentile: float = parameter(
        10.0, text="Percentile of a cell's heights above which its ground begins: neither what "
        "hangs over the ground nor single points below it count.", unit="%", minimum=0.0,
        maximum=50.0,
    )  # fmt: skip
    layer_m: float = parameter(
        0.2, text="The ground is the median of the heights this far above that.", unit="m",
        minimum=0.01, maximum=2.0,
    )  # fmt: skip
    max_hole_m: float = parameter(
        1.0, text="Largest distance to fill a cell from.", unit="m", minimum=0.0, maximum=20.0
    )
    footprint_m: float = parameter(
        0.8, text="Half width of the attitude's square.", unit="m", minimum=0.1, maximum=5.0
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class GroundGrid:
    """Heights (ny, nx) of the ground, NaN where unknown [m].

    `is_measured` (ny, nx) are the cells with points of the cloud, in contrast to holes that were
    filled; `low_m` (2,) is the corner of the first cell [m].
    """

    height_m: FloatArray
    is_measured: np.ndarray
    low_m: FloatArray
    cell_m: float

    @classmethod
    def of(
        cls,
        points_map: np.ndarray,
        path_m: np.ndarray,
        *,
        margin_m: float = 4.0,
        parameters: GroundParameters | None = None,
    ) -> "GroundGrid":
        """Return the ground of a cloud (n, 3) around the positions (k, 2) of a path [m].

        The grid extends `margin_m` to the sides of the path [m].
        """
        parameters = GroundParameters() if parameters is None else parameters
        cell = parameters.cell_m
        low = np.floor((path_m.min(axis=0) - margin_m) / cell) * cell
        shape = np.ceil((path_m.max(axis=0) + margin_m - low) / cell).astype(np.int64)
        if shape.prod() > MAX_CELLS:
            raise UserError(
                f"the route spans {shape[0] * cell:.4g} x {shape[1] * cell:.4g} m: too much for "
                f"cells of {cell:g} m; take a larger cell_m"
            )
        points = np.asarray(points_map, dtype=np.float64)
        inside = ((points[:, :2] >= low) & (points[:, :2] < low + shape * cell)).all(axis=1)
        points = points[inside]
        i, j = np.minimum(((points[:, :2] - low) / cell).astype(np.int64), shape - 1).T
        is_near = _near_cells(path_m, low, cell, shape, margin_m)[j, i]
        i, j, points = i[is_near], j[is_near], points[is_near]
        height = _ground_heights(j * shape[0] + i, points[:, 2], int(shape.prod()), parameters)
        height = height.reshape(shape[::-1])
        is_measured = np.isfinite(height)
        return cls(
            height_m=_filled(height, parameters.max_hole_m / cell),
            is_measured=is_measured,
            low_m=low,
            cell_m=cell,
        )

    def patch(self, path_m: FloatArray, half_m: float) -> tuple[FloatArray, FloatArray]:
        """Return offsets (k, m, 2) of cells from positions (k, 2), and their heights (k, m) [m]."""
        n = int(np.ceil(half_m / self.cell_m))
        steps = np.arange(-n, n + 1)
        at = np.floor((path_m - self.low_m) / self.cell_m).astype(np.int64)
        i = at[:, 0, None, None] + steps[None, None, :]
        j = at[:, 1, None, None] + steps[None, :, None]
        i, j = (a.reshape(len(path_m), -1) for a in np.broadcast_arrays(i, j))
        ny, nx = self.height_m.shape
        inside = (i >= 0) & (i < nx) & (j >= 0) & (j < ny)
        heights = np.where(
            inside, self.height_m[np.clip(j, 0, ny - 1), np.clip(i, 0, nx - 1)], np.nan
        )
        centres = self.low_m + (np.stack([i, j], axis=-1) + 0.5) * self.cell_m
        return centres - path_m[:, None], heights


def poses_on_ground(
    path_m: FloatArray,
    heading: FloatArray,
    ground: GroundGrid,
    parameters: GroundParameters | None = None,
) -> FloatArray:
    """Return T_map_base (n, 4, 4) of a vehicle on the ground at positions (n, 2) [m].

    A plane is fitted to the heights around the position, weighted towards the middle and robust to
    protruding points. The base's z is its normal, its x the heading (n,) [rad] projected onto it.
    NaN where the ground is unknown.
    """
    parameters = GroundParameters() if parameters is None else parameters
    planes = _planes(*ground.patch(path_m, parameters.footprint_m), parameters.footprint_m)
    poses = np.tile(np.eye(4), (len(path_m), 1, 1))
    normal = np.column_stack([-planes[:, 1], -planes[:, 2], np.ones(len(planes))])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    ahead = np.column_stack([np.cos(heading), np.sin(heading), np.zeros(len(planes))])
    # Seen from above, the base's x axis remains along the heading.
    ahead[:, 2] = planes[:, 1] * ahead[:, 0] + planes[:, 2] * ahead[:, 1]
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    poses[:, :3, 0], poses[:, :3, 2] = ahead, normal
    poses[:, :3, 1] = np.cross(normal, ahead)
    poses[:, :2, 3], poses[:, 2, 3] = path_m, planes[:, 0]
    return poses


def _near_cells(
    path_m: np.ndarray, low: np.ndarray, cell: float, shape: np.ndarray, margin_m: float
) -> np.ndarray:
    """Return which cells (ny, nx) lie in squares of a margin around the positions of a path."""
    is_near = np.zeros(shape[::-1], dtype=bool)
    n = int(np.ceil(margin_m / cell))
    for i, j in np.unique(((path_m - low) / cell).astype(np.int64), axis=0):
        is_near[max(j - n, 0) : j + n + 1, max(i - n, 0) : i + n + 1] = True
    return is_near


def _ground_heights(
    cells: np.ndarray, z: np.ndarray, n_cells: int, parameters: GroundParameters
) -> FloatArray:
    """Return the ground (n_cells,) of points sorted into cells; NaN in cells without points."""
    height = np.full(n_cells, np.nan)
    if len(z) == 0:
        return height
    order = np.lexsort((z, cells))
    cells, z = cells[order], z[order]
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    counts = np.diff(starts, append=len(cells))
    low = starts + np.floor((counts - 1) * parameters.percentile / 100.0).astype(np.int64)
    top = np.repeat(z[low] + parameters.layer_m, counts)
    in_layer = z <= top
    after = starts + np.add.reduceat(in_layer.astype(np.int64), starts)
    # Sorted by height, the layer of a cell lies between these two.
    height[cells[starts]] = (z[(low + after - 1) // 2] + z[(low + after) // 2]) / 2.0
    return height


def _filled(height: FloatArray, reach: float) -> FloatArray:
    """Return heights with unknown cells filled from the nearest measured one within reach."""
    missing = ~np.isfinite(height)
    if reach <= 0.0 or missing.all():
        return height
    distance, (j, i) = distance_transform_edt(missing, return_indices=True)
    return np.where(missing & (distance <= reach), height[j, i], height)


def _planes(offsets: FloatArray, heights: FloatArray, half_m: float) -> FloatArray:
    """Return height and slopes (k, 3) of planes through cells; NaN where there are too few."""
    known = np.isfinite(heights)
    z = np.where(known, heights, 0.0)
    near = np.exp(-np.sum(offsets**2, axis=2) / (2.0 * (half_m / 1.5) ** 2)) * known
    A = np.concatenate([np.ones((*z.shape, 1)), offsets], axis=2)
    weight, planes = near, np.zeros((len(z), 3))
    for _ in range(_ROUNDS):
        H = np.einsum("km,kma,kmb->kab", weight, A, A) + 1e-9 * np.eye(3)
        planes = np.linalg.solve(H, np.einsum("km,kma,km->ka", weight, A, z)[..., None])[..., 0]
        residual = z - np.einsum("kma,ka->km", A, planes)
        weight = near / (1.0 + (residual / _ROUGH_M) ** 2)
    planes[known.sum(axis=1) < _FEWEST_CELLS] = np.nan
    return planes
