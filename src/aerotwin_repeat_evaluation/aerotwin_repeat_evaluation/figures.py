# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Plots of repeats: the route coloured by error, errors along it, boxes per method."""

from collections.abc import Sequence

import numpy as np

from aerotwin_core.charts import (
    Series,
    chart,
    draw_boxes,
    draw_coloured_points,
    height_of_map,
    say,
    thinned,
)
from aerotwin_core.plots import ALIGNED, ESTIMATE, FLOOR, TRUTH, WIDE_IN
from aerotwin_repeat_evaluation.displacements import true_poses
from aerotwin_repeat_evaluation.evaluation import TeachRepeatEvaluation

_CM = 100.0


def route_map(evaluation: TeachRepeatEvaluation, name: str) -> str:
    """Draw the true runs from above, coloured by their lateral distance from the true route."""
    points = np.concatenate([run.T_true_base[:, :3, 3] for run in evaluation.runs])
    errors = np.abs(np.concatenate([found.error_m for found in evaluation.true])) * _CM
    route = true_poses(evaluation.displacement, evaluation.T_map_route)[:, :2, 3]
    marks = evaluation.marks.T_true_mark[:, :2, 3]

    def draw(axes) -> None:
        axes.plot(*route.T, color=TRUTH, lw=5.0, alpha=0.35, zorder=0, label="route taught")
        draw_coloured_points(axes, points, errors, quantity="beside the route", unit="cm")
        axes.plot(*marks.T, "+", color=TRUTH, ms=9, mew=1.4, label="marks")
        axes.plot(*route[0], "o", color=TRUTH, ms=10, mfc="none", label="start")
        axes.legend(loc="upper right")

    return chart(name, draw, width_in=WIDE_IN, height_in=height_of_map(points))


def along_the_route(evaluation: TeachRepeatEvaluation, name: str) -> str:
    """Draw truth, estimate and the floor over the distance, with the marks as dots."""

    def draw(axes) -> None:
        for k, (true, believed) in enumerate(
            zip(evaluation.true, evaluation.believed, strict=True)
        ):
            for found, colour, label in ((believed, ALIGNED, "belief"), (true, ESTIMATE, "truth")):
                which = thinned(len(found.s_m))
                axes.plot(
                    found.s_m[which], found.error_m[which] * _CM, color=colour, lw=1.0, alpha=0.8,
                    label=label if k == 0 else None,
                )  # fmt: skip
        if evaluation.floor is not None:
            which = thinned(len(evaluation.route_s_m))
            axes.plot(
                evaluation.route_s_m[which], evaluation.floor.lateral_m[which] * _CM, color=FLOOR,
                lw=2.2, ls="--", label="rigid-fit floor",
            )  # fmt: skip
        offsets = evaluation.markers.offsets_m * _CM
        s = np.repeat(evaluation.marks.s_m[:, None], offsets.shape[1], axis=1)
        axes.plot(s.ravel(), offsets.ravel(), ".", color=ESTIMATE, ms=7, label="at the marks")
        _finish_along(axes, evaluation, "left of the route [cm]")
        axes.legend(loc="upper right", ncols=4)

    return chart(name, draw, width_in=WIDE_IN, height_in=4.6)


def boxes_of_one(evaluation: TeachRepeatEvaluation, name: str) -> str:
    """Draw boxes of the deviation at the marks: truth, estimate, floor."""
    values = {
        "truth": (evaluation.markers.offsets_m, ESTIMATE),
        "belief": (evaluation.belief_at_marks.offsets_m, ALIGNED),
    }
    if evaluation.floor_at_marks_m is not None:
        values["floor"] = (evaluation.floor_at_marks_m, FLOOR)
    return _boxes(
        [
            Series(label=label, values=_absolute(offsets), colour=colour)
            for label, (offsets, colour) in values.items()
        ],
        name,
    )


def boxes_of_methods(evaluations: Sequence[TeachRepeatEvaluation], name: str) -> str:
    """Draw one box of the deviation at the marks for each method, as the thesis does."""
    series = [
        Series(label=evaluation.method, values=_absolute(evaluation.markers.offsets_m))
        for evaluation in evaluations
    ]
    return _boxes(series, name, width_in=WIDE_IN, height_in=4.2)


def _boxes(series: Sequence[Series], name: str, **size: float) -> str:
    return chart(
        name, lambda axes: draw_boxes(axes, series, quantity="beside the marks", unit="cm"), **size
    )


def localization_along(evaluation: TeachRepeatEvaluation, name: str) -> str:
    """Draw the lateral error of the estimate over the distance; dots where not localised."""

    def draw(axes) -> None:
        for k, (run, found, errors) in enumerate(
            zip(evaluation.runs, evaluation.true, evaluation.localization, strict=True)
        ):
            which = thinned(len(found.s_m))
            axes.plot(
                found.s_m[which], errors.lateral_m[which] * _CM, color=ALIGNED, lw=1.0, alpha=0.8,
                label="lateral" if k == 0 else None,
            )  # fmt: skip
            if run.is_localized is not None and not np.all(run.is_localized):
                lost = ~np.asarray(run.is_localized)
                axes.plot(found.s_m[lost], errors.lateral_m[lost] * _CM, ".", color="#d64545")
        _finish_along(axes, evaluation, "belief left of truth [cm]")

    return chart(name, draw, width_in=WIDE_IN, height_in=3.4)


def _finish_along(axes, evaluation: TeachRepeatEvaluation, quantity: str) -> None:
    axes.axhline(0.0, color=TRUTH, lw=0.8)
    axes.set(xlabel="way along the route [m]", ylabel=quantity)
    axes.set_xlim(0.0, float(evaluation.route_s_m[-1]))


def bias_and_spread(evaluation: TeachRepeatEvaluation, name: str) -> str:
    """Draw bias and spread at each mark: the effect of the map, and random variation."""

    def draw(axes) -> None:
        offsets = evaluation.markers.offsets_m * _CM
        if offsets.shape[1] < 2:
            say(axes, "one run has no spread")
            return
        bias = evaluation.markers.bias_m * _CM
        low, high = (np.nanmin(offsets, axis=1), np.nanmax(offsets, axis=1))
        axes.errorbar(
            evaluation.marks.s_m, bias, yerr=[bias - low, high - bias], fmt="o", ms=4,
            color=ESTIMATE, ecolor=ALIGNED, lw=2.0,
        )  # fmt: skip
        axes.axhline(0.0, color=TRUTH, lw=0.8)
        axes.set(xlabel="way along the route [m]", ylabel="mean and range of the runs [cm]")

    return chart(name, draw)


def _absolute(offsets_m: np.ndarray) -> np.ndarray:
    return np.abs(offsets_m).ravel() * _CM
