# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Plots of trajectories and their errors, as SVG."""

import numpy as np

from aerotwin_core.plots import (
    ACCENT,
    ALIGNED,
    ESTIMATE,
    TRUTH,
    WIDE_IN,
    new_figure,
    render_svg,
    style,
)
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation

_MAX_POINTS = 1500


def _thin(n: int) -> np.ndarray:
    """Return at most _MAX_POINTS indices, the last one included: a line needs no more."""
    return np.unique(np.linspace(0, n - 1, min(n, _MAX_POINTS)).round().astype(np.int64))


def _seconds(evaluation: TrajectoryEvaluation) -> np.ndarray:
    stamps = evaluation.reference.stamps_ns
    return (stamps - stamps[0]) * 1e-9


def _travelled(evaluation: TrajectoryEvaluation) -> np.ndarray:
    steps = np.linalg.norm(np.diff(evaluation.reference.p_ref_body, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _corners(evaluation: TrajectoryEvaluation) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of what both paths cover, seen from above, never flatter than 1:6."""
    both = np.vstack([evaluation.reference.p_ref_body, evaluation.estimate.p_ref_body])[:, :2]
    low, high = both.min(axis=0), both.max(axis=0)
    middle, size = (low + high) / 2.0, np.maximum(high - low, (high - low).max() / 6.0)
    half = size / 2.0 + 0.04 * size.max() + 0.2
    return middle - half, middle + half


def top_down(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the paths from above, and their heights below."""
    which = _thin(len(evaluation.reference))
    travelled = _travelled(evaluation)[which]
    low, high = _corners(evaluation)
    tall = float(np.clip((WIDE_IN - 2.6) * (high[1] - low[1]) / (high[0] - low[0]), 1.6, 6.5))
    figure = new_figure(WIDE_IN, tall + 2.2)
    with style():
        above, height = figure.subplots(2, 1, height_ratios=[tall, 1.2])
        for trajectory, colour, label, width in (
            (evaluation.reference, TRUTH, "truth", 4.0),
            (evaluation.estimate, ESTIMATE, "estimate as given", 1.5),
            (evaluation.aligned, ALIGNED, f"aligned ({evaluation.alignment.mode})", 1.5),
        ):
            p = trajectory.p_ref_body[which]
            above.plot(p[:, 0], p[:, 1], color=colour, lw=width, label=label)
            height.plot(travelled, p[:, 2], color=colour, lw=width)
        start = evaluation.reference.p_ref_body[0]
        above.plot(*start[:2], "o", color=TRUTH, ms=8, mfc="none", label="start")
        above.set_aspect("equal")
        above.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        above.set(xlabel="east x [m]", ylabel="north y [m]")
        figure.legend(loc="outside upper left", ncols=4)
        height.set(xlabel="true path travelled [m]", ylabel="height z [m]")
        figure.align_ylabels()
    return render_svg(figure, name)


def error_over_time(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the position and attitude errors over time."""
    which = _thin(len(evaluation.reference))
    seconds = _seconds(evaluation)[which]
    figure = new_figure(WIDE_IN, 4.2)
    with style():
        position, attitude = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        given, aligned = evaluation.ape_unaligned, evaluation.ape
        position.plot(seconds, given.trans_m[which], color=ESTIMATE, label="as given")
        position.plot(seconds, aligned.trans_m[which], color=ALIGNED, label="aligned")
        position.set(ylabel="distance [m]")
        position.set_ylim(bottom=0.0)
        position.legend(loc="upper left", ncols=2)
        attitude.plot(seconds, given.rot_deg[which], color=ESTIMATE)
        attitude.plot(seconds, aligned.rot_deg[which], color=ALIGNED)
        attitude.set(xlabel="time since the first pair [s]", ylabel="angle [deg]")
        attitude.set_ylim(bottom=0.0)
        attitude.set_xlim(seconds[0], max(seconds[-1], seconds[0] + 1e-6))
        figure.align_ylabels()
    return render_svg(figure, name)


def relative_error(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the error gained over each metre along the path."""
    errors = evaluation.rpe_metre
    figure = new_figure()
    with style():
        axes = figure.subplots()
        if len(errors.trans_m):
            travelled = _travelled(evaluation)[errors.at]
            which = _thin(len(travelled))
            axes.vlines(travelled[which], 0.0, errors.trans_m[which] * 100.0, color=ACCENT, lw=1.4)
            mean = float(errors.trans_m.mean()) * 100.0
            axes.axhline(mean, color=ESTIMATE, lw=1.2, ls="--", label=f"mean {mean:.2f} cm")
            axes.legend(loc="upper left")
            axes.set_ylim(bottom=0.0)
        else:
            _say(axes, "the path is shorter than one metre")
        axes.set(xlabel="true path travelled [m]", ylabel="error over 1 m [cm]")
    return render_svg(figure, name)


def drift(evaluation: TrajectoryEvaluation, name: str) -> str:
    """Draw the distribution of the drift for each segment length."""
    parts = [part for part in evaluation.drift if len(part.trans_percent)]
    figure = new_figure()
    with style():
        axes = figure.subplots()
        if parts:
            axes.boxplot(
                [part.trans_percent for part in parts],
                whis=(5, 95),
                showfliers=False,
                widths=0.5,
                patch_artist=True,
                tick_labels=[f"{part.length_m:g} m" for part in parts],
                boxprops={"facecolor": ALIGNED, "alpha": 0.35, "edgecolor": ALIGNED},
                medianprops={"color": ESTIMATE, "lw": 2.0},
                whiskerprops={"color": ALIGNED},
                capprops={"color": ALIGNED},
            )
            axes.set_ylim(bottom=0.0)
        else:
            _say(axes, "the path is shorter than 10 m")
        axes.set(xlabel="segment length", ylabel="drift [% of the length]")
    return render_svg(figure, name)


def _say(axes, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", alpha=0.7)
