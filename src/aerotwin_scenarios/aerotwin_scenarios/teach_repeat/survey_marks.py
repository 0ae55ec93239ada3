# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Marks along a route: painted before a survey, found in its reconstruction, taught through.

Marks are found in the orthophoto alone. Their painted positions are the truth, used only to
identify the found ones and to evaluate them.
"""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import load_parameters, to_mapping
from aerotwin_core.text_lines import text_lines
from aerotwin_reconstruction.survey.folder import RECORD, read_record
from aerotwin_scenarios.teach_repeat.judging import MARK_COLUMNS
from aerotwin_scenarios.world_routes import route_of_world
from aerotwin_teach_repeat.teaching import RouteFile, load_route, save_route, smooth_waypoints
from aerotwin_worlds import World
from aerotwin_worlds.marks import MarkStyle, paint_marks

ROUTE, PAINTED, SCORE = "route.yaml", "marks_true.csv", "marks.csv"
OF_WORLD = "route"
PAINTED_COLUMNS = "x_true_m,y_true_m,z_true_m"
SAME_M = 1.5
"""A mark farther from where one was painted, or from the route, is none of its marks."""
GIVES_WAY_M = 4.0
"""Way-points nearer than this to a mark, along the route, give way to it."""


def paint_route(
    world: World, source: str, spec: str, size_m: float, folder: Path
) -> tuple[World, dict[str, Any]]:
    """Return a world with marks along a route, and their entry for the record.

    The route is written to the folder of the survey, and the marks' positions as truth beside it.
    `source` is `OF_WORLD`, for the own route of the world named `spec`, or a route file; `size_m`
    is the diameter of a mark.

    Raises `UserError` if the route has no marks, or one cannot be painted.
    """
    route = route_of_world(spec) if source == OF_WORLD else load_route(source)
    style = load_parameters(MarkStyle, {"size_m": size_m}, where="--mark-size-m")
    path = smooth_waypoints(route.waypoints, is_closed=route.is_closed)
    stations = route.markers(path.length_m)
    if not len(stations):
        raise UserError(f"route {route.name}: its markers_s_m is empty; name stations for marks")
    places = np.column_stack([np.interp(stations, path.s_m, c) for c in path.points_m.T])
    marked = paint_marks(world, places, style)
    save_route(folder / ROUTE, route)
    _write_table(folder / PAINTED, PAINTED_COLUMNS, marked.points_map)
    line = {"points_m": path.points_m[::10].round(3).tolist(), "is_closed": route.is_closed}
    return marked.world, {"route": line, "marks": to_mapping(style)}


def route_through(route: RouteFile, found_map: FloatArray) -> RouteFile:
    """Return a route whose waypoints are the marks found on it.

    `route`: as planned. `found_map` (n, 3): marks in the reconstruction [m]; those beyond `SAME_M`
    of the route are left out.

    Raises `UserError` if none is left.
    """
    path = smooth_waypoints(route.waypoints, is_closed=route.is_closed)
    tree = cKDTree(path.points_m)
    away, index = tree.query(found_map[:, :2])
    marks, s_marks = found_map[away < SAME_M, :2], path.s_m[index[away < SAME_M]]
    if not len(marks):
        raise UserError(
            f"route {route.name}: none of {len(found_map)} marks lies on it; survey with --marks"
        )
    s_points = path.s_m[tree.query(route.waypoints)[1]]
    gap = np.abs(s_points[:, None] - s_marks)
    if route.is_closed:
        gap = np.minimum(gap, path.length_m - gap)
    retained = gap.min(axis=1) >= GIVES_WAY_M
    order = np.argsort(np.append(s_points[retained], s_marks), kind="stable")
    points = np.vstack([route.waypoints[retained], marks])[order]
    content = to_mapping(route) | {"waypoints_m": points.round(3).tolist(), "markers_s_m": []}
    return load_parameters(RouteFile, content, where="the route through the marks")


def match_marks(found_map: FloatArray, true_map: FloatArray) -> FloatArray:
    """Return found marks with their painted positions, (m, 6) [m].

    Each painted mark is matched to the nearest found one within `SAME_M`, seen from above.
    """
    away, index = cKDTree(found_map[:, :2]).query(true_map[:, :2])
    known = away < SAME_M
    return np.hstack([found_map[index[known]], true_map[known]])


def read_painted(folder: Path) -> FloatArray:
    """Return the painted positions of the marks of a survey, (m, 3) [m].

    Raises `UserError` if the file has another format.
    """
    path = folder / PAINTED
    try:
        header, *lines = text_lines(path)
        points = np.array([[float(cell) for cell in line.split(",")] for line in lines])
        if header != PAINTED_COLUMNS or points.shape[1:] != (3,) or not np.isfinite(points).all():
            raise ValueError("other columns or numbers")
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path}: expected rows of {PAINTED_COLUMNS}, got {error}; survey with --marks"
        ) from None
    return points


def read_size_m(folder: Path) -> float:
    """Return the diameter of the marks of a survey [m]; errors as `read_painted`."""
    style = read_record(folder).get("marks")
    if not isinstance(style, dict):
        raise UserError(f"{folder}: no marks were painted there; survey with --marks")
    return load_parameters(MarkStyle, style, where=f"{folder / RECORD}: marks").size_m


def write_score(path: Path, marks: FloatArray) -> None:
    """Write matched marks in the format of `aerotwin repeat --marks`."""
    _write_table(path, MARK_COLUMNS, marks)


def _write_table(path: Path, columns: str, rows: FloatArray) -> None:
    lines = [",".join(f"{value:.4f}" for value in row) for row in rows]
    write_text_atomically(path, "\n".join([columns, *lines]) + "\n")
