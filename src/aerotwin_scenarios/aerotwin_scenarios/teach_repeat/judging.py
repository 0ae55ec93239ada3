# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates repeats against the truth: marks, the floor of a bent map, the scores, the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.section import Section, Table
from aerotwin_core.text_lines import text_lines
from aerotwin_reconstruction.degradation import sample_surface
from aerotwin_repeat_evaluation import (
    Displacement,
    Marks,
    NoDisplacement,
    RepeatRun,
    RigidFitFloor,
    TeachRepeatEvaluation,
    arc_length,
    ends_meet,
    marks_on_route,
    painted_marks,
    rigid_fit_floor,
)
from aerotwin_scenarios.teach_repeat.record import RepeatRecord
from aerotwin_teach_repeat.teaching import marker_stations
from aerotwin_worlds import World

FLOOR_SPACING_M = 1.0
"""Between the points of the true surface that the floor is fitted to."""
CLOSEST_MARKS_M, FARTHEST_MARKS_M = 0.1, 1e4
MOST_MARKS = 10_000
MARK_COLUMNS = "x_map_m,y_map_m,z_map_m,x_true_m,y_true_m,z_true_m"


@dataclass(frozen=True, kw_only=True, eq=False)
class TaughtRouteTruth:
    """A taught route and the truth about it."""

    name: str
    T_map_route: FloatArray  # (n, 4, 4): its vertices in the frame of the graph, in driving order
    marks: Marks  # where the error is measured
    # difference of the map from the true world; `NoDisplacement` also if unknown
    displacement: Displacement
    floor: RigidFitFloor | None  # error of a perfect localiser, if the displacement is known

    @property
    def is_closed(self) -> bool:
        """Whether it ends at its start."""
        return ends_meet(self.T_map_route[:, :3, 3])


def route_in_bent_map(
    name: str, T_map_route: FloatArray, displacement: Displacement, world: World, s_m: np.ndarray
) -> TaughtRouteTruth:
    """Return a route with marks at stations, at the exact images of their places.

    `T_map_route` (n, 4, 4): the route in the map, which differs from the true world by
    `displacement`. `s_m` (m,): stations of the marks along the route, such as `stations` [m].
    """
    marks = marks_on_route(T_map_route, s_m, displacement)
    floor = None
    if not isinstance(displacement, NoDisplacement):
        surface = sample_surface(world.meshes, FLOOR_SPACING_M, seed=0)
        floor = rigid_fit_floor(displacement, T_map_route, points_true=surface.points_map)
    return TaughtRouteTruth(
        name=name, T_map_route=T_map_route, marks=marks, displacement=displacement, floor=floor
    )


def route_through_marks(name: str, T_map_route: FloatArray, path: Path) -> TaughtRouteTruth:
    """Return a route with marks painted on the ground and seen in the reconstruction.

    `T_map_route` (n, 4, 4): the route in the reconstruction. `path`: CSV with the header
    `MARK_COLUMNS`.

    Raises `UserError` if the file has another format.
    """
    points = read_marks(path)
    return TaughtRouteTruth(
        name=name,
        T_map_route=T_map_route,
        marks=painted_marks(T_map_route, points[:, :3], points[:, 3:]),
        displacement=NoDisplacement(),
        floor=None,
    )


def read_marks(path: Path) -> np.ndarray:
    """Return the positions of marks in the map and in truth, (m, 6) [m]; errors as above."""
    try:
        lines = list(text_lines(path))
    except OSError as error:
        raise UserError(f"{path}: cannot be read as a file of marks ({error})") from None
    if not lines or lines[0].replace(" ", "") != MARK_COLUMNS:
        raise UserError(f"{path}: expected '{MARK_COLUMNS}' in its first line")
    try:
        points = np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
    except ValueError as error:
        raise UserError(f"{path}: not a table of numbers: {error}") from None
    if points.ndim != 2 or points.shape[1] != 6 or not np.isfinite(points).all():
        raise UserError(f"{path}: expected rows of six finite numbers, one row at least")
    return points


def stations(T_map_route: FloatArray, spacing_m: float) -> np.ndarray:
    """Return evenly spaced stations of marks along a route, (m,) [m].

    Raises `UserError` if the spacing is out of range, or the route is too short for one mark.
    """
    if not CLOSEST_MARKS_M <= spacing_m <= FARTHEST_MARKS_M:
        raise UserError(
            f"--marker-spacing-m must be {CLOSEST_MARKS_M:g} to {FARTHEST_MARKS_M:g}, "
            f"got {spacing_m:g}; choose another"
        )
    length = float(arc_length(T_map_route[:, :2, 3])[-1])
    found = np.array(marker_stations(length, spacing_m))
    if not len(found):
        raise UserError(
            f"the route is {length:.1f} m long: too short for marks every {spacing_m:g} m; give a "
            "smaller --marker-spacing-m"
        )
    return found


def taught_stations(noted: object, T_map_route: FloatArray) -> np.ndarray:
    """Return the stations of marks in a route graph's manifest, (m,) [m].

    Raises `UserError` if they are invalid for that route.
    """
    length = float(arc_length(T_map_route[:, :2, 3])[-1])
    try:
        found = np.array(noted, float)
    except (TypeError, ValueError):  # text, a mapping, rows of different length
        found = np.array(np.nan)
    are_on_route = found.ndim == 1 and ((found >= 0.0) & (found <= length)).all()
    if not are_on_route or len(found) > MOST_MARKS:
        raise UserError(
            f"manifest.json: markers_s_m must be {MOST_MARKS} numbers at most, of 0 to the length "
            f"of the route, {length:.1f} m; it is damaged, or give --marker-spacing-m"
        )
    return found


def evaluate_repeats(
    route: TaughtRouteTruth, records: Sequence[RepeatRecord], *, method: str
) -> TeachRepeatEvaluation:
    """Return the scores of repeats; raises `UserError` if no repeat drove at all."""
    driven = [record for record in records if len(record.believed) > 1]
    if not driven:
        raise UserError(f"no repeat drove: {records[0].reason}; see states.csv of each")
    return evaluate_runs(route, [record.run for record in driven], method=method)


def evaluate_runs(
    route: TaughtRouteTruth, runs: Sequence[RepeatRun], *, method: str
) -> TeachRepeatEvaluation:
    """Return the scores of runs, at least one."""
    return TeachRepeatEvaluation(
        T_map_route=route.T_map_route,
        runs=runs,
        marks=route.marks,
        displacement=route.displacement,
        floor=route.floor,
        is_closed=route.is_closed,
        method=method,
        route=route.name,
    )


def drives_section(records: Sequence[RepeatRecord]) -> Section:
    """Return the section of a report on how each repeat ended."""
    n = sum(record.is_completed for record in records)
    rows = tuple(
        (
            record.name,
            str(record.state),
            f"{record.simulated_s:.1f}",
            f"{record.simulated_s / record.wall_s:.1f}",
            str(sum(step.state == "blind" for step in record.steps)),
            record.reason,
        )
        for record in records
    )
    columns = ("repeat", "end", "driven s", "times real time", "blind scans", "reason")
    return Section(
        title="Drives",
        name="drives",
        verdict=f"{n} of {len(records)} repeats came to the end of the route.",
        text="Closed loop in the true world: the robot had scans and wheel speeds only.",
        tables=(Table(title="Repeats", columns=columns, rows=rows),),
        warnings=tuple(f"{r.name}: {r.reason}" for r in records if not r.is_completed),
        metrics={
            "n": len(records),
            "n_completed": n,
            "simulated_s": sum(record.simulated_s for record in records),
            "wall_s": sum(record.wall_s for record in records),
        },
    )
