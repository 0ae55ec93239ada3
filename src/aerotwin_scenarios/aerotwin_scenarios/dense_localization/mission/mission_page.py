# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sections of a mission's report: the scan in closed loop, and its map."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from aerotwin_core.charts import chart, draw_coloured_points, height_of_map
from aerotwin_core.metric import Metric, MetricSet, score_table
from aerotwin_core.parameters import to_mapping
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
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_core.time import to_seconds
from aerotwin_dense_localization.localization import Status
from aerotwin_scenarios.dense_localization.mapping import MadeMap
from aerotwin_scenarios.dense_localization.mission.loop_scores import LOOP_METRICS, JudgedFlight
from aerotwin_scenarios.dense_localization.scan_controls import (
    ControlResult,
    Removal,
    acceptance_limits,
    controls_of,
)
from aerotwin_scenarios.dense_localization.scanning import ScanRun

HELD_SHARE = 0.1
"""The distance counts as held where its largest error is less than this share of it."""
MISSION_MAP_METRICS = MetricSet(
    title="Map of a mission",
    structure={},
    metrics=(
        Metric("mean_m", "points to surface, mean", "aligned", unit="m"),
        Metric("mean_unaligned_m", "points to surface, unaligned, mean", "as mapped", unit="m"),
        Metric("keyframes_mean_m", "key-frames, mean", "their places, aligned", unit="m"),
        Metric("keyframes_unaligned_mean_m", "key-frames, unaligned, mean", "as mapped", unit="m"),
        Metric("n_keyframes", "key-frames", "chosen of all frames", digits=0),
        Metric("n_links", "ties", "between key-frames; none with true poses", digits=0),
    ),
)
"""Of the section `mission_map`."""
_CM = 100.0
_DIGITS = re.compile(r"[0-9.]*[0-9]")
_STATUS_COLOURS = {
    Status.TRACKED: ALIGNED,
    Status.RENEWED: ESTIMATE,
    Status.RELOCALIZED: ACCENT,
    Status.LOST: BAD,
}


def loop_section(judged: JudgedFlight, made: MadeMap, *, has_truth: bool) -> Section:
    """Return the section on the closed-loop scan."""
    numbers = judged.metrics()
    table = score_table("The scan in figures", LOOP_METRICS.scores(numbers))
    removed = Removal.of(made)
    controls = _controls(judged)
    return Section(
        title="Scan without GNSS",
        name="closed_loop",
        verdict=_loop_verdict(judged),
        text="From take-off to landing the autopilot knows its place by external vision alone: "
        "at the rate of its camera a picture is taken from where it truly is, localised in the "
        "map, and its pose handed over after the latency. There is no GNSS receiver. Time is the "
        "simulation's: the result does not depend on the speed of the machine.\n\n"
        "The true distance from the wall is that of the nearest fifth of what stands before the "
        "camera, as the path was planned in the map; planned is the same at the set-points. "
        f"Aligned means after the rigid motion that takes the map's key-frames to their true "
        f"places: {removed.offset_m:.3f} m, {removed.tilt_deg:.3f} degrees of tilt, "
        f"{removed.yaw_deg:.3f} degrees of yaw; a scale of {removed.scale_percent:.3f} % is left "
        "in.",
        headline=_loop_headline(judged, has_truth=has_truth),
        figures=_loop_figures(judged),
        tables=(table, _status_table(judged), _controls_table(controls)),
        warnings=_blind(controls),
        metrics=numbers | {"controls": to_mapping(controls)},
    )


def _loop_verdict(judged: JudgedFlight) -> str:
    score, flight = judged.score, judged.flight
    if not flight.is_success:
        return f"The scan without GNSS was not flown to its end: {flight.outcome}."
    lost = {0: "none was", 1: "1 was"}.get(score["n_lost"], f"{score['n_lost']} were")
    return (
        "Flown without GNSS from take-off to landing: the planned distance of "
        f"{score['requested_distance_m']:g} m from what stands nearest was held to "
        f"{score['held_rmse_m'] * _CM:.1f} cm RMS, {score['held_max_m'] * _CM:.1f} cm at most; of "
        f"{score['n_images']} pictures {lost} lost."
    )


