# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Plots of one trajectory and its errors, as SVG."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.charts import (
    Series,
    chart,
    draw_boxes,
    draw_coloured_points,
    draw_cumulative,
    draw_histograms,
    height_of_map,
    say,
    thinned,
)
from aerotwin_core.plots import (
    ACCENT,
    ALIGNED,
    BAD,
    ESTIMATE,
    TRUTH,
    WIDE_IN,
    new_figure,
    render_svg,
    style,
)
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.consistency import ChiSquareTest
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.metrics import travelled

# An estimate farther off than this share of the path's extent would shrink the picture to a dot.
_SHOWN_SHARE = 0.5
_FLAT_SHARE = 0.25
AXES = "xyz"
# Squared errors below are drawn at the edge; room for the legend above the highest.
LEAST_NEES = 1e-3
NEES_HEADROOM = 10.0
_WIDTHS = {"truth": 4.0, "estimate": 1.5}


def path_of(evaluation: TrajectoryEvaluation) -> np.ndarray:
    """Return the distance travelled since the first true pose, at each pair (n,) [m]."""
    truth = evaluation.truth
    return np.interp(
        evaluation.reference.stamps_ns - truth.stamps_ns[0],
        truth.stamps_ns - truth.stamps_ns[0],
        travelled(truth.p_ref_body),
    )


def is_unaligned_shown(evaluation: TrajectoryEvaluation) -> bool:
    """Return whether the unaligned estimate is near enough to be drawn beside truth."""
    low, high = (f(evaluation.reference.p_ref_body, axis=0) for f in (np.min, np.max))
    extent = float(np.linalg.norm(high - low))
    return float(np.median(evaluation.ape_unaligned.trans_m)) < _SHOWN_SHARE * extent


@dataclass(frozen=True, kw_only=True)
class _Path:
    """A path to draw: positions p (n, 3), and the true distance travelled there (n,) [m]."""

    p: np.ndarray
    along_m: np.ndarray
    colour: str
    label: str
    width: float


def _paths(evaluation: TrajectoryEvaluation) -> list[_Path]:
    """Return the paths to draw: all of truth first, then the estimate."""
    truth = evaluation.truth
    drawn = [(truth, travelled(truth.p_ref_body), TRUTH, "truth", _WIDTHS["truth"])]
    along_m = path_of(evaluation)
    for trajectory, colour, label in _shown_estimates(evaluation):
        drawn.append((trajectory, along_m, colour, label, _WIDTHS["estimate"]))
    paths = []
    for trajectory, along, colour, label, width in drawn:
        which = thinned(len(trajectory))
        p = trajectory.p_ref_body[which]
        paths.append(_Path(p=p, along_m=along[which], colour=colour, label=label, width=width))
    return paths


def _shown_estimates(evaluation: TrajectoryEvaluation) -> list[tuple[Trajectory, str, str]]:
    provided = (evaluation.estimate, ESTIMATE, f"estimate, {evaluation.start}")
    mode = evaluation.alignment.mode
    if mode == "none":
        return [provided]
    aligned = (evaluation.aligned, ALIGNED, f"aligned ({mode})")
    return [provided, aligned] if is_unaligned_shown(evaluation) else [aligned]


