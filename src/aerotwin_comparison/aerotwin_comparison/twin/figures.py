# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures of a twin: Fig. 9 to 11 of Beam et al. (2024), and differences with their margins."""

from typing import Any

import numpy as np

from aerotwin_comparison.twin.comparison import TwinComparison
from aerotwin_comparison.twin.differences import Differences
from aerotwin_core.charts import (
    Series,
    chart,
    dot_area,
    draw_histograms,
    frame_of,
    height_of_map,
    sampled,
)
from aerotwin_core.plots import ALIGNED, ESTIMATE, FLOOR, HALF_IN, TRUTH, WIDE_IN
from aerotwin_core.section import PathLayer, PointLayer, ReportScene

COLOUR_A, COLOUR_B, COLOUR_MODEL = ALIGNED, ESTIMATE, TRUTH
_MAX_MODEL_POINTS = 40_000


def clouds_from_above(twin: TwinComparison, name: str) -> str:
    """Draw both registered clouds over the model, from above: Fig. 9."""
    clouds = (twin.map_a.aligned_points_map, twin.map_b.aligned_points_map)
    both = np.concatenate(clouds)
    low, high = frame_of(both)

    def draw(axes: Any) -> None:
        axes.grid(False)
        _draw_model(axes, twin, low, high, alpha=0.3, label="model")
        # Shuffled together, so that neither map covers the other.
        owner = np.repeat([0, 1], [len(points) for points in clouds])
        which = sampled(len(both), 50_000)
        colours = np.array([COLOUR_A, COLOUR_B])[owner[which]]
        size = min(dot_area(len(which)), 6.0)
        axes.scatter(*both[which, :2].T, s=size, lw=0, c=colours, alpha=0.6, rasterized=True)
        for side, colour in ((twin.a, COLOUR_A), (twin.b, COLOUR_B)):
            axes.scatter([], [], s=size, lw=0, color=colour, label=side.label)
        _frame(axes, low, high)
        axes.figure.legend(loc="outside upper left", ncols=3, markerscale=3.0)

    return chart(name, draw, width_in=WIDE_IN, height_in=height_of_map(both) + 0.3)


def paths_from_above(twin: TwinComparison, name: str) -> str | None:
    """Draw both paths after the registration of the clouds, from above: Fig. 11; None without."""
    paths = {which: twin.path_map(which) for which in "ab"}
    known = [path for path in paths.values() if path is not None]
    if not known:
        return None
    both = np.concatenate(known)
    low, high = frame_of(np.concatenate([both, twin.map_a.aligned_points_map]))

    def draw(axes: Any) -> None:
        axes.grid(False)
        _draw_model(axes, twin, low, high, alpha=0.25)
        looks = {"a": (twin.a, COLOUR_A, "-"), "b": (twin.b, COLOUR_B, "--")}
        for which, (side, colour, dash) in looks.items():
            path = paths[which]
            if path is not None:
                axes.plot(*path[:, :2].T, color=colour, ls=dash, lw=2.0, label=side.label)
                axes.plot(*path[0, :2], "o", color=colour, ms=6)
        _frame(axes, low, high)
        axes.figure.legend(loc="outside upper left", ncols=2)

    height = height_of_map(np.concatenate([both, low[None], high[None]])) + 0.3
    return chart(name, draw, width_in=WIDE_IN, height_in=height)


def histograms(twin: TwinComparison, d: Differences, name: str) -> str:
    """Draw the distances of both maps over each other: Fig. 10, with the floor."""
    series = [
        Series(label=twin.a.label, values=d.a.kept, colour=COLOUR_A, is_filled=True),
        Series(label=twin.b.label, values=d.b.kept, colour=COLOUR_B),
    ]
    floor = twin.map_a.floor
    if floor is not None and d.kind == "correspondences":
        perfect = twin.map_a.kept(floor.distances)
        series.append(
            Series(label="perfect map (floor)", values=perfect, colour=FLOOR, is_dashed=True)
        )
    limit = twin.map_a.protocol.cut_m
    if d.kind != "correspondences":
        limit = max(float(np.quantile(s.values, 0.98)) for s in series)
    return chart(
        name,
        lambda axes: draw_histograms(
            axes, series, limits=(0.0, limit), quantity="distance", unit="m"
        ),
    )


def intervals(found: list[Differences], name: str) -> str:
    """Draw each difference with its interval, in margins: within -1 and 1 is equivalent."""
    rows = [(d, label, part) for d in found for label, part in d.parts.items()]

    def draw(axes: Any) -> None:
        axes.axvspan(-1.0, 1.0, color=FLOOR, alpha=0.18, lw=0)
        axes.axvline(0.0, color=TRUTH, lw=1.0)
        for k, (_, _, part) in enumerate(rows):
            y, scale = len(rows) - 1 - k, 1.0 / part.margin
            i = part.interval
            axes.plot([i.low * scale, i.high * scale], [y, y], color=COLOUR_A, lw=3.0)
            axes.plot(i.estimate * scale, y, "o", color=COLOUR_B, ms=7)
        axes.set_yticks(range(len(rows)), [f"{label}, {d.kind}" for d, label, _ in reversed(rows)])
        reach = max(
            1.5,
            *(1.1 * max(abs(p.interval.low), abs(p.interval.high)) / p.margin for *_, p in rows),
        )
        axes.set(xlim=(-reach, reach), ylim=(-0.6, len(rows) - 0.4))
        axes.set(xlabel="difference in margins (shaded: counts as equal)")

    return chart(name, draw, width_in=HALF_IN, height_in=1.2 + 0.42 * len(rows))


def scene(twin: TwinComparison) -> ReportScene:
    """Return the 3D view: the model, both clouds, both paths."""
    layers: list[PointLayer | PathLayer] = [
        PointLayer(name="model", points_map=twin.map_a.voxels_map, colour=COLOUR_MODEL),
    ]
    sides = (("a", twin.a, twin.map_a, COLOUR_A), ("b", twin.b, twin.map_b, COLOUR_B))
    for _, side, m, colour in sides:
        layers.append(PointLayer(name=side.label, points_map=m.aligned_points_map, colour=colour))
    for _, side, m, _ in sides:
        within = np.where(np.isfinite(m.voxel_distances), m.voxel_distances, np.nan)
        layers.append(
            PointLayer(
                name=f"{side.label}: distance",
                points_map=m.aligned_points_map,
                values=within,
                unit="m",
                limits=(0.0, m.protocol.cut_m),
                quantity="distance",
                is_shown=False,
            )
        )
    for which, side, _, colour in sides:
        path = twin.path_map(which)
        if path is not None:
            layers.append(PathLayer(name=f"{side.label}: path", points_map=path, colour=colour))
    return ReportScene(
        title="Both maps in the model",
        caption="After registration. Switch layers on and off in the legend.",
        layers=tuple(layers),
    )


def _draw_model(
    axes: Any, twin: TwinComparison, low: np.ndarray, high: np.ndarray, **look: Any
) -> None:
    points = twin.map_a.voxels_map
    inside = ((points[:, :2] >= low[:2]) & (points[:, :2] <= high[:2])).all(axis=1)
    points = points[inside]
    x, y = points[sampled(len(points), _MAX_MODEL_POINTS), :2].T
    axes.scatter(x, y, s=4.0, marker="s", lw=0, color=COLOUR_MODEL, rasterized=True, **look)


def _frame(axes: Any, low: np.ndarray, high: np.ndarray) -> None:
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.set_aspect("equal")
    axes.set(xlabel="east x [m]", ylabel="north y [m]")
