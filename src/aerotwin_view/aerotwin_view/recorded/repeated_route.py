# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of `aerotwin repeat` as what a page shows: the taught route and its repeats."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.documents import DocumentError, parse_yaml
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.rms import rms
from aerotwin_core.tum import read_tum
from aerotwin_repeat_evaluation import ends_meet, lateral_errors
from aerotwin_repeat_evaluation.evaluation import WINDOW_M
from aerotwin_teach_repeat.route_graph import RouteGraph

CONFIGURATION = "config.yaml"
_TRUTH, _BELIEF, _REPEATS = "truth.tum", "belief.tum", "repeat_*"


@dataclass(frozen=True, kw_only=True)
class ShownRepeat:
    """One repeat: its path, and its lateral error at each of its points."""

    name: str
    p_map: FloatArray  # (n, 3) [m]
    error_m: FloatArray  # (n,), left of the direction of travel is positive

    def text(self) -> str:
        """Return its figures."""
        largest_m = float(np.abs(self.error_m).max())
        n, rms_m = len(self.error_m), rms(self.error_m)
        return f"{self.name}: RMSE of its {n} poses {rms_m:.3f} m, largest {largest_m:.3f} m"


@dataclass(frozen=True, kw_only=True)
class RepeatedRoute:
    """A taught route, in the frame of its graph, and the repeats that drove."""

    name: str
    route: FloatArray  # (k, 3) [m], in driving order
    repeats: tuple[ShownRepeat, ...]
    world: str | None
    what: str  # what the errors are of, as text


def is_repeated_route(folder: Path) -> bool:
    """Return whether a folder is one of `aerotwin repeat`."""
    return (folder / CONFIGURATION).is_file() and any(folder.glob(f"{_REPEATS}/{_TRUTH}"))


def read_repeated_route(folder: Path) -> RepeatedRoute:
    """Return the taught route and its repeats.

    The errors are those of the true path, unless the map is known to be bent: then the true path
    lies in another frame than the route, and they are what the robot estimated.

    Raises
    ------
    UserError
        If a file is damaged, the route graph is no more, or no repeat drove.
    """
    configuration = _configuration(folder / CONFIGURATION)
    graph = _graph(folder, configuration.get("graph"))
    route = _driven_once(graph, folder)
    is_bent = any(configuration.get(key) is not None for key in ("marks", "degradation"))
    start_m = configuration.get("start_at_m")
    s_near_m = float(start_m) if isinstance(start_m, int | float) else 0.0
    is_closed = ends_meet(route)
    repeats = []
    for each in sorted(folder.glob(_REPEATS), key=_number):
        p_map = _path(each, is_bent=is_bent)
        if p_map is not None:
            try:
                errors = lateral_errors(
                    route, p_map, window_m=WINDOW_M, s_near_m=s_near_m, is_closed=is_closed
                )
            except ValueError as error:
                raise UserError(f"{each}: {error}") from None
            name = each.name.replace("_", " ")
            repeats.append(ShownRepeat(name=name, p_map=p_map, error_m=errors.error_m))
    if not repeats:
        raise UserError(f"{folder}: expected a repeat that drove, found none; repeat the route")
    world = configuration.get("world")
    what = "estimated by the robot, as the map is bent" if is_bent else "of the true path"
    return RepeatedRoute(
        name=folder.name,
        route=route,
        repeats=tuple(repeats),
        world=world if isinstance(world, str) else None,
        what=what,
    )


def _configuration(path: Path) -> dict[str, Any]:
    try:
        found = parse_yaml(path.read_bytes())
    except (OSError, DocumentError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise UserError(f"{path}: expected names with values; it is none of aerotwin repeat")
    return found


def _graph(folder: Path, named: Any) -> RouteGraph:
    """Return the route graph that a run names: relative to here, or to the folder of the run."""
    if not isinstance(named, str):
        raise UserError(f"{folder / CONFIGURATION}: graph: expected the folder of a route graph")
    for candidate in (Path(named), folder / named, folder.parent / Path(named).name):
        if candidate.is_dir():
            return RouteGraph.load(candidate)
    raise UserError(
        f"{folder}: the route graph {named} that it repeats is not there; put it back, or run from "
        "the folder in which it was repeated"
    )


def _driven_once(graph: RouteGraph, folder: Path) -> FloatArray:
    """Return the places (k, 3) of the first teach of a graph; UserError if they are no path."""
    route = graph.poses_map(list(next(iter(graph.runs), ())))[:, :3, 3]
    if not np.isfinite(route).all() or len(np.unique(route[:, :2], axis=0)) < 2:
        raise UserError(
            f"{folder}: expected a route graph whose first teach has two places at least, found "
            "fewer; teach it again"
        )
    return route


def _path(folder: Path, *, is_bent: bool) -> FloatArray | None:
    """Return the driven path (n, 3) at the estimates of the robot; None if it never drove."""
    if not (folder / _BELIEF).is_file():
        return None
    truth, belief = read_tum(folder / _TRUTH), read_tum(folder / _BELIEF)
    first_ns, last_ns = truth.stamps_ns[[0, -1]]
    is_known = (first_ns <= belief.stamps_ns) & (belief.stamps_ns <= last_ns)
    if is_known.sum() < 2:
        return None
    if is_bent:
        return belief.p_ref_body[is_known]
    return truth.interpolate(belief.stamps_ns[is_known]).p_ref_body


def _number(folder: Path) -> tuple[int, str]:
    number = folder.name.rpartition("_")[2]
    return (int(number) if number.isdecimal() else 0, folder.name)
