# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a radar: its power from above, and its peaks on the map as seen by the beam."""

import numpy as np

from aerotwin_core.plots import BAD, ESTIMATE, TRUTH, WIDE_IN, new_figure, render_svg, style
from aerotwin_sensor_models.radar import LEVEL_DB

_PIXELS = 480
_HEIGHT_IN = 6.2


def power_from_above(
    levels: np.ndarray, azimuths: np.ndarray, bin_m: float, radius_m: float, n: int = _PIXELS
) -> np.ndarray:
    """Return the level at each pixel (n, n) of a square about the radar [dB].

    Rows go from the right of the radar to its left, columns from behind it to ahead. `levels` are
    (n_azimuths, n_bins) uint8, `azimuths` their directions from x towards y in equal steps over the
    whole turn [rad]; a bin is `bin_m` long, half of the square's side is `radius_m` [m].
    """
    line = ((np.arange(n) + 0.5) / n * 2.0 - 1.0) * radius_m
    x, y = np.meshgrid(line, line)
    steps = (np.arctan2(y, x) - azimuths[0]) / (azimuths[1] - azimuths[0])
    rows = np.round(steps).astype(np.int64) % len(azimuths)
    bins = np.floor(np.hypot(x, y) / bin_m).astype(np.int64)
    inside = bins < levels.shape[1]
    picture = levels[rows, np.where(inside, bins, 0)] * LEVEL_DB
    return np.where(inside, picture, np.nan)


def turn_picture(
    power_db: np.ndarray, points: np.ndarray, is_on_map: np.ndarray, flat_map: np.ndarray,
    radius_m: float, name: str,
) -> str:  # fmt: skip
    """Draw a turn: power on the left, peaks over the map on the right, the robot faces right.

    `power_db` (n, n) is that of `power_from_above`, `points` (m, 2) are the peaks, `is_on_map` (m,)
    those that lie on the map, `flat_map` (k, 2) is the part of the map that the beam meets and
    `radius_m` half of the side of both pictures [m]; `name` is unique on the page.
    """
    figure = new_figure(WIDE_IN, _HEIGHT_IN)
    extent = (-radius_m, radius_m, -radius_m, radius_m)
    with style():
        left, right = figure.subplots(1, 2)
        shown = left.imshow(power_db, extent=extent, origin="lower", cmap="gray")
        figure.colorbar(shown, ax=left, shrink=0.8, label="level [dB]")
        right.plot(*flat_map.T, ".", color=TRUTH, ms=2, alpha=0.5, label="map", rasterized=True)
        for kind, colour, label in (
            (is_on_map, ESTIMATE, "peaks on the map"),
            (~is_on_map, BAD, "peaks beside it"),
        ):
            right.plot(*points[kind].T, ".", color=colour, ms=4, label=label)
        right.legend(loc="upper right")
        for axes in (left, right):
            axes.plot(0.0, 0.0, ">", color=ESTIMATE, ms=8)
            axes.set(xlabel="ahead [m]", ylabel="left [m]", xlim=extent[:2], ylim=extent[2:])
            axes.set_aspect("equal")
            axes.grid(visible=False)
    return render_svg(figure, name)
