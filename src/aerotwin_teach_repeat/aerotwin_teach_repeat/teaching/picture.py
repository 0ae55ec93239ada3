# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A picture of a taught route: from above, and its demands on vehicle and lidar along it."""

import io
from typing import Any

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.plots import ACCENT, ALIGNED, BAD, ESTIMATE, FLOOR, TRUTH, new_figure, style
from aerotwin_teach_repeat.teaching.lidar_prediction import Localisability
from aerotwin_teach_repeat.teaching.passage import Traversability

MAX_POINTS = 120_000
MARGIN_M = 25.0
_DPI = 110


def route_picture(
    points_map: np.ndarray,
    passage: Traversability,
    prediction: Localisability,
    *,
    markers_s_m: FloatArray,
    title: str,
) -> bytes:
    """Return a PNG: the route on the cloud, then slope, step, clearance and predicted errors.

    A part of the cloud `points_map` (n, 3) is drawn [m]; `markers_s_m` (m,) are stations [m].
    """
    figure = new_figure(13.2, 5.6)
    with style():
        grid = figure.add_gridspec(3, 2, width_ratios=[1.1, 1.0])
        view = figure.add_subplot(grid[:, 0])
        rows = [figure.add_subplot(grid[k, 1]) for k in range(3)]
        _draw_map(view, figure, points_map, passage, prediction, markers_s_m)
        view.set_title(title)
        _draw_passage(rows[0], rows[1], passage)
        _draw_prediction(rows[2], passage, prediction)
        for axes in rows:
            axes.set_xlim(0.0, float(passage.s_m[-1]))
        rows[-1].set_xlabel("along the route [m]")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI, facecolor="white")
    return buffer.getvalue()


def _draw_map(
    axes: Any,
    figure: Any,
    points_map: np.ndarray,
    passage: Traversability,
    prediction: Localisability,
    markers_s_m: FloatArray,
) -> None:
    low = passage.p_map[:, :2].min(axis=0) - MARGIN_M
    high = passage.p_map[:, :2].max(axis=0) + MARGIN_M
    inside = ((points_map[:, :2] > low) & (points_map[:, :2] < high)).all(axis=1)
    shown = points_map[inside]
    # Every n-th of a sorted cloud would draw stripes.
    shown = np.random.default_rng(0).permutation(shown)[:MAX_POINTS]
    shown = shown[np.argsort(shown[:, 2])]
    axes.scatter(
        *shown[:, :2].T, c=shown[:, 2], cmap="gray", s=0.5, linewidths=0, rasterized=True, alpha=0.6
    )
    axes.plot(*passage.p_map[:, :2].T, color="black", linewidth=4)
    drawn = axes.scatter(
        *prediction.p_map[:, :2].T, c=prediction.weakest, cmap="viridis", vmin=0.0, s=9,
        linewidths=0, zorder=3,
    )  # fmt: skip
    figure.colorbar(drawn, ax=axes, label="weakest information (0 = a free motion)", shrink=0.7)
    bad = ~passage.is_passable
    if bad.any():
        axes.scatter(*passage.p_map[bad, :2].T, color=BAD, s=30, zorder=4, label="not passable")
    if len(markers_s_m):
        places = [np.interp(markers_s_m, passage.s_m, column) for column in passage.p_map[:, :2].T]
        axes.scatter(*places, marker="x", color=ESTIMATE, s=40, zorder=5, label="markers")
    axes.scatter(*passage.p_map[0, :2], marker="^", color=ALIGNED, s=90, zorder=6, label="start")
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.grid(visible=False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)


def _draw_passage(slope_axes: Any, step_axes: Any, passage: Traversability) -> None:
    vehicle = passage.vehicle
    slope_axes.plot(passage.s_m, passage.slope_deg, color=ALIGNED)
    slope_axes.axhline(vehicle.max_slope_deg, color=BAD, linestyle=":")
    slope_axes.set_ylabel("slope [deg]")
    step_axes.plot(passage.s_m, passage.step_m, color=ESTIMATE, label="step")
    step_axes.axhline(vehicle.max_step_m, color=ESTIMATE, linestyle=":", label="at most")
    step_axes.plot(passage.s_m, passage.clearance_m, color=FLOOR, label="clearance")
    step_axes.axhline(vehicle.min_clearance_m, color=FLOOR, linestyle="--", label="at least")
    step_axes.set_ylabel("[m]")
    step_axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05))


def _draw_prediction(axes: Any, passage: Traversability, prediction: Localisability) -> None:
    gaps = prediction.p_map[:, None, :2] - passage.p_map[None, ::3, :2]
    s_m = passage.s_m[::3][np.argmin(np.einsum("ijk,ijk->ij", gaps, gaps), axis=1)]
    order = np.argsort(s_m)
    for name, column, factor, colour in (
        ("along [cm]", 0, 100.0, ALIGNED),
        ("across [cm]", 1, 100.0, ACCENT),
        ("yaw [0.1 deg]", 5, 10.0 * 180.0 / np.pi, TRUTH),
    ):
        values = prediction.sigma[order, column] * factor
        axes.plot(
            s_m[order], np.where(np.isfinite(values), values, np.nan), color=colour, label=name
        )
    free = ~prediction.is_constrained
    if free.any():
        axes.scatter(s_m[free], np.zeros(free.sum()), color=BAD, s=14, label="a free motion")
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("predicted sigma")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05))
