# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of one run; a run that cannot be scored has failed, with a reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_comparison.run_folder import RunFolder, open_run_folder
from aerotwin_comparison.study.protocol import StudyProtocol
from aerotwin_comparison.study.runs import StudyRun
from aerotwin_comparison.twin.sides import read_path
from aerotwin_core.documents import read_json
from aerotwin_core.errors import UserError
from aerotwin_core.metric import Metric
from aerotwin_core.protocol import Protocol
from aerotwin_core.rms import rms
from aerotwin_core.trajectory import Trajectory
from aerotwin_map_evaluation import MapProtocol
from aerotwin_map_evaluation.declared_metrics import MAP_METRICS
from aerotwin_trajectory_evaluation import TrajectoryProtocol, evaluate_trajectory
from aerotwin_trajectory_evaluation.declared_metrics import RESOURCE_METRICS, TRAJECTORY_METRICS


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One score: key in JSON and CSV, heading, unit, decimals, the better direction, if any."""

    key: str
    label: str
    unit: str
    digits: int
    better: str = "lower"
    hint: str = ""
    metric: Metric | None = None  # of one run, where the number is one

    @property
    def heading(self) -> str:
        """Label with unit."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label

    def show(self, value: float | None) -> str:
        """Return a value as text: a dash where there is none, "failed" where it is infinite."""
        if value is None or np.isnan(value):
            return "–"
        return f"{value:.{self.digits}f}" if np.isfinite(value) else "failed"


def _declared(metric: Metric, key: str, label: str, digits: int, hint: str) -> Quantity:
    """Return a metric of one run as a quantity of the study, under the study's own name."""
    return Quantity(
        key=key,
        label=label,
        unit=metric.shown_in or metric.unit,
        digits=digits,
        better=metric.better or "lower",
        hint=hint,
        metric=metric,
    )


_PATH, _MAP, _COST = TRAJECTORY_METRICS, MAP_METRICS, RESOURCE_METRICS
OF_TRAJECTORY = (
    _declared(_PATH["ape.trans_m.rmse"], "ape_trans_m", "APE", 3, "RMSE, aligned"),
    _declared(_PATH["ape.rot_deg.rmse"], "ape_rot_deg", "APE rotation", 2, "RMSE, aligned"),
    _declared(_PATH["rpe.metre.trans_m.rmse"], "rpe_trans_m", "RPE", 4,
              "RMSE over the path's step"),
    _declared(_PATH["rpe.metre.rot_deg.rmse"], "rpe_rot_deg", "RPE rotation", 3,
              "RMSE over the path's step"),
    _declared(_PATH["segments.median_percent"], "drift_percent", "drift", 2, "median of segments"),
    _declared(_PATH["coverage"], "coverage_percent", "coverage", 1,
              "share of frames (without them, of time) with a pose"),
)  # fmt: skip
OF_COST = (
    _declared(_COST["cpu_cores_mean"], "cpu_percent", "CPU", 1, "mean; 100 = one core"),
    _declared(_COST["pss_bytes_mean"], "memory_mb", "memory", 1, "mean PSS, else RSS"),
    _declared(_COST["latency_s.median"], "latency_ms", "latency", 1, "median, image to pose"),
)
QUANTITIES = (
    *OF_TRAJECTORY,
    Quantity(
        key="scale_error_percent",
        label="scale error",
        unit="%",
        digits=3,
        hint="size of the scale that sim3 takes away; – for other alignments",
    ),
    _declared(_MAP["correspondences.mean_m"], "map_mean_m", "map mean", 4, "of correspondences"),
    Quantity(key="map_floor_m", label="map floor", unit="m", digits=4, better="",
             hint="map mean of a perfect map: what voxels alone make", metric=_MAP["floor.mean_m"]),
    _declared(_MAP["correspondences.std_m"], "map_std_m", "map deviation", 4, "of correspondences"),
    _declared(_MAP["planes.distance.rmse_m"], "map_plane_rmse_m", "map to planes", 4,
              "RMS distance to planes through a cloud: its spacing is left out"),
    _declared(_MAP["correspondences.share"], "map_share_percent", "map kept", 1,
              "points within the cut"),
    *OF_COST,
)  # fmt: skip
BY_KEY = {quantity.key: quantity for quantity in QUANTITIES}


@dataclass(frozen=True, kw_only=True)
class RunScores:
    """Scores of one run by key of `QUANTITIES`; `failure` is the reason if it failed, else empty.

    A failed run has at most cost and coverage.
    """

    run: StudyRun
    failure: str = ""
    values: dict[str, float] = field(default_factory=dict)

    def value(self, key: str) -> float | None:
        """Return a score; infinity if missing because of a failure, None if never measured.

        Cost does not depend on failure.
        """
        if key in self.values:
            return self.values[key]
        return np.inf if self.failure and key in FAILS else None

    def plain(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "method": self.run.method,
            "sequence": self.run.sequence,
            "seed": self.run.seed,
            "failure": self.failure,
            **{q.key: self.values.get(q.key) for q in QUANTITIES},
        }


FAILS = ("ape_trans_m", "ape_rot_deg", "rpe_trans_m", "rpe_rot_deg", "drift_percent")
"""Scores that a failed run loses: it ranks behind all others in them."""


