# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The metrics of a teach-and-repeat evaluation as plain values."""

from typing import Any

import numpy as np

from aerotwin_core.rms import rms
from aerotwin_repeat_evaluation.evaluation import TeachRepeatEvaluation


def metrics_of(evaluation: TeachRepeatEvaluation) -> dict[str, Any]:
    """Return all metrics of an evaluation as plain values; declared in `TEACH_REPEAT_METRICS`."""
    repeats, nominal = evaluation.repeats, evaluation.nominal
    return {
        "method": evaluation.method,
        "route": {
            "name": evaluation.route,
            "length_m": float(evaluation.route_s_m[-1]),
            "is_closed": evaluation.is_closed,
        },
        "pte_m": {"rmse": evaluation.markers.rmse_m, "max": evaluation.markers.max_m},
        "floor_m": _pair(evaluation.floor_at_marks_m),
        "floor_route_m": _pair(evaluation.floor.lateral_m if evaluation.floor else None),
        "marks": _marks(evaluation),
        "repeatability_m": evaluation.markers.repeatability_m,
        "true_path_m": _pair(np.concatenate([found.error_m for found in evaluation.true])),
        "belief_m": _belief(evaluation),
        "repeats_m": repeats
        and {
            "rmse": repeats.rmse_m,
            "max": repeats.max_m,
            "pair_rmse": repeats.pair_rmse_m.tolist(),
        },
        "nominal_m": nominal and {"mean_rmse": nominal.mean_rmse_m, "max": nominal.max_m},
        "gnss_m": _gnss(evaluation),
        "localisation": _localisation(evaluation),
        "interventions": {
            "n": evaluation.n_interventions,
            "driven_km": evaluation.driven_km,
            "km_per_intervention": evaluation.km_per_intervention,
        },
        "runs": {
            "n": len(evaluation.runs),
            "n_completed": sum(run.is_completed for run in evaluation.runs),
            "names": [run.name for run in evaluation.runs],
        },
    }


def _finite_rms(values: np.ndarray) -> float | None:
    """Return the root mean square of the finite values; None if there are none."""
    finite = np.asarray(values)[np.isfinite(values)]
    return rms(finite) if len(finite) else None


def _pair(values: np.ndarray | None) -> dict[str, float | None] | None:
    if values is None:
        return None
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max()) if len(finite) else None
    return {"rmse": _finite_rms(values), "max": largest}


def _plain(values: np.ndarray) -> list:
    """Return nested lists with None in place of non-finite values."""
    if values.ndim > 1:
        return [_plain(row) for row in values]
    return [float(value) if np.isfinite(value) else None for value in values]


def _marks(evaluation: TeachRepeatEvaluation) -> dict[str, Any]:
    markers = evaluation.markers
    return {
        "n": len(evaluation.marks),
        "n_passings": markers.n,
        "n_missed": markers.n_missed,
        "bias_rms_m": markers.bias_rms_m,
        "s_m": _plain(evaluation.marks.s_m),
        "bias_m": _plain(markers.bias_m),
        "offsets_m": _plain(markers.offsets_m),
    }


def _belief(evaluation: TeachRepeatEvaluation) -> dict[str, Any]:
    scores = evaluation.tracking

    def pooled(name: str) -> float:
        return float(np.sqrt(np.mean([getattr(s, name) ** 2 for s in scores])))

    at_marks = evaluation.belief_at_marks
    return {
        "at_marks": {"rmse": at_marks.rmse_m, "max": at_marks.max_m},
        "sample_rmse": pooled("sample_rmse_m"),
        "length_rmse": pooled("length_rmse_m"),
        "time_rmse": pooled("time_rmse_m"),
        "max": max(s.max_m for s in scores),
    }


def _gnss(evaluation: TeachRepeatEvaluation) -> dict[str, float | None]:
    found = evaluation.gnss
    by_marks = [errors.marks_m for errors in found if errors.marks_m is not None]
    return {
        "first_point_rmse": _finite_rms(np.concatenate([errors.first_point_m for errors in found])),
        "path_icp_rmse": _finite_rms(np.concatenate([errors.path_icp_m for errors in found])),
        "marks_rmse": _finite_rms(np.concatenate(by_marks)) if by_marks else None,
    }


def _localisation(evaluation: TeachRepeatEvaluation) -> dict[str, Any]:
    errors = evaluation.localization
    lateral = np.concatenate([e.lateral_m for e in errors])
    failed = [run.is_localized for run in evaluation.runs if run.is_localized is not None]
    yaw = _finite_rms(np.concatenate([e.yaw_rad for e in errors]))
    return {
        "n": len(lateral),
        "n_failed": int(sum((~np.asarray(is_localized)).sum() for is_localized in failed)),
        "lateral_rmse_m": _finite_rms(lateral),
        "lateral_max_m": float(np.abs(lateral).max()),
        "longitudinal_rmse_m": _finite_rms(np.concatenate([e.longitudinal_m for e in errors])),
        "yaw_rmse_deg": None if yaw is None else float(np.rad2deg(yaw)),
    }
