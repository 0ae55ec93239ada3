# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""All metrics of the repeats of one taught route, computed once from true and estimated poses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from aerotwin_core.rms import rms
from aerotwin_repeat_evaluation.belief import (
    LocalizationErrors,
    TrackingScores,
    localization_errors,
    tracking_scores,
)
from aerotwin_repeat_evaluation.displacements import (
    Displacement,
    NoDisplacement,
    image_of_poses,
    true_poses,
)
from aerotwin_repeat_evaluation.floor import RigidFitFloor
from aerotwin_repeat_evaluation.gnss import PseudoGnssErrors, gnss_positions, pseudo_gnss_errors
from aerotwin_repeat_evaluation.markers import MarkerErrors, Marks, marker_errors, passings
from aerotwin_repeat_evaluation.path_errors import LateralErrors, arc_length, lateral_errors
from aerotwin_repeat_evaluation.repeats import (
    NominalDeviation,
    RepeatDeviation,
    nominal_deviation,
    repeat_deviation,
)

WINDOW_M = 5.0
"""How far a run's arc length may jump between samples, beyond its motion [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatRun:
    """One repeat: true poses and the robot's estimates.

    Parameters
    ----------
    name : str
        Such as "repeat 1, seed 1000".
    stamps_ns : (n,) int array
        Increasing.
    T_true_base, T_map_base : (n, 4, 4) arrays
        True poses in the world, and estimated poses at the same stamps in the teach map.
    is_localized : (n,) bool array, optional
        Where the live scan was matched to the map; everywhere by default.
    n_interventions : int
        How often a person would have had to intervene.
    s_start_m : float
        Arc length on the route at which the run began [m].
    """

    name: str
    stamps_ns: np.ndarray
    T_true_base: np.ndarray
    T_map_base: np.ndarray
    is_localized: np.ndarray | None = None
    n_interventions: int = 0
    is_completed: bool = True
    s_start_m: float = 0.0

    def __post_init__(self) -> None:
        n = len(self.stamps_ns)
        for name in ("T_true_base", "T_map_base"):
            poses = getattr(self, name)
            if poses.shape != (n, 4, 4) or not np.isfinite(poses).all():
                raise ValueError(
                    f"run {self.name!r}: {name} must be finite with shape ({n}, 4, 4), one pose "
                    f"for each stamp, got {poses.shape}"
                )


@dataclass(frozen=True, kw_only=True, eq=False)
class TeachRepeatEvaluation:
    """The repeats of one route by one method; input of `metrics_of` and `section_of`.

    Parameters
    ----------
    T_map_route : (k, 4, 4) array
        The taught route in the teach map; `is_closed` if its end joins its start.
    runs : sequence of RepeatRun
        At least one.
    displacement : Displacement
        Deformation of the teach map.
    floor : RigidFitFloor, optional
        One value for each vertex of the route, where the displacement is known.
    method, route : str
        Names for boxes and tables: "virtual, warp 30 cm"; "campus@1003".
    is_matched : bool
        Whether warp, noise and route are those of the published figures shown next to these.
    gnss_seed : int
        Seed of the pseudo-GNSS noise.
    """

    T_map_route: np.ndarray
    runs: Sequence[RepeatRun]
    marks: Marks
    displacement: Displacement = field(default_factory=NoDisplacement)
    floor: RigidFitFloor | None = None
    is_closed: bool = False
    method: str = "repeat"
    route: str = "route"
    is_matched: bool = False
    gnss_seed: int = 0

    def __post_init__(self) -> None:
        if not self.runs:
            raise ValueError("runs must be one at least, got none")
        if not len(self.marks):
            raise ValueError("marks must be one at least, got none")
        if self.floor is not None and len(self.floor.lateral_m) != len(self.T_map_route):
            raise ValueError(
                f"floor must have a value for each of the {len(self.T_map_route)} vertices, got "
                f"{len(self.floor.lateral_m)}"
            )

    @cached_property
    def route_s_m(self) -> np.ndarray:
        """Arc length of the route's vertices in the map, (k,) [m]."""
        return arc_length(self.T_map_route[:, :2, 3])

    @cached_property
    def believed(self) -> tuple[LateralErrors, ...]:
        """For each run, the estimated path against the taught route."""
        return tuple(
            self._against(self.T_map_route, run.T_map_base, run.s_start_m) for run in self.runs
        )

    @cached_property
    def true(self) -> tuple[LateralErrors, ...]:
        """For each run, the true path against the true image of the taught route."""
        route = true_poses(self.displacement, self.T_map_route)
        return tuple(self._against(route, run.T_true_base, run.s_start_m) for run in self.runs)

    def _against(self, route: np.ndarray, poses: np.ndarray, s_start_m: float) -> LateralErrors:
        return lateral_errors(
            route[:, :3, 3], poses[:, :3, 3], window_m=WINDOW_M, s_near_m=s_start_m,
            is_closed=self.is_closed,
        )  # fmt: skip

    @cached_property
    def markers(self) -> MarkerErrors:
        """Offsets that a tape measures at the true marks: the headline."""
        return marker_errors(np.column_stack([p.offset_m for p in self._passings]))

    @cached_property
    def _passings(self):
        return tuple(
            passings(self.marks.T_true_mark, run.T_true_base[:, :3, 3], self.marks.s_m, found.s_m)
            for run, found in zip(self.runs, self.true, strict=True)
        )

    @cached_property
    def belief_at_marks(self) -> MarkerErrors:
        """The robot's estimate of its offset at the moments when it truly passes the marks."""
        rows = []
        for found, passed in zip(self.believed, self._passings, strict=True):
            index = np.arange(len(found.error_m))
            at = np.interp(np.nan_to_num(passed.sample), index, found.error_m)
            rows.append(np.where(np.isfinite(passed.sample), at, np.nan))
        return marker_errors(np.column_stack(rows))

    @cached_property
    def floor_at_marks_m(self) -> np.ndarray | None:
        """The oracle's lateral residual at the marks, (m,) [m]."""
        if self.floor is None:
            return None
        return np.interp(self.marks.s_m, self.route_s_m, self.floor.lateral_m)

    @cached_property
    def tracking(self) -> tuple[TrackingScores, ...]:
        """For each run, the estimated error in its three weightings."""
        return tuple(
            tracking_scores(found.error_m, arc_length(run.T_map_base[:, :2, 3]), run.stamps_ns)
            for run, found in zip(self.runs, self.believed, strict=True)
        )

    @cached_property
    def localization(self) -> tuple[LocalizationErrors, ...]:
        """For each run, estimate against truth in the map."""
        return tuple(
            localization_errors(run.T_map_base, image_of_poses(self.displacement, run.T_true_base))
            for run in self.runs
        )

    @cached_property
    def repeats(self) -> RepeatDeviation | None:
        """True runs against each other; None for one run."""
        if len(self.runs) < 2:
            return None
        paths = [run.T_true_base[:, :3, 3] for run in self.runs]
        return repeat_deviation(paths, is_closed=self.is_closed)

    @cached_property
    def nominal(self) -> NominalDeviation | None:
        """Completed true runs against their average; None for fewer than two."""
        paths = [run.T_true_base[:, :3, 3] for run in self.runs if run.is_completed]
        return nominal_deviation(paths) if len(paths) > 1 else None

    @cached_property
    def gnss(self) -> tuple[PseudoGnssErrors, ...]:
        """For each run, the errors that post-processed GNSS would measure."""
        in_map, true = (T[:, :3, 3] for T in (self.marks.T_map_mark, self.marks.T_true_mark))
        return tuple(
            pseudo_gnss_errors(
                self.T_map_route[:, :3, 3],
                gnss_positions(run.T_true_base[:, :3, 3], seed=self.gnss_seed + k),
                marks=(in_map, true) if len(self.marks) > 2 else None,
                window_m=WINDOW_M,
                s_start_m=run.s_start_m,
            )
            for k, run in enumerate(self.runs)
        )

    @property
    def driven_km(self) -> float:
        """Distance driven in all runs [km]."""
        return sum(float(arc_length(run.T_true_base[:, :2, 3])[-1]) for run in self.runs) * 1e-3

    @property
    def n_interventions(self) -> int:
        """Sum over all runs."""
        return sum(run.n_interventions for run in self.runs)

    @property
    def km_per_intervention(self) -> float | None:
        """Mean distance between interventions [km]; None without an intervention."""
        return self.driven_km / self.n_interventions if self.n_interventions else None


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