def score_run(
    run: StudyRun,
    *,
    study: StudyProtocol,
    trajectory: Protocol[TrajectoryProtocol],
    maps: Protocol[MapProtocol],
) -> RunScores:
    """Return the scores of a run; it has failed if it cannot be read or paired."""
    folder = open_run_folder(run.folder) if run.folder else None
    values = _cost(run, folder)
    try:
        values |= _trajectory_scores(run, folder, trajectory)
        # A failed flight is a failed run, however well it was tracked: a short path is an easy one.
        failure = folder.failure if folder is not None else ""
        failure = failure or _failure(values, study)
    except UserError as error:
        failure = str(error)
        values.setdefault("coverage_percent", 0.0)
    if run.map and not failure:
        try:
            values |= map_scores(run, maps)
        except UserError as error:
            failure = str(error)
    if failure:
        values = {key: value for key, value in values.items() if key not in FAILS}
    return RunScores(run=run, failure=failure, values=values)


def _failure(values: Mapping[str, float], study: StudyProtocol) -> str:
    share, ape = values["coverage_percent"] / 100.0, values["ape_trans_m"]
    if share < study.min_coverage:
        return f"tracked {share:.1%}, less than {study.min_coverage:.0%}"
    if study.max_ape_m is not None and ape > study.max_ape_m:
        return f"APE of {ape:.2f} m, more than {study.max_ape_m:g} m"
    return ""


def _trajectory_scores(
    run: StudyRun, folder: RunFolder | None, protocol: Protocol[TrajectoryProtocol]
) -> dict[str, float]:
    reference, estimate, frames = _paths(run, folder)
    found = evaluate_trajectory(
        reference,
        estimate,
        protocol=protocol,
        frame_stamps_ns=frames,
        keyframe_gap_s=None if folder is None else folder.keyframe_gap_s,
    )
    if not found.alignment.is_determined:
        raise UserError(f"the paths do not determine the alignment: {found.alignment.reason}")
    numbers = found.metrics()
    scores = _values(OF_TRAJECTORY, numbers)
    if protocol.choices.align == "sim3":
        scores["scale_error_percent"] = 100.0 * abs(found.alignment.scale - 1.0)
    return scores


def _values(quantities: Sequence[Quantity], numbers: Mapping[str, Any]) -> dict[str, float]:
    """Return the quantities that are in the numbers of a run."""
    return {
        quantity.key: metric.value(numbers)
        for quantity in quantities
        if (metric := quantity.metric) and _number(numbers, *metric.path.split(".")) is not None
    }


def _paths(
    run: StudyRun, folder: RunFolder | None
) -> tuple[Trajectory, Trajectory, np.ndarray | None]:
    """Return truth, estimate and, where known, the stamps of all frames [ns]."""
    if folder is None:
        return read_path(run.reference), read_path(run.estimate), None
    truth = folder.truth()
    if truth is None:
        raise UserError(f"{folder.path}: the bag holds no truth")
    estimate = folder.estimate()
    return truth, estimate, folder.frame_stamps_ns(estimate)


def map_scores(run: StudyRun, protocol: Protocol[MapProtocol]) -> dict[str, float]:
    """Return the scores of the map of a run.

    Raises UserError if it cannot be read or aligned, or lies beyond the cut.
    """
    from aerotwin_comparison.twin.sides import load_model
    from aerotwin_map_evaluation import evaluate_map
    from aerotwin_map_evaluation.inputs import points_of
    from aerotwin_voxel_cloud import load_map

    reference = load_model(run.model, protocol.choices).reference
    # The surface of a mesh is sampled: its vertices crowd where it is fine.
    estimate = points_of(load_map(run.map, unit_option=""), protocol.choices.floor_spacing_m)
    found = evaluate_map(reference, estimate.points, protocol=protocol)
    if not found.registration.converged:
        raise UserError(f"the map could not be aligned: {found.registration.reason}")
    kept = found.kept(found.voxel_distances)
    if len(kept) == 0:
        raise UserError("no point of the map lies within the cut")
    scores = {
        "map_mean_m": float(kept.mean()),
        "map_std_m": float(kept.std()),
        "map_share_percent": 100.0 * len(kept) / len(found.points_map),
    }
    floor_m = _number(found.metrics(), "floor", "mean_m")
    if floor_m is not None:
        scores["map_floor_m"] = floor_m
    if found.planes is not None:
        scores["map_plane_rmse_m"] = rms(found.planes.to_planes)
    return scores


def _cost(run: StudyRun, folder: RunFolder | None) -> dict[str, float]:
    """Return CPU, memory and latency where they were recorded."""
    if folder is not None:
        numbers: Any = folder.metrics.get("resources")
    elif run.resources:
        numbers = _read_json(Path(run.resources))
    else:
        numbers = None
    if not isinstance(numbers, Mapping):
        return {}
    if _number(numbers, "pss_bytes_mean") is None:
        numbers = {**numbers, "pss_bytes_mean": numbers.get("rss_bytes_mean")}
    return _values(OF_COST, numbers)


def _read_json(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return read_json(path)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read as JSON ({error})") from None


def _number(tree: Any, *keys: str) -> float | None:
    """Return a finite number of nested mappings, None if absent."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    is_number = isinstance(tree, int | float) and not isinstance(tree, bool)
    return float(tree) if is_number and np.isfinite(tree) else None