def _loop_headline(judged: JudgedFlight, *, has_truth: bool) -> tuple[Headline, ...]:
    score = judged.score
    is_held = score["held_max_m"] <= HELD_SHARE * score["requested_distance_m"]
    limits = acceptance_limits(has_truth=has_truth)
    is_near = score["ate_mean_m"] <= limits.ate_mean_m and score["n_scan_lost"] == 0
    return (
        Headline(
            label="Distance held",
            value=f"{score['held_rmse_m'] * _CM:.1f}",
            unit="cm RMS",
            meaning=f"of the planned one, {score['held_max_m'] * _CM:.1f} cm at most; asked for "
            f"were {score['requested_distance_m']:g} m, truly {score['distance_min_m']:.2f} m and "
            f"more, {score['distance_mean_m']:.2f} m on average",
            status="good" if is_held and judged.flight.is_success else "bad",
            computed="true distance less that of the set-points, along the optical axis",
            better="lower",
        ),
        Headline(
            label="Localisation",
            value=f"{score['ate_mean_m'] * _CM:.1f}",
            unit="cm",
            meaning=f"mean error over the scan; {score['n_scan_lost']} of {score['n_scan']} lost",
            status="good" if is_near else "bad",
            computed="true positions of the camera less those found, after the rigid motion of "
            "the map",
            better="lower",
        ),
    )


def _loop_figures(judged: JudgedFlight) -> tuple[Figure, ...]:
    localisation = Figure(
        title="Localisation from take-off to landing",
        caption="Below: what each picture was aligned to. Grey: the scan itself.",
        svg=_errors(judged),
        is_wide=True,
    )
    if not judged.score["n_scan"]:
        return (localisation,)
    return (
        Figure(
            title="Distance from the wall",
            caption="Held where the true distance lies on the planned one. The plan keeps off what "
            "stands out a metre to each side: where the rock recedes it is farther.",
            svg=_distances(judged),
            is_wide=True,
        ),
        localisation,
        Figure(
            title="Where the camera was",
            caption="Looking at the wall: the true way of the scan, by the error of localisation.",
            svg=_way(judged),
            is_wide=True,
        ),
    )


def _status_table(judged: JudgedFlight) -> Table:
    """Return what the pictures were aligned to, and why some were not."""
    whole, scan = (
        Counter((one.status, _DIGITS.sub("…", one.reason)) for one in flight.found)
        for flight in (judged.flight, judged.scan)
    )
    order = list(_STATUS_COLOURS)
    rows = tuple(
        (status.value, str(whole[status, reason]), str(scan[status, reason]), reason)
        for status, reason in sorted(whole, key=lambda key: (order.index(key[0]), key[1]))
    )
    return Table(
        title="What the pictures were aligned to",
        columns=("status", "pictures", "of the scan", "why not"),
        rows=rows,
    )


def _controls(judged: JudgedFlight) -> tuple[ControlResult, ...]:
    """Return the negative controls of the scan; none without one."""
    if judged.score["n_scan"] < 2:
        return ()
    return controls_of(ScanRun(track=judged.scan.track, found=(), T_true_map=np.eye(4)))


def _controls_table(controls: Sequence[ControlResult]) -> Table:
    rows = tuple(
        (one.name, f"{one.expected_m:.3f}", f"{one.measured_m:.3f}", one.seen_by or "not seen")
        for one in controls
    )
    return Table(
        title="Negative controls",
        columns=("what was done to the true way", "expected [m]", "measured [m]", "seen by"),
        rows=rows,
        caption="A score is worth what it sees of errors that were put in; RMS, unaligned.",
    )


def _blind(controls: Sequence[ControlResult]) -> tuple[str, ...]:
    if all(one.is_detected for one in controls):
        return ()
    return ("A negative control was not seen by the score.",)


def _seconds(stamps_ns: np.ndarray) -> np.ndarray:
    return np.array([to_seconds(int(stamp)) for stamp in stamps_ns])


def _distances(judged: JudgedFlight) -> str:
    score, t = judged.score, _seconds(judged.scan.track.stamps_ns)

    def draw(axes) -> None:
        axes.axhline(score["requested_distance_m"], color=TRUTH, lw=0.8, label="asked for")
        axes.plot(t, judged.planned_m, color=ALIGNED, lw=1.0, label="planned")
        axes.plot(t, judged.distances_m, color=ESTIMATE, lw=1.0, label="true")
        axes.set_xlabel("simulated time [s]")
        axes.set_ylabel("distance from the wall [m]")
        axes.legend(ncols=3)

    return chart("dense-distance", draw, width_in=WIDE_IN, height_in=3.2)


