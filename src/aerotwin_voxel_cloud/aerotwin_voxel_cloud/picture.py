# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A picture of a grid: from above and from the south, coloured by height."""

import io
import math

import numpy as np

from aerotwin_voxel_cloud.grid import OccupancyGrid

WIDTH_IN, LONGEST_IN = 8.0, 16.0
_DPI = 110
_MOST_PIXELS = 700  # of the longer side of a view: a pixel of the file each
_MARGIN_IN, _VIEW_IN = 1.5, 6.3
_LEAST_VIEW_IN, _SQUAREST_VIEW = 0.5, 1.4
_COLOURMAP = "Spectral_r"
_NOTHING = -1


def picture_of(grid: OccupancyGrid, *, title: str, caption: str) -> bytes:
    """Return a PNG of a grid (not empty) from above and from the south, with credits below."""
    from aerotwin_core.plots import new_figure, style

    top, side, pixel_m = views(grid)
    heights = [_VIEW_IN * view.shape[0] / view.shape[1] for view in (top, side)]
    heights = [min(max(h, _LEAST_VIEW_IN), _SQUAREST_VIEW * _VIEW_IN) for h in heights]
    figure = new_figure(WIDTH_IN, min(sum(heights) + _MARGIN_IN, LONGEST_IN))
    with style():
        figure.suptitle(title, fontsize=11, fontweight="bold")
        figure.supxlabel(caption, fontsize=7.5, wrap=True)
        axes = figure.subplots(2, 1, height_ratios=heights)
        images = [
            _draw(axes[0], top, grid, pixel_m, vertical=1),
            _draw(axes[1], side, grid, pixel_m, vertical=2),
        ]
        axes[0].set_ylabel("north y [m]")
        axes[1].set(xlabel="east x [m]", ylabel="up z [m]")
        _scale_bar(axes[0], grid.dims[0] * grid.resolution_m)
        figure.colorbar(images[0], ax=list(axes), label="height z [m]", shrink=0.6, aspect=30)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI, facecolor="white")
    return buffer.getvalue()


def views(grid: OccupancyGrid) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the content of both pictures, and the width of a pixel, a whole number of cells [m].

    Both (rows, columns, 2) hold height [m] and brightness, NaN where none: from above that of the
    highest cell in each column, north up; from the south near cells are bright.
    """
    n_cells = max(1, math.ceil(max(grid.dims) / _MOST_PIXELS))
    x, y, z = (grid.cells() // n_cells).T
    nx, ny, nz = (-(-n // n_cells) for n in grid.dims)
    pixel_m = n_cells * grid.resolution_m
    highest = np.full((ny, nx), _NOTHING)
    np.maximum.at(highest, (y, x), z)
    nearest = np.full((nz, nx), ny)
    np.minimum.at(nearest, (z, x), y)
    light = _hillshade(highest)
    top = _layered(highest != _NOTHING, highest, light, grid.origin_m[2], pixel_m)
    depth = 1.0 - 0.6 * nearest / max(ny - 1, 1)
    rows = np.broadcast_to(np.arange(nz)[:, None], (nz, nx))
    side = _layered(nearest < ny, rows, depth, grid.origin_m[2], pixel_m)
    return top, side, pixel_m


def _layered(
    is_there: np.ndarray, layer: np.ndarray, light: np.ndarray, low_m: float, pixel_m: float
) -> np.ndarray:
    height = np.where(is_there, low_m + (layer + 0.5) * pixel_m, np.nan)
    return np.stack([height, light], axis=-1)


def _hillshade(height: np.ndarray) -> np.ndarray:
    """Return the brightness of a surface in light from the north-west, 45 degrees high."""
    south, east = np.gradient(height.astype(np.float64)) if min(height.shape) > 1 else (0.0, 0.0)
    slope = np.clip(np.stack([np.broadcast_to(s, height.shape) for s in (south, east)]), -2, 2)
    towards = (1.0 + slope[1] * 0.5 - slope[0] * 0.5) / np.sqrt(1.0 + (slope**2).sum(axis=0))
    return np.clip(0.5 + 0.45 * towards, 0.35, 1.0)


def _draw(axes, view: np.ndarray, grid: OccupancyGrid, pixel_m: float, *, vertical: int):
    """Draw one view into axes in metres; return the artist that carries its colours."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    heights = view[..., 0]
    norm = Normalize(grid.origin_m[2], grid.frame.upper_m[2])
    colours = colormaps[_COLOURMAP](norm(np.nan_to_num(heights)))
    colours[..., :3] *= view[..., 1:]
    colours[..., 3] = np.isfinite(heights)
    left, low = grid.origin_m[0], grid.origin_m[vertical]
    right, high = left + pixel_m * view.shape[1], low + pixel_m * view.shape[0]
    axes.grid(visible=False)
    axes.imshow(
        colours,
        origin="lower",
        extent=(left, right, low, high),
        interpolation="nearest",
        aspect="equal",
    )
    return ScalarMappable(norm, _COLOURMAP)


def _scale_bar(axes, width_m: float) -> None:
    """Draw a bar of a round length, about a fifth of the width."""
    length = 10.0 ** math.floor(math.log10(width_m / 5.0))
    length *= max(factor for factor in (1, 2, 5) if factor * length <= width_m / 5.0)
    (left, _), (low, high) = axes.get_xlim(), axes.get_ylim()
    x, y = left + 0.03 * width_m, low + 0.06 * (high - low)
    axes.plot([x, x + length], [y, y], color="black", linewidth=5, solid_capstyle="butt")
    axes.plot([x, x + length], [y, y], color="white", linewidth=2, solid_capstyle="butt")
    axes.annotate(
        f"{length:g} m",
        (x + length / 2.0, y),
        xytext=(0, 5),
        textcoords="offset points",
        ha="center",
        fontsize=8,
        bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1.0},
    )
