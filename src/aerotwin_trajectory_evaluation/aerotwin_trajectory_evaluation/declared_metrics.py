# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Declarations of all metrics of a trajectory's result and of its cost, and their schemas.

Compute a new metric in `TrajectoryEvaluation.metrics` and declare it here: its table row, schema
entry, aliases and reference line are generated. Texts that a template names and the result does not
hold (`fit`, `segment_range`, …) come from `summary.context_of`.
"""

from typing import Any

from aerotwin_core.metric import (
    NUMBER,
    SHARE,
    Metric,
    MetricSet,
    Schema,
    mapping_schema,
    optional_schema,
)
from aerotwin_trajectory_evaluation.bound import SEGMENT_M
from aerotwin_trajectory_evaluation.time_offset_estimates import CERTAINTIES

_ERRORS = {"$ref": "#/$defs/pose_errors"}
_TEXT, _FLAG = {"type": "string"}, {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}
_AXES = {
    "anyOf": [
        {"type": "null"},
        {"type": "array", "minItems": 3, "maxItems": 3, "items": NUMBER},
    ]
}

_PROTOCOL = mapping_schema(name=_TEXT, hash=_TEXT, choices={"type": "object"})
_ALIGNMENT = mapping_schema(
    mode=_TEXT,
    T_reference_estimate={"$ref": "#/$defs/transform"},
    scale={"type": "number"},
    is_determined=_FLAG,
    reason=_TEXT,
    n_used=_COUNT,
    inlier_share=NUMBER,
    removed=mapping_schema(offset_m=NUMBER, yaw_deg=NUMBER, tilt_deg=NUMBER, scale_percent=NUMBER),
)
_WITNESS = mapping_schema(time_offset_s=NUMBER, time_offset_std_s=NUMBER, share=SHARE, reason=_TEXT)
_CALIBRATION = mapping_schema(
    time_offset_s={
        "description": "to be added to the estimate's stamps: negative where they are too late",
        **NUMBER,
    },
    time_offset_std_s=NUMBER,
    time_offset_share=SHARE,
    time_offset_significant=_FLAG,
    time_offset_applied=_FLAG,
    time_offset_certainty={"enum": list(CERTAINTIES)},
    by_turns=_WITNESS,
    by_displacements=_WITNESS,
    lever_arm_m=_AXES,
    lever_arm_std_m=_AXES,
    lever_arm_share=SHARE,
    lever_arm_significant=_FLAG,
    lever_arm_applied=_FLAG,
    reason=_TEXT,
)
_INCIDENT = mapping_schema(kind=_TEXT, from_s=NUMBER, to_s=NUMBER, size=NUMBER, text=_TEXT)
_COMPLETENESS = mapping_schema(
    n_without_reference=_COUNT,
    lost_above_m=NUMBER,
    n_incidents={"type": "object", "additionalProperties": _COUNT},
    incidents={"type": "array", "items": _INCIDENT},
)
_TEST = mapping_schema(
    n=_COUNT,
    verdict=_TEXT,
    factor=NUMBER,
    degrees=_COUNT,
    mean=NUMBER,
    low=NUMBER,
    high=NUMBER,
    n_effective=NUMBER,
    share_within=SHARE,
    n_unusable=_COUNT,
)
_SUMMARY = {"$ref": "#/$defs/statistics"}
_SEGMENTS = mapping_schema(
    lengths={
        "type": "array",
        "items": mapping_schema(
            length_m=NUMBER,
            trans_percent=_SUMMARY,
            rot_deg_m=_SUMMARY,
            yaw_deg=_SUMMARY,
            tilt_deg=_SUMMARY,
        ),
    },
)
_CONTROL = mapping_schema(
    name=_TEXT,
    expected_m=NUMBER,
    measured_m=NUMBER,
    floor_m=NUMBER,
    detected=_FLAG,
    seen_by=_TEXT,
)

_STRUCTURE = mapping_schema(
    protocol=_PROTOCOL,
    reference=mapping_schema(hash=_TEXT, duration_s=NUMBER, path_m=NUMBER),
    n_pairs=_COUNT,
    n_reference=_COUNT,
    n_estimate=_COUNT,
    completeness=_COMPLETENESS,
    max_gap_s=NUMBER,
    path_m=NUMBER,
    duration_s=NUMBER,
    start=mapping_schema(
        state=_TEXT, T_reference_estimate={"$ref": "#/$defs/transform"}, as_given_rmse_m=NUMBER
    ),
    alignment=_ALIGNMENT,
    calibration=_CALIBRATION,
    ape={"title": "APE aligned", "better": "lower", **_ERRORS},
    ape_unaligned={"title": "APE before alignment", "better": "lower", **_ERRORS},
    rpe=mapping_schema(
        frame={"title": "RPE per frame", "better": "lower", **_ERRORS},
        metre={"title": "RPE over a length", "better": "lower", **_ERRORS},
    ),
    segments=_SEGMENTS,
    consistency={"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": _TEST}]},
    controls={"type": "array", "items": _CONTROL},
)

_EVERY = "root of the mean square over {ape[trans_m][n]} pairs of poses"
_COUNTED = (
    "over pairs of poses so far apart along the path of the {protocol[choices][rpe_path]}; "
    "{pairs_text}"
)
_SEGMENT = "error at the end {segment_range}"
_ALL_SEGMENTS = "over all segments of all lengths"
_CAMERA = (
    "b = {bound[baseline_m]:g} m, f = {bound[focal_px]:g} px, z = {bound[distance_m]:g} m, "
    "{bound[pixel_noise_px]:g} px, {bound[n_features]} features"
)


def _nees(name: str, **more: Any) -> Metric:
    test = f"consistency[{name}]"
    return Metric(
        f"consistency.{name}.mean",
        f"NEES, {name}",
        f"{{{test}[verdict]}}: standard deviations {{{test}[factor]:.2g}} times as large would fit "
        "the errors",
        "mean of e^T P^-1 e, the first poses joined where the covariance grows from there, as an "
        f"odometry's; a consistent estimator has {{{test}[low]:.2f}} to {{{test}[high]:.2f}} "
        f"(95 %, {{{test}[n_effective]:.0f}} independent samples of {{{test}[n]}})",
        shown_in=f"of {{{test}[degrees]}}",
        digits=2,
        needs=f"consistency.{name}",
        **more,
    )


TRAJECTORY_METRICS = MetricSet(
    title="Trajectory",
    structure=_STRUCTURE,
    usual={
        "absolute": "APE aligned", "placement": "APE as given or placed",
        "attitude": "attitude error aligned", "after": "",
        "before": "before the alignment", "fit": ", after the alignment", "frames": "frame",
        "offset_state": "applied or not", "arm_state": "applied or not",
        "segment_range": "of segments",
    },
    metrics=(
        Metric("path_m", "path length", "of the true path, where it was judged",
               "sum of the distances between neighbouring true poses that have an estimate",
               unit="m"),
        Metric("coverage", "coverage", "share of the reference that has an estimate",
               "of the camera's frames where their stamps are known, else of the duration; where "
               "the estimate pauses for more than three of its usual periods, it is not there",
               shown_in="%", digits=1, better="higher", title="coverage", kind=SHARE,
               aliases=("coverage",), is_side_by_side=True),
        Metric("completeness.tracked_path", "path tracked",
               "share of the true path with an estimate that is not lost",
               "lost: more than {completeness[lost_above_m]:.3g} m from truth{after}",
               shown_in="%", digits=1, better="higher", title="path tracked", kind=SHARE,
               aliases=("tracked_path",), is_side_by_side=True),
        Metric("completeness.not_lost", "pairs not lost", "share of the pairs", table="",
               better="higher", title="pairs not lost", kind=SHARE),
        Metric("completeness.n_incidents.lost", "lost", "how often", table="",
               aliases=("n_lost",)),
        Metric("completeness.n_incidents.jump", "jumps", "how many", table="",
               aliases=("n_jumps",)),
        Metric("completeness.auc", "area under the curve",
               "coverage and accuracy in one: 100 = always there and exact",
               "for every limit from 0 to {protocol[choices][auc_m]:g} m, the share of the "
               "duration in which there is an estimate with a smaller error; the mean of these "
               "shares",
               shown_in="%", digits=1, better="higher", title="area under the curve", kind=SHARE),
        Metric("start.as_given_rmse_m", "APE as given, RMSE",
               "coordinates as read against truth's, neither placed nor fitted", _EVERY,
               unit="m", digits=4, better="lower", needs="is_placed"),
        Metric("ape_unaligned.trans_m.rmse", "{placement}, RMSE", "distance to truth, {before}",
               _EVERY, unit="m", digits=4, better="lower", title="APE before alignment, RMSE",
               aliases=("ape_unaligned_rmse_m",), needs="is_aligned", is_side_by_side=True),
        Metric("ape_unaligned.trans_m.max", "{placement}, largest", "worst moment, {before}",
               "of all pairs", unit="m", digits=4, better="lower", needs="is_aligned"),
        Metric("ape.trans_m.rmse", "{absolute}, RMSE", "distance to truth{fit}", _EVERY,
               unit="m", digits=4, better="lower", title="APE, RMSE", aliases=("ape_rmse_m",),
               is_side_by_side=True),
        Metric("ape.trans_m.median", "{absolute}, median", "half of the poses are nearer to truth",
               unit="m", digits=4, better="lower"),
        Metric("ape.trans_m.max", "{absolute}, largest", "worst moment{fit}", "of all pairs",
               unit="m", digits=4, better="lower", aliases=("ape_max_m",)),
        Metric("ape.rot_deg.rmse", "{attitude}, RMSE", "angle to the true attitude{fit}", _EVERY,
               unit="deg", digits=4, better="lower", aliases=("ape_rot_rmse_deg",)),
        Metric("rpe.metre.trans_m.mean", "RPE over {protocol[choices][rpe_m]:g} m, mean",
               "error of the motion over {protocol[choices][rpe_m]:g} m of path",
               f"mean {_COUNTED}", unit="m", digits=4, better="lower", aliases=("rpe_mean_m",)),
        Metric("rpe.metre.trans_m.rmse", "RPE over {protocol[choices][rpe_m]:g} m, RMSE",
               "error of the motion over {protocol[choices][rpe_m]:g} m of path",
               f"root of the mean square {_COUNTED}", unit="m", digits=4, better="lower",
               title="RPE, RMSE", aliases=("rpe_rmse_m",), is_side_by_side=True),
        Metric("rpe.metre.rot_deg.rmse", "RPE over {protocol[choices][rpe_m]:g} m, turn, RMSE",
               "the same in attitude", f"root of the mean square {_COUNTED}", unit="deg", digits=4,
               better="lower"),
        Metric("rpe.frame.trans_m.rmse", "RPE per {frames}, RMSE",
               "error of the motion from one {frames} to the next{period}",
               "pairs of poses: {pairs_text}", unit="m", shown_in="cm", better="lower",
               aliases=("rpe_frame_rmse_m",)),
        Metric("segments.mean_percent", "segment drift, mean", _SEGMENT,
               f"in percent of their length; mean {_ALL_SEGMENTS}", unit="%", better="lower",
               title="drift, mean", aliases=("drift_mean_percent",)),
        Metric("segments.median_percent", "segment drift, median", _SEGMENT,
               f"in percent of their length; median {_ALL_SEGMENTS}", unit="%", better="lower",
               title="drift, median", aliases=("drift_percent", "drift_median_percent"),
               is_side_by_side=True),
        Metric("segments.mean_deg_per_100m", "segment turn drift, mean", "the same in attitude",
               f"mean {_ALL_SEGMENTS}", unit="deg/100 m", better="lower",
               title="turn drift, mean"),
        Metric("segments.median_deg_m", "segment turn drift, median", "the same in attitude",
               unit="deg/m", better="lower", title="turn drift, median", table=""),
        Metric("alignment.removed.offset_m", "removed: offset",
               "how far the alignment shifted the estimate", unit="m", needs="is_aligned"),
        Metric("alignment.removed.yaw_deg", "removed: yaw",
               "how far it turned the estimate about the vertical", unit="deg",
               needs="is_aligned"),
        Metric("alignment.removed.tilt_deg", "removed: tilt", "how far it tilted the estimate",
               unit="deg", aliases=("tilt_deg",), needs="is_aligned"),
        Metric("alignment.removed.scale_percent", "removed: scale",
               "how much larger it made the estimate; 0 unless fitted (sim3)", unit="%",
               aliases=("scale_percent",), needs="is_aligned"),
        Metric("alignment.inlier_share", "inliers", "share of the poses that the robust fit used",
               shown_in="%", digits=1, needs="alignment.inlier_share"),
        Metric("calibration.time_offset_s", "time offset",
               "to be added to the estimate's stamps; negative: they are too late; {certainty}; "
               "{offset_state}",
               "the shift in time with which turns and displacements over one second agree best; "
               "± one standard deviation, in which errors close in time count as one",
               unit="s", shown_in="ms", digits=1, aliases=("time_offset_s",),
               needs="calibration.time_offset_std_s", spread="calibration.time_offset_std_s"),
        *(Metric(f"calibration.lever_arm_m.{k}", f"lever arm {axis}",
                 "where on the reference's body the estimate's point sits; {arm_state}",
                 "fitted together with the time offset", unit="m", shown_in="cm", digits=1,
                 needs="calibration.lever_arm_std_m", spread=f"calibration.lever_arm_std_m.{k}")
          for k, axis in enumerate("xyz")),
        _nees("position", aliases=("nees",)),
        _nees("pose"),
        Metric("bound.drift_percent", "possible: drift",
               f"what this camera's noise alone leaves over {SEGMENT_M:g} m",
               f"sigma_z / (z sqrt(n)); {_CAMERA}", unit="%", needs="bound"),
        Metric("bound.depth_std_m", "possible: depth of a point",
               "standard deviation of one depth", f"z^2 sqrt(2) sigma / (f b); {_CAMERA}",
               unit="m", needs="bound"),
    ),
)  # fmt: skip
"""Of the section `trajectory`, and of each estimate where there are several."""

_CPU = "utime + stime of /proc/PID/stat, summed over the process tree, ended processes included"
_MEMORY = "Pss of /proc/PID/smaps_rollup, summed over the process tree, read every 5 s at least"
_IO = "read_bytes and write_bytes of /proc/PID/io, summed over the process tree"
_LATENCY = "wall time from the moment an input was sent to that of the output with its stamp"

RESOURCE_METRICS = MetricSet(
    title="Resources",
    structure=mapping_schema(
        wall_s=NUMBER,
        cpu_s=NUMBER,
        latency_s=optional_schema(mapping_schema()),
        real_time_factor=NUMBER,
    ),
    metrics=(
        Metric("wall_s", "wall time", "recorded", "last sample less the first, monotonic clock",
               unit="s", digits=1),
        Metric("cpu_s", "CPU time", "of all its processes and threads", _CPU, unit="s", digits=1),
        Metric("cpu_s_per_frame", "CPU time per frame",
               "over {n_frames} frames; above the frame period it needs several cores",
               f"{_CPU}; divided by the number of frames", unit="s", shown_in="ms", digits=1,
               better="lower", title="CPU time per frame"),
        Metric("cpu_cores_mean", "CPU", "mean; one busy core is 100 %",
               f"{_CPU}; divided by the wall time", unit="cores", shown_in="%", digits=0,
               aliases=("cpu_cores",)),
        Metric("cpu_cores_max", "CPU, largest", "between two samples",
               "the same between two neighbouring samples, the largest", unit="cores",
               shown_in="%", digits=0),
        Metric("pss_bytes_mean", "memory, mean", "shared pages count once",
               f"{_MEMORY}; mean over the samples", unit="bytes", shown_in="MB", digits=0),
        Metric("pss_bytes_max", "memory, largest", "the same (PSS)", f"{_MEMORY}; the largest",
               unit="bytes", shown_in="MB", digits=0, aliases=("memory_bytes",)),
        Metric("rss_bytes_max", "resident, largest", "shared pages too (RSS)",
               "rss of /proc/PID/stat, summed over the process tree; the largest, or VmHWM of one "
               "process where that is more", unit="bytes",
               shown_in="MB", digits=0, better="lower", title="memory, largest"),
        Metric("n_threads_max", "threads, most", "of all its processes",
               "num_threads of /proc/PID/stat, summed over the process tree; the largest",
               digits=0),
        Metric("read_bytes", "read from storage", "caches not counted", _IO, unit="bytes",
               shown_in="MB", digits=1),
        Metric("write_bytes", "written to storage", "caches not counted", _IO, unit="bytes",
               shown_in="MB", digits=1),
        Metric("latency_s.median", "latency, median", "image to pose", _LATENCY, unit="s",
               shown_in="ms", digits=1, better="lower", title="latency, median"),
        Metric("latency_s.p95", "latency, 95 %", "one in twenty is later",
               f"{_LATENCY}; 95th percentile over the outputs", unit="s", shown_in="ms", digits=1,
               better="lower", title="latency, 95 %", aliases=("latency_p95_s",)),
        Metric("real_time_factor", "real-time factor",
               "simulated by wall time; below 1 the latency would differ in flight",
               "simulated time of the run by the wall time of the recording", digits=2),
        Metric("sample_rate_hz", "samples", "of these figures", "samples by wall time", unit="Hz",
               digits=1),
        Metric("overhead", "cost of recording", "of one core",
               "CPU time of the recording thread by wall time", shown_in="%", digits=2),
    ),
)  # fmt: skip
"""Of the section `resources`: what the program under test cost."""

ALIASES = TRAJECTORY_METRICS.aliases()
"""Short names of `--fail-if`, and what they stand for in the metrics."""

TRAJECTORY_SCHEMA: Schema = TRAJECTORY_METRICS.schema()
UNALIGNED_SCHEMA: Schema = {
    **TRAJECTORY_SCHEMA,
    "properties": {
        **TRAJECTORY_SCHEMA["properties"],
        "ape": {"title": "APE without alignment", "better": "lower", **_ERRORS},
        "ape_unaligned": _ERRORS,
    },
}
"""The same where nothing was aligned: both kinds of APE are one then."""
