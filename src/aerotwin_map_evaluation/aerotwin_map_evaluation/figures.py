# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Plots of a map and its errors, as SVG; clouds are embedded as images."""

import numpy as np

from aerotwin_core.charts import (
    Series,
    chart,
    dot_area,
    draw_coloured_points,
    draw_cumulative,
    draw_histograms,
    frame_of,
    height_of_map,
    sampled,
)
from aerotwin_core.plots import ALIGNED, ESTIMATE, FLOOR, HALF_IN, TRUTH, colours
from aerotwin_map_evaluation.result import MapEvaluation


def coloured_map(evaluation: MapEvaluation, name: str, *, view: str) -> str:
    """Draw the scored map coloured by its error, from above (`top`), south or west (`side`)."""
    points = evaluation.judged_points_map
    return chart(
        name,
        lambda axes: draw_coloured_points(
            axes, points, evaluation.judged_distances, view=view, quantity="error", unit="m"
        ),
        height_in=height_of_map(points, view, HALF_IN),
    )


def map_and_voxels(evaluation: MapEvaluation, name: str) -> str:
    """Draw the aligned map over the reference's points, from above."""
    moved = evaluation.aligned_points_map
    low, high = frame_of(moved)
    voxels = evaluation.voxels_map
    voxels = voxels[((voxels[:, :2] >= low[:2]) & (voxels[:, :2] <= high[:2])).all(axis=1)]
    voxels = voxels[sampled(len(voxels))]
    points = moved[sampled(len(moved))]
    edge = evaluation.reference.edge_m or 0.0
    # One voxel as large as it is: points per inch over metres per inch.
    size = max(0.9 * edge * 72.0 * (HALF_IN - 1.6) / (high[0] - low[0]), 1.0) ** 2

    def draw(axes) -> None:
        axes.grid(False)
        axes.scatter(
            *voxels[:, :2].T, s=size, marker="s", lw=0, color=TRUTH, alpha=0.35,
            rasterized=True, label=evaluation.reference.what,
        )  # fmt: skip
        axes.scatter(
            *points[:, :2].T, s=dot_area(len(points)), lw=0, color=ALIGNED, rasterized=True,
            label="map, aligned",
        )  # fmt: skip
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        axes.set_aspect("equal")
        axes.set(xlabel="east x [m]", ylabel="north y [m]")
        axes.figure.legend(loc="outside upper left", ncols=2, markerscale=2.0)

    return chart(name, draw, height_in=height_of_map(moved, width_in=HALF_IN))


def histogram(evaluation: MapEvaluation, name: str) -> str:
    """Draw the distances of the correspondences and the floor of a perfect map: Fig. 10."""
    cut = evaluation.protocol.cut_m
    to = {"points": evaluation.reference.what, "boxes": "voxel boxes"}
    what = to.get(evaluation.protocol.distance, "the surface")
    series = [
        Series(
            label=f"map to {what}",
            values=evaluation.kept(evaluation.voxel_distances),
            colour=ALIGNED,
        )
    ]
    if evaluation.floor is not None:
        series.append(
            Series(
                label="perfect map (floor)",
                values=evaluation.kept(evaluation.floor.distances),
                colour=FLOOR,
                is_dashed=True,
            )
        )

    def draw(axes) -> None:
        draw_histograms(axes, series, limits=(0.0, cut), quantity="distance", unit="m")

    return chart(name, draw)


def cumulative(evaluation: MapEvaluation, name: str) -> str:
    """Draw the share of map and reference within a distance of the other."""
    limit = 2.0 * max(evaluation.protocol.within_m)
    series = [
        Series(label="map to reference", values=evaluation.scores.forward, colour=ESTIMATE),
        Series(
            label="reference to map",
            values=evaluation.scores.backward,
            colour=ALIGNED,
            is_dashed=True,
        ),
    ]

    def draw(axes) -> None:
        draw_cumulative(axes, series, limits=(0.0, limit), quantity="distance", unit="m")

    return chart(name, draw)