def top_down(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the paths in the plane of the motion, and the third axis over the path below."""
    paths = _paths(evaluation)
    across, up, third = plane_of(evaluation)
    low, high = _corners([path.p for path in paths], (across, up))
    tall = float(np.clip((WIDE_IN - 2.6) * (high[1] - low[1]) / (high[0] - low[0]), 1.6, 6.5))
    figure = new_figure(WIDE_IN, tall + 2.2)
    with style():
        above, height = figure.subplots(2, 1, height_ratios=[tall, 1.2])
        for path in paths:
            line = {"color": path.colour, "lw": path.width}
            above.plot(path.p[:, across], path.p[:, up], label=path.label, **line)
            height.plot(path.along_m, path.p[:, third], **line)
        start = paths[0].p[0, [across, up]]
        above.plot(*start, "o", color=TRUTH, ms=8, mfc="none", label="start")
        above.set_aspect("equal")
        above.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        above.set(xlabel=f"{AXES[across]} [m]", ylabel=f"{AXES[up]} [m]")
        figure.legend(loc="outside upper left", ncols=4)
        height.set(xlabel="true path travelled [m]", ylabel=f"{AXES[third]} [m]")
    return render_svg(figure, name)


def plane_of(evaluation: TrajectoryEvaluation) -> tuple[int, int, int]:
    """Return the two axes of the plane of the motion and the third one.

    x and y, seen from above, unless another axis than z hardly changes: cars in camera axes drive
    in x and z (KITTI).
    """
    extent = np.ptp(evaluation.truth.p_ref_body, axis=0)
    flat = int(np.argmin(extent))
    third = flat if extent[flat] < _FLAT_SHARE * extent[2] else 2
    across, up = (axis for axis in range(3) if axis != third)
    return across, up, third


def side(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the paths from the two sides, with equal scales."""
    paths = _paths(evaluation)
    across, up, third = plane_of(evaluation)
    corners = {axis: _corners([path.p for path in paths], (axis, third)) for axis in (across, up)}
    tall = max((high[1] - low[1]) / (high[0] - low[0]) for low, high in corners.values())
    figure = new_figure(WIDE_IN, float(np.clip(5.8 * tall + 0.8, 1.8, 6.0)))
    with style():
        for axes, (axis, (low, high)) in zip(figure.subplots(1, 2), corners.items(), strict=True):
            for path in paths:
                axes.plot(path.p[:, axis], path.p[:, third], color=path.colour, lw=path.width)
            axes.set(xlabel=f"{AXES[axis]} [m]", ylabel=f"{AXES[third]} [m]")
            axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
            axes.set_aspect("equal")
    return render_svg(figure, name)


def _corners(paths: list[np.ndarray], axes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the paths' extent in two axes, never flatter than 1:6."""
    joined = np.vstack(paths)[:, list(axes)]
    low, high = joined.min(axis=0), joined.max(axis=0)
    middle, size = (low + high) / 2.0, np.maximum(high - low, (high - low).max() / 6.0)
    half = size / 2.0 + 0.04 * size.max() + 0.01
    return middle - half, middle + half


def coloured_path(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the true path in the plane of the motion, coloured by the aligned error."""
    points = evaluation.reference.p_ref_body
    across, up, _ = plane_of(evaluation)
    view = {(0, 1): "top", (0, 2): "front", (1, 2): "side"}[across, up]

    def draw(axes) -> None:
        draw_coloured_points(axes, points, evaluation.ape.trans_m, view=view)
        axes.set(xlabel=f"{AXES[across]} [m]", ylabel=f"{AXES[up]} [m]")

    return chart(name, draw, width_in=WIDE_IN, height_in=height_of_map(points, view))


def error_along_path(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the position and attitude errors over time, with incidents marked."""
    which = thinned(len(evaluation.reference))
    stamps = evaluation.reference.stamps_ns
    # Incidents are counted from the reference's first pose, which may be before the first pair.
    seconds = (stamps[which] - stamps[0]) * 1e-9 + evaluation.first_pair_s
    figure = new_figure(WIDE_IN, 4.2)
    with style():
        position, attitude = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        for errors, colour, label in _error_curves(evaluation):
            position.plot(seconds, errors.trans_m[which], color=colour, label=label)
            attitude.plot(seconds, errors.rot_deg[which], color=colour)
        _mark_incidents(position, evaluation)
        position.set(ylabel="distance [m]")
        position.set_ylim(bottom=0.0)
        position.legend(loc="upper left", ncols=4)
        attitude.set(xlabel="time since the first true pose [s]", ylabel="angle [deg]")
        attitude.set_ylim(bottom=0.0)
        ends = [float(seconds[-1]), *(i.to_s for i in evaluation.completeness.incidents)]
        attitude.set_xlim(0.0, max(*ends, 1e-6))
        figure.align_ylabels()
    return render_svg(figure, name)


def _error_curves(evaluation: TrajectoryEvaluation):
    """Return errors, colour and label; unaligned ones only where both fit into one figure."""
    aligned, provided = evaluation.ape, evaluation.ape_unaligned
    if evaluation.alignment.mode == "none":
        return [(provided, ESTIMATE, evaluation.start)]
    curves = [(aligned, ALIGNED, "aligned")]
    # A curve twenty times as high would press the other onto the axis.
    if np.median(provided.trans_m) < 20.0 * max(float(np.median(aligned.trans_m)), 1e-9):
        curves.insert(0, (provided, ESTIMATE, evaluation.start))
    return curves


def _mark_incidents(axes, evaluation: TrajectoryEvaluation) -> None:
    labelled = set()
    colours = {"lost": BAD, "jump": ACCENT}
    for incident in evaluation.completeness.incidents:
        colour = colours.get(incident.kind, TRUTH)
        label = None if incident.kind in labelled else incident.kind
        labelled.add(incident.kind)
        end = max(incident.to_s, incident.from_s + 1e-3)
        axes.axvspan(incident.from_s, end, color=colour, alpha=0.18, lw=0, label=label)


def relative_error(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the relative error over each stretch along the path."""
    errors = evaluation.rpe_metre
    over = f"{evaluation.protocol.choices.rpe_m:g} m"
    figure = new_figure()
    with style():
        axes = figure.subplots()
        if len(errors.trans_m):
            along = path_of(evaluation)[errors.at]
            which = thinned(len(along))
            axes.vlines(along[which], 0.0, errors.trans_m[which] * 100.0, color=ACCENT, lw=1.4)
            mean = float(errors.trans_m.mean()) * 100.0
            axes.axhline(mean, color=ESTIMATE, lw=1.2, ls="--", label=f"mean {mean:.2f} cm")
            axes.legend(loc="upper left")
            axes.set_ylim(bottom=0.0)
        else:
            say(axes, f"the path is shorter than {over}")
        axes.set(xlabel="true path travelled [m]", ylabel=f"error over {over} [cm]")
    return render_svg(figure, name)


def drift(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the distribution of the drift for each segment length."""
    parts = [
        Series(label=f"{part.length_m:g} m", values=part.trans_percent)
        for part in evaluation.drift
        if len(part.trans_percent)
    ]

    def draw(axes) -> None:
        if parts:
            draw_boxes(axes, parts, quantity="drift", unit="% of the length")
        else:
            say(axes, "the path is shorter than the shortest segment")
        axes.set_xlabel("segment length")

    return chart(name, draw)


def _error_series(evaluation: TrajectoryEvaluation) -> list[Series]:
    return [
        Series(label=label, values=errors.trans_m, colour=colour)
        for errors, colour, label in reversed(_error_curves(evaluation))
    ]


def histogram(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw how often each error occurs."""
    series = _error_series(evaluation)
    return chart(name, lambda axes: draw_histograms(axes, series, quantity="distance", unit="m"))


def cumulative(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the share of the pairs with at most each error."""
    series = _error_series(evaluation)
    return chart(name, lambda axes: draw_cumulative(axes, series, quantity="distance", unit="m"))


def consistency(evaluation: TrajectoryEvaluation, test: ChiSquareTest, name: str) -> str:
    """Draw the normalised squared error along the path with the bound of a consistent one."""
    from scipy.stats import chi2

    limit = float(chi2.ppf(0.95, test.degrees))

    def draw(axes) -> None:
        along = path_of(evaluation)[test.at]
        which = thinned(len(along))
        axes.plot(along[which], test.values[which], color=ALIGNED, lw=1.0)
        highest = max(limit, float(test.values[which].max(initial=0.0)))
        axes.axhline(limit, color=BAD, ls="--", lw=1.2, label="95 % of a consistent one below")
        axes.axhline(test.degrees, color=TRUTH, lw=1.2, label="its mean")
        axes.set(xlabel="true path travelled [m]", ylabel="normalised squared error")
        # The first pose is joined to truth: what rounding leaves of its error would set the scale.
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(axes.get_ylim()[0], LEAST_NEES), top=NEES_HEADROOM * highest)
        axes.legend(loc="upper left")

    return chart(name, draw)
