# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The charts that most sections need, drawn in the report's style on the provided axes.

>>> from aerotwin_core.charts import Series, chart, draw_cumulative
>>> errors = Series(label="map", values=np.array([0.1, 0.2, 0.4]))
>>> svg = chart("doc-cumulative", lambda axes: draw_cumulative(axes, [errors], unit="m"))
>>> svg[:4]
'<svg'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.plots import (
    ERROR_COLOURMAP,
    ESTIMATE,
    HALF_IN,
    WIDE_IN,
    colours,
    new_figure,
    render_svg,
    style,
)

# A curve of more points looks the same and makes the page heavy.
MAX_LINE_POINTS = 1500
MAX_DRAWN_POINTS = 60_000
_VIEWS = {
    "top": (0, 1, "east x [m]", "north y [m]"),
    "front": (0, 2, "east x [m]", "height z [m]"),
    "side": (1, 2, "north y [m]", "height z [m]"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """Values (n,) under one label: one histogram, curve or box; NaN are left out.

    The label is shown in the legend, or below the box. `colour` is by default one of
    `aerotwin_core.plots.colours` in turn. `is_filled` fills the histogram (of at most one series),
    `is_dashed` dashes the curve.
    """

    label: str
    values: np.ndarray
    colour: str | None = None
    is_filled: bool = False
    is_dashed: bool = False

    @property
    def finite(self) -> np.ndarray:
        """The finite values."""
        values = np.asarray(self.values, dtype=np.float64)
        return values[np.isfinite(values)]


def chart(
    name: str,
    draw: Callable[[Any], None],
    *,
    width_in: float = HALF_IN,
    height_in: float = 3.8,
) -> str:
    """Return the SVG of a figure with one pair of axes, on which `draw` is called.

    `name` is unique on the page. The size is in inches; `HALF_IN` shares a row, `WIDE_IN` takes all
    of it.
    """
    figure = new_figure(width_in, height_in)
    with style():
        draw(figure.subplots())
    return render_svg(figure, name)


def draw_histograms(
    axes,
    series: Sequence[Series],
    *,
    limits: tuple[float, float] | None = None,
    n_bins: int = 50,
    quantity: str = "error",
    unit: str = "",
) -> None:
    """Draw the densities of several series over each other, in `n_bins` common bins.

    Densities are of all values of a series: those beyond `limits` (default: all values) are not
    shown, and the area below the curve is then less than one. `quantity` and `unit` name the axis.
    """
    shown = _shown(axes, series)
    if not shown:
        return
    low, high = limits or _span([s.finite for s, _ in shown])
    bins = np.linspace(low, high, n_bins + 1)
    for part, colour in shown:
        values = part.finite
        density = np.histogram(values, bins)[0] / len(values) / np.diff(bins)
        look = {"alpha": 0.45} if part.is_filled else {"lw": 2.0, "ls": _dash(part)}
        axes.stairs(density, bins, color=colour, fill=part.is_filled, label=part.label, **look)
    density_unit = f"density [1/{unit}]" if unit else "density"
    axes.set(xlabel=_labelled(quantity, unit), ylabel=density_unit, xlim=(low, high))
    axes.set_ylim(bottom=0.0)
    axes.legend(loc="upper right")


def draw_cumulative(
    axes,
    series: Sequence[Series],
    *,
    limits: tuple[float, float] | None = None,
    quantity: str = "error",
    unit: str = "",
) -> None:
    """Draw the share of the values that is at most x: left is better, steep is even.

    The x axis spans `limits`, by default from zero, or the least value, to the largest 99th
    percentile; `quantity` and `unit` name it.
    """
    shown = _shown(axes, series)
    if not shown:
        return
    if limits is None:
        low, _ = _span([s.finite for s, _ in shown])
        limits = low, max(float(np.quantile(s.finite, 0.99)) for s, _ in shown)
    for part, colour in shown:
        values, share = cumulative_curve(part.finite)
        axes.step(
            values, share * 100.0, where="post", color=colour, ls=_dash(part), label=part.label
        )
    for level in (50.0, 95.0):
        axes.axhline(level, color="#8a94a6", lw=0.8, ls=":")
    axes.set(xlabel=f"at most this {_labelled(quantity, unit)}", ylabel="share [%]")
    axes.set(ylim=(0.0, 101.0))
    if limits[1] > limits[0]:
        axes.set_xlim(*limits)
    axes.legend(loc="lower right")


def cumulative_curve(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x and the share of the values that are at most x, in at most `MAX_LINE_POINTS` steps.

    >>> cumulative_curve(np.array([2.0, 1.0]))
    (array([1., 2.]), array([0.5, 1. ]))
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    which = thinned(len(ordered))
    return ordered[which], (which + 1.0) / len(ordered)


def draw_boxes(
    axes,
    series: Sequence[Series],
    *,
    quantity: str = "error",
    unit: str = "",
    from_zero: bool = True,
) -> None:
    """Draw a box from first to third quartile with the median, and whiskers from 5 % to 95 %.

    Series are drawn from left to right with the label below; `quantity` and `unit` name the axis,
    which begins at zero if `from_zero`.
    """
    shown = _shown(axes, series, default=colours(1) * len(series))
    if not shown:
        return
    drawn = axes.boxplot(
        [part.finite for part, _ in shown],
        whis=(5, 95),
        showfliers=False,
        widths=0.5,
        patch_artist=True,
        tick_labels=[part.label for part, _ in shown],
        medianprops={"color": ESTIMATE, "lw": 2.0},
    )
    for k, (_, colour) in enumerate(shown):
        drawn["boxes"][k].set(facecolor=colour, alpha=0.4, edgecolor=colour)
        for line in (*drawn["whiskers"][2 * k : 2 * k + 2], *drawn["caps"][2 * k : 2 * k + 2]):
            line.set_color(colour)
    if sum(len(part.label) for part, _ in shown) > 48:
        axes.tick_params(axis="x", rotation=30)
        for label in axes.get_xticklabels():
            label.set_ha("right")
    axes.set_ylabel(_labelled(quantity, unit))
    if from_zero:
        axes.set_ylim(bottom=0.0)


def draw_coloured_points(
    axes,
    points_map: np.ndarray,
    values: np.ndarray,
    *,
    view: str = "top",
    limits: tuple[float, float] | None = None,
    quantity: str = "error",
    unit: str = "m",
) -> None:
    """Draw a cloud coloured by a value, with its colour bar; the points are rasterised.

    Of the points (n, 3), east, north, up [m], a repeatable sample of `MAX_DRAWN_POINTS` is drawn,
    seen from above ("top"), the south ("front") or the west ("side"), with equal scales:
    `height_of_map` returns the height of a figure that fits. `values` (n,) beyond `limits`
    (`default_limits` by default) have the colour of the limit; `quantity` and `unit` name them.
    """
    across, up, xlabel, ylabel = _VIEWS[view]
    low, high = limits or default_limits(values)
    which = sampled(len(points_map))
    corner_low, corner_high = frame_of(points_map)
    axes.grid(False)
    drawn = axes.scatter(
        points_map[which, across],
        points_map[which, up],
        c=np.asarray(values)[which],
        s=dot_area(len(which)),
        lw=0,
        cmap=ERROR_COLOURMAP,
        vmin=low,
        vmax=high,
        rasterized=True,
    )
    axes.set(xlim=(corner_low[across], corner_high[across]), xlabel=xlabel)
    axes.set(ylim=(corner_low[up], corner_high[up]), ylabel=ylabel)
    axes.set_aspect("equal")
    axes.figure.colorbar(
        drawn, ax=axes, label=_labelled(quantity, unit), extend="max", pad=0.01, aspect=30
    )


def default_limits(values: np.ndarray) -> tuple[float, float]:
    """Return the ends of a colour scale: zero (or the least value, if negative) to the 95 % value.

    >>> default_limits(np.array([0.0, 1.0, 1.0]))
    (0.0, 1.0)
    """
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return 0.0, 1.0
    low, high = min(0.0, float(finite.min())), float(np.quantile(finite, 0.95))
    return low, high if high > low else low + max(abs(low), 1.0) * 1e-3


def frame_of(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the shown extent: the cloud without its farthest thousandths."""
    low, high = np.quantile(points, [0.002, 0.998], axis=0)
    margin = 0.04 * (high - low).max() + 0.5
    return low - margin, high + margin


def height_of_map(points: np.ndarray, view: str = "top", width_in: float = WIDE_IN) -> float:
    """Return the height [inch] at which a map with equal scales fills a figure of a width."""
    across, up = _VIEWS[view][:2]
    low, high = frame_of(points)
    ratio = (high[up] - low[up]) / max(high[across] - low[across], 1e-6)
    return float(np.clip((width_in - 1.6) * ratio + 0.8, 2.0, 8.0))


def dot_area(n: int) -> float:
    """Return the area of a point [pt^2], larger where there are few."""
    return float(np.clip(2.5e5 / max(n, 1), 2.5, 20.0))


def sampled(n: int, maximum: int = MAX_DRAWN_POINTS) -> np.ndarray:
    """Return a repeatable sample of indices, shuffled so that no part of a map covers another."""
    return np.random.default_rng(0).permutation(n)[:maximum]


def thinned(n: int, maximum: int = MAX_LINE_POINTS) -> np.ndarray:
    """Return at most `maximum` indices in order, the first and the last included.

    >>> thinned(9, 3)
    array([0, 4, 8])
    """
    return np.unique(np.linspace(0, n - 1, min(n, maximum)).round().astype(np.int64))


def say(axes, text: str) -> None:
    """Write in the middle of empty axes why nothing is drawn."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", alpha=0.7)


def _shown(
    axes, series: Sequence[Series], default: list[str] | None = None
) -> list[tuple[Series, str]]:
    """Return the series with finite values and their colours; write on the axes if none has any."""
    default = default or colours(len(series))
    shown = [(s, s.colour or c) for s, c in zip(series, default) if len(s.finite)]
    if not shown:
        say(axes, "no numbers to draw")
    return shown


def _span(sets: Sequence[np.ndarray]) -> tuple[float, float]:
    low = min(0.0, *(float(values.min()) for values in sets))
    high = max(float(values.max()) for values in sets)
    return low, high if high > low else low + 1.0


def _dash(series: Series) -> str:
    return "--" if series.is_dashed else "-"


def _labelled(quantity: str, unit: str) -> str:
    return f"{quantity} [{unit}]" if unit else quantity