def precision_recall(evaluation: MapEvaluation, name: str) -> str:
    """Draw precision, recall and F over the threshold."""
    scores = evaluation.scores
    limits = np.linspace(0.0, 2.0 * max(evaluation.protocol.within_m), 81)[1:]
    precision, recall = (
        np.searchsorted(np.sort(part), limits, side="right") / len(part)
        for part in (scores.forward, scores.backward)
    )
    both = np.maximum(precision + recall, 1e-300)

    def draw(axes) -> None:
        axes.plot(limits, 100.0 * precision, color=ESTIMATE, label="precision")
        axes.plot(limits, 100.0 * recall, "--", color=ALIGNED, label="recall")
        axes.plot(limits, 200.0 * precision * recall / both, color=FLOOR, lw=2.4, label="F")
        for limit in evaluation.protocol.within_m:
            axes.axvline(limit, color=TRUTH, lw=0.8, ls=":")
        axes.set(xlabel="threshold [m]", ylabel="share [%]", ylim=(0.0, 104.0))
        axes.set_xlim(0.0, limits[-1])
        axes.legend(loc="lower right")

    return chart(name, draw)


def rejection(evaluation: MapEvaluation, name: str) -> str:
    """Draw the share retained over the cut, and the mean error of the retained points."""
    rows = evaluation.rejection_curve()
    cuts = [row["cut_m"] for row in rows]

    def draw(axes) -> None:
        axes.plot(cuts, [100.0 * row["share"] for row in rows], "o-", color=ALIGNED)
        axes.set(xlabel="cut [m]", ylabel="points retained [%]", ylim=(0.0, 104.0))
        mean = axes.twinx()
        mean.spines["right"].set_visible(True)
        mean.grid(False)
        mean.plot(cuts, [row["mean_m"] for row in rows], "s-", color=ESTIMATE)
        if evaluation.floor is not None:
            share = [100.0 * row["floor_share"] for row in rows]
            axes.plot(cuts, share, "o--", color=ALIGNED, alpha=0.6)
            mean.plot(cuts, [r["floor_mean_m"] for r in rows], "s--", color=ESTIMATE, alpha=0.6)
        mean.set_ylabel("mean distance of those retained [m]")
        mean.set_ylim(bottom=0.0)
        axes.axvline(evaluation.protocol.cut_m, color=TRUTH, lw=1.0, ls=":")
        handles = [
            axes.plot([], [], "o-", color=ALIGNED, label="share retained (left)")[0],
            axes.plot([], [], "s-", color=ESTIMATE, label="mean (right)")[0],
        ]
        if evaluation.floor is not None:
            handles.append(axes.plot([], [], "--", color=TRUTH, label="perfect map")[0])
        mean.legend(handles=handles, loc="lower right")

    return chart(name, draw)


def sensitivity(evaluation: MapEvaluation, name: str) -> str:
    """Draw the response of each metric to noise, as a change of its value without noise."""
    responses = [r for r in evaluation.sensitivity if r.unit == "m"]

    def draw(axes) -> None:
        for response, colour in zip(responses, colours(len(responses))):
            change = response.values - response.values[0]
            axes.plot(response.sigma_m, change, "o-", ms=3.5, color=colour, label=response.name)
        top = max(float(r.sigma_m[-1]) for r in responses)
        axes.plot([0.0, top], [0.0, top], color=TRUTH, lw=1.0, ls=":", label="one to one")
        axes.set(xlabel="noise on each axis, sigma [m]", ylabel="rise of the value [m]")
        axes.set(xlim=(0.0, top), ylim=(None, top))
        axes.legend(loc="upper left")

    return chart(name, draw)


def entropy(evaluation, name: str) -> str:
    """Draw the thickness of surfaces in neighbourhoods of the map."""
    values = evaluation.entropy.thickness_m

    def draw(axes) -> None:
        draw_cumulative(
            axes,
            [Series(label="map", values=values, colour=ALIGNED)],
            quantity="thickness of the neighbourhood",
            unit="m",
        )

    return chart(name, draw)