def _errors(judged: JudgedFlight) -> str:
    """Draw the errors of localisation over time, and the statuses below."""
    t = _seconds(judged.flight.track.stamps_ns)
    figure = new_figure(WIDE_IN, 3.8)
    with style():
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        above.plot(t, judged.errors_m * _CM, color=ESTIMATE, lw=1.0)
        above.set_ylabel("error [cm]")
        above.set_ylim(bottom=0.0)
        found = judged.flight.found
        for row, (status, colour) in enumerate(_STATUS_COLOURS.items()):
            chosen = np.array([one.status is status for one in found], dtype=bool)
            below.plot(t[chosen], np.full(chosen.sum(), row), "|", color=colour, ms=5)
        below.set_yticks(range(len(_STATUS_COLOURS)), [status.value for status in _STATUS_COLOURS])
        below.set_ylim(len(_STATUS_COLOURS) - 0.5, -0.5)
        below.set_xlabel("simulated time [s]")
        ends = _seconds(judged.scan.track.stamps_ns)
        for axes in (above, below):
            if len(ends):
                axes.axvspan(ends[0], ends[-1], color=TRUTH, alpha=0.15, lw=0)
    return render_svg(figure, "dense-errors")


def _way(judged: JudgedFlight) -> str:
    places = judged.scan.track.T_map_optical[:, :3, 3]
    is_scan = np.isin(judged.flight.track.stamps_ns, judged.scan.track.stamps_ns)
    errors = judged.errors_m[is_scan] * _CM
    return chart(
        "dense-way",
        lambda axes: draw_coloured_points(
            axes, places, errors, view="front", quantity="error", unit="cm"
        ),
        width_in=WIDE_IN,
        height_in=height_of_map(places, "front"),
    )


def map_section(
    made: MadeMap,
    scores: Mapping[str, Any],
    pair: tuple[np.ndarray, np.ndarray],
    *,
    has_truth: bool,
) -> Section:
    """Return the section on the map.

    `scores` are those of `world_flights.against_the_truth`; `pair` is an image of the scan, and the
    map rendered at its pose, (h, w) [DN]. `has_truth`: whether the map was made with true poses.
    """
    poses = (
        "true poses, which no vehicle knows" if has_truth
        else f"poses of the autopilot and {made.n_links} ties between key-frames"
    )  # fmt: skip
    numbers = {
        "n_splats": len(made.dense_map),
        "n_keyframes": len(made.keyframes),
        "n_links": made.n_links,
        "is_truth_given": has_truth,
        **scores,
    }
    mean_m, near, complete = (scores[k] for k in ("mean_m", "share_10cm", "completeness"))
    limits = acceptance_limits(has_truth=has_truth)
    is_near = mean_m <= limits.points_mean_m and near >= limits.share_10cm
    is_complete = complete is not None and complete >= limits.completeness_10cm
    return Section(
        title="Map",
        name="mission_map",
        verdict=f"Of the map's {len(made.dense_map):,} points {100 * near:.1f} % lie within 10 cm "
        f"of the true surface, {mean_m * _CM:.1f} cm on average; it was made with {poses}.",
        text="A stereo pair passes the wall from afar; its depth is merged into splats. All points "
        "count, none is trimmed and none is fitted to the surface; the map is moved by the rigid "
        "motion that takes its key-frames to their true places.",
        headline=(
            Headline(
                label="Map to surface",
                value=f"{mean_m * _CM:.1f}",
                unit="cm",
                meaning=f"mean distance of all points; {100 * near:.1f} % within 10 cm",
                status="good" if is_near else "bad",
                computed="distance of each point to the true mesh, nothing left out",
                better="lower",
            ),
            Headline(
                label="Completeness",
                value="–" if complete is None else f"{100 * complete:.1f}",
                unit="%",
                meaning="of the region, as far as key-frames could see it, is within 10 cm of a "
                "point",
                status="good" if is_complete else "bad",
                better="higher",
            ),
        ),
        figures=(
            Figure(
                title="A picture of the scan, and the map from the same place",
                caption="Left what the camera took, right what the splats look like from its true "
                "pose.",
                png=_side_by_side(*pair),
                is_wide=True,
            ),
        ),
        tables=(score_table("The map in figures", MISSION_MAP_METRICS.scores(numbers)),),
        metrics=numbers,
    )  # fmt: skip


def _side_by_side(left: np.ndarray, right: np.ndarray) -> bytes:
    """Return two grey images as one PNG, a gap between; NaN is black."""
    gap = np.full((left.shape[0], 8), 255.0)
    both = np.hstack([np.nan_to_num(np.asarray(image, float)) for image in (left, gap, right)])
    grey = np.clip(both, 0.0, 255.0).round().astype(np.uint8)
    return cv2.imencode(".png", grey)[1].tobytes()
