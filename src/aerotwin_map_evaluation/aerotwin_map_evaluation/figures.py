# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Plots of a map and its errors, as SVG; clouds are embedded as pictures."""

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_core.plots import (
    ALIGNED,
    ERROR_COLOURMAP,
    ESTIMATE,
    FLOOR,
    TRUTH,
    WIDE_IN,
    new_figure,
    render_svg,
    style,
)
from aerotwin_map_evaluation.result import MapEvaluation

_MAX_DRAWN = 60_000
_BINS = 50


def _drawn(n: int) -> np.ndarray:
    """Return a repeatable sample of indices, shuffled so that no part of a map covers another."""
    return np.random.default_rng(0).permutation(n)[:_MAX_DRAWN]


def _frame(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of what to show: the map but for its farthest thousandths."""
    low, high = np.quantile(points, [0.002, 0.998], axis=0)
    margin = 0.04 * (high - low).max() + 0.5
    return low - margin, high + margin


def _height_of(span_across: float, span_up: float) -> float:
    return float(np.clip((WIDE_IN - 1.6) * span_up / max(span_across, 1e-6) + 0.8, 2.0, 8.0))


def _dot(n: int) -> float:
    """Return the area of a point [pt^2], larger where there are few."""
    return float(np.clip(2.5e5 / max(n, 1), 2.5, 20.0))


def coloured_map(evaluation: MapEvaluation, name: str, *, view: str) -> str:
    """Draw the map coloured by its error, from above (`top`) or from the south (`front`)."""
    points, distances = evaluation.points_map, evaluation.judged_distances
    low, high = _frame(points)
    across, up = (0, 1) if view == "top" else (0, 2)
    which = _drawn(len(points))
    limit = max(float(np.quantile(np.minimum(distances, 3.0), 0.95)), 1e-3)
    figure = new_figure(WIDE_IN, _height_of(high[across] - low[across], high[up] - low[up]))
    with style():
        axes = figure.subplots()
        axes.grid(False)
        drawn = axes.scatter(
            points[which, across],
            points[which, up],
            c=np.minimum(distances[which], limit),
            s=_dot(len(which)),
            lw=0,
            cmap=ERROR_COLOURMAP,
            vmin=0.0,
            vmax=limit,
            rasterized=True,
        )
        axes.set(xlim=(low[across], high[across]), ylim=(low[up], high[up]))
        axes.set_aspect("equal")
        axes.set(xlabel="east x [m]", ylabel="north y [m]" if view == "top" else "height z [m]")
        figure.colorbar(drawn, ax=axes, label="error [m]", extend="max", pad=0.01, aspect=30)
    return render_svg(figure, name)


def map_and_voxels(evaluation: MapEvaluation, name: str) -> str:
    """Draw the aligned map over the voxel cloud, from above."""
    moved = transform_points(evaluation.registration.T_target_source, evaluation.points_map)
    low, high = _frame(moved)
    voxels = evaluation.voxels_map
    shown = ((voxels[:, :2] >= low[:2]) & (voxels[:, :2] <= high[:2])).all(axis=1)
    voxels = voxels[shown]
    voxels = voxels[_drawn(len(voxels))]
    points = moved[_drawn(len(moved))]
    height = _height_of(high[0] - low[0], high[1] - low[1])
    figure = new_figure(WIDE_IN, height)
    with style():
        axes = figure.subplots()
        axes.grid(False)
        # One voxel as large as it is: points per inch over metres per inch.
        edge = evaluation.protocol.voxel_m * 72.0 * (WIDE_IN - 1.6) / (high[0] - low[0])
        axes.scatter(
            *voxels[:, :2].T, s=max(edge * 0.9, 1.0) ** 2, marker="s", lw=0, color=TRUTH,
            alpha=0.35, rasterized=True, label="voxels of the true surface",
        )  # fmt: skip
        axes.scatter(
            *points[:, :2].T,
            s=_dot(len(points)),
            lw=0,
            color=ALIGNED,
            rasterized=True,
            label="map, aligned",
        )
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        axes.set_aspect("equal")
        axes.set(xlabel="east x [m]", ylabel="north y [m]")
        figure.legend(loc="outside upper left", ncols=2, markerscale=2.0)
    return render_svg(figure, name)


def histogram(evaluation: MapEvaluation, name: str) -> str:
    """Draw the distances to voxels, the floor of a perfect map, and those to the surface."""
    figure = new_figure()
    limit = evaluation.protocol.cut_m
    bins = np.linspace(0.0, limit, _BINS + 1)
    to_voxels = evaluation.kept(evaluation.voxel_distances)
    layers = [("map to voxels", to_voxels, ALIGNED, True)]
    if evaluation.floor is not None:
        perfect = evaluation.kept(evaluation.floor.distances)
        layers.append(("perfect map to voxels (floor)", perfect, FLOOR, False))
    if evaluation.surface_distances is not None:
        judged = evaluation.kept(evaluation.judged_distances)
        layers.append(("map to the true surface", judged, ESTIMATE, False))
    with style():
        axes = figure.subplots()
        tops = []
        for label, distances, colour, is_filled in layers:
            density = np.histogram(distances, bins)[0] / max(len(distances), 1) / np.diff(bins)
            tops.append(density.max())
            look = {"alpha": 0.45} if is_filled else {"lw": 2.0}
            axes.stairs(density, bins, color=colour, fill=is_filled, label=label, **look)
        # A good map lies in the first bins: its peak may leave the picture, the voxels' may not.
        axes.set_ylim(0.0, max(min(max(tops), 2.2 * max(tops[:2])), 1e-3) * 1.05)
        axes.set(xlabel="distance [m]", ylabel="density [1/m]", xlim=(0.0, limit))
        axes.legend(loc="upper right")
    return render_svg(figure, name)


def rejection(evaluation: MapEvaluation, name: str) -> str:
    """Draw the share kept and the mean error over the cut."""
    rows = evaluation.rejection_curve()
    cuts = [row["cut_m"] for row in rows]
    figure = new_figure()
    with style():
        share, mean = figure.subplots(2, 1, sharex=True)
        share.plot(cuts, [100 * row["share"] for row in rows], "o-", color=ALIGNED, label="map")
        mean.plot(cuts, [row["mean_m"] for row in rows], "o-", color=ALIGNED)
        if evaluation.floor is not None:
            share.plot(
                cuts, [100 * r["floor_share"] for r in rows], "o--", color=FLOOR, label="floor"
            )
            mean.plot(cuts, [row["floor_mean_m"] for row in rows], "o--", color=FLOOR)
        for axes in (share, mean):
            axes.axvline(evaluation.protocol.cut_m, color=TRUTH, lw=1.0, ls=":")
        share.set(ylabel="points kept [%]", ylim=(0.0, 104.0))
        share.legend(loc="lower right")
        mean.set(xlabel="cut [m]", ylabel="mean distance [m]")
        mean.set_ylim(bottom=0.0)
        figure.align_ylabels()
    return render_svg(figure, name)
