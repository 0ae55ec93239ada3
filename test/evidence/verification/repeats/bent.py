# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Routes that are taught virtually, in a map of a generated world that is bent on purpose.

The map is the true surface, sampled, degraded by a preset and nothing else; the route leads along
the image of the world's own one. So the displacement is known exactly, and with it the true places
of the marks and the floor.
"""

from functools import partial
from pathlib import Path

import numpy as np

from aerotwin_reconstruction.degradation import (
    DisplacementField,
    degrade,
    field_of,
    load_degradation,
    sample_surface,
)
from aerotwin_repeat_evaluation import arc_length
from aerotwin_scenarios.teach_repeat.judging import route_in_bent_map
from aerotwin_scenarios.world_routes import route_of_world
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_teach_repeat.teaching import marker_stations, teach_route, way_around
from aerotwin_worlds import World, load_world
from evidence.verification.repeats.case import Case, TaughtRoute, Thresholds

PRESET = "warp_30cm"
SPACING_M = 0.15
"""Of the samples, as `aerotwin teach` takes a world's surface."""


def teach_in_bent_map(seed: int, folder: Path, *, name: str, avoid_m: float = 0.0) -> TaughtRoute:
    """Return the route of a generated world of that seed, taught in its bent map of that seed.

    Parameters
    ----------
    seed : int
        Of world, sampling and degradation.
    folder : Path
        Keeps the graph.
    name : str
        Of the world.
    avoid_m : float
        How far the route gives way to what stands on it [m].
    """
    world = load_world(f"{name}@{seed}")
    field = field_of(load_degradation(PRESET), seed)
    _write_graph(world, field, name, seed, avoid_m, folder / "graph")
    graph = RouteGraph.load(folder / "graph")
    poses = graph.poses_map(graph.runs[0])
    s_m = np.array(marker_stations(float(arc_length(poses[:, :2, 3])[-1])))
    route = route_in_bent_map(f"{name}@{seed}", poses, field, world, s_m)
    return TaughtRoute(graph=graph, route=route, world=world)


def _write_graph(
    world: World, field: DisplacementField, name: str, seed: int, avoid_m: float, folder: Path
) -> None:
    """Teach the route and write its graph."""
    surface = sample_surface(world.meshes, SPACING_M, seed=seed)
    bent = degrade(
        surface.points_map, load_degradation(PRESET), seed=seed,
        is_ground=surface.is_ground, car=surface.car,
    )  # fmt: skip
    route = route_of_world(f"{name}@{seed}")
    places = np.column_stack([route.waypoints, np.zeros(len(route.waypoints))])
    waypoints = (places + field(places))[:, :2]
    if avoid_m > 0.0:
        waypoints = way_around(
            waypoints, bent.points_map, is_closed=route.is_closed, reach_m=avoid_m
        )
    graph = teach_route(
        bent.points_map, waypoints, is_closed=route.is_closed,
        about={"world": f"{name}@{seed}", "degradation": PRESET, "degradation_seed": seed},
    )  # fmt: skip
    graph.save(folder)


CAMPUS_WARP = Case(
    name="campus_warp",
    title="virtual, 30 cm field, loop of 300 m",
    teach=partial(teach_in_bent_map, name="campus"),
    n_repeats=3,
    thresholds=Thresholds(above_floor_m=0.02),
)
ROUTE_WARP = Case(
    name="route_warp",
    title="virtual, 30 cm field, road of 1 km",
    teach=partial(teach_in_bent_map, name="route"),
    n_repeats=1,
    thresholds=Thresholds(above_floor_m=0.04),
)
GRASSLAND_WARP = Case(
    name="grassland_warp",
    title="virtual, 30 cm field, ring through grassland",
    teach=partial(teach_in_bent_map, name="grassland", avoid_m=6.0),
    n_repeats=2,
    thresholds=Thresholds(above_floor_m=0.04, is_structured=False),
)
