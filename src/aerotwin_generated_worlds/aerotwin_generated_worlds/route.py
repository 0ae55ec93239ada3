# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The generated route: a country road of one kilometre through hills, past farms and woods.

The road winds from west to east. It is smooth and never steeper than `STEEPEST`; the land rises
and falls beside it. Textures are fine near the road and coarse away from it.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from aerotwin_core.parameters import parameter
from aerotwin_generated_worlds.buildings import Building
from aerotwin_generated_worlds.furniture import pole_solid
from aerotwin_generated_worlds.plants import Plant
from aerotwin_generated_worlds.roads import (
    STEP_M,
    Airspace,
    FreeGround,
    Road,
    level_pads,
    open_road,
)
from aerotwin_generated_worlds.settlement import Board, Car, Settlement, settlement_meshes
from aerotwin_generated_worlds.site import Site, Stroke, grid_line, land
from aerotwin_generated_worlds.solids import box, turned
from aerotwin_generated_worlds.surfaces import CONCRETE, GRAVEL
from aerotwin_meshes.mesh import TexturedMesh

LENGTH_M, ROAD_M = 1000.0, 5.6
LOW_M, HIGH_M = np.array([-260.0, -170.0]), np.array([260.0, 170.0])
CHUNKS = (20, 13)
WAVE_M, HILLS_M, BUMPS_M = 150.0, 8.0, 0.35
STEEPEST = 0.05
NEAR_M, COARSE = 26.0, 6.0
"""Chunks closer to the road than this [m] have fine texels; others are coarser by this factor."""
POLE_M, POLE_HIGH_M, N_BUILDINGS = 45.0, 7.5, 22
FLOWN = Airspace(points_m=(
    (-235.0, 0.0, 10.0),
    (-230.6, 17.5, 13.9), (-225.6, 36.8, 13.8), (-220.3, 56.1, 13.9),
    (-214.2, 75.1, 14.1), (-206.7, 93.7, 14.3), (-196.3, 110.7, 14.3),
    (-178.8, 118.2, 14.4), (-162.2, 107.5, 14.4), (-149.6, 92.0, 14.1),
    (-139.2, 75.0, 13.5), (-130.3, 57.0, 12.8), (-122.7, 38.6, 12.1),
    (-116.2, 19.6, 11.7), (-110.7, 0.4, 11.3), (-105.8, -19.0, 10.9),
    (-100.9, -38.4, 10.6), (-95.5, -57.6, 10.5), (-88.8, -76.4, 10.8),
    (-79.1, -93.9, 11.5), (-64.5, -107.4, 12.4), (-45.5, -113.0, 12.9),
))  # fmt: skip
"""What the mission flies: the road of the default seed, from its start."""


@dataclass(frozen=True, kw_only=True)
class RouteParameters:
    """Parameters of the generated route."""

    seed: int = parameter(default=7, text="Seed of all shapes and colours.", minimum=0)
    spacing_m: float = parameter(
        default=0.8, text="Vertex spacing of the ground.", unit="m", minimum=0.4, maximum=5
    )
    texel_m: float = parameter(
        default=0.05,
        text="Texel size of walls and of the ground near the road; six times that elsewhere.",
        unit="m",
        minimum=0.033,
        maximum=0.5,
    )


def build_route(parameters: RouteParameters) -> tuple[TexturedMesh, ...]:
    """Generate the route; the same parameters give the same bytes.

    The meshes are ground in chunks, buildings, cars, boards, poles, plants.
    """
    seed, texel = parameters.seed, parameters.texel_m
    road = route_road(seed)
    x, y = (
        grid_line(low, high, parameters.spacing_m, k)
        for low, high, k in zip(LOW_M, HIGH_M, CHUNKS, strict=True)
    )
    grid = np.meshgrid(x, y)
    distance, s = road.nearest(*grid)
    hills = land(x, y, wave_m=WAVE_M, rise_m=HILLS_M, bumps_m=0.0, seed=seed)
    rough = land(x, y, wave_m=WAVE_M, rise_m=HILLS_M, bumps_m=BUMPS_M, seed=seed)
    profile = road_heights(road, Site(x_m=x, y_m=y, z_m=hills, seed=seed))
    away = np.clip((distance - 5.0) / 45.0, 0.0, 1.0)
    away = away * away * (3.0 - 2.0 * away)
    z = np.interp(s, road.s_m, profile)
    z += away * (hills - z) + np.clip((distance - 4.0) / 5.0, 0.0, 1.0) * (rough - hills)
    base = Site(x_m=x, y_m=y, z_m=z, seed=seed)
    plan = _plan(base, road, seed)
    pads = [
        (b.x_m, b.y_m, b.yaw, b.length_m + 2.0, b.width_m + 2.0, b.z_m)
        for b in plan.buildings.values()
    ]
    levelled = level_pads(x, y, z, pads)
    weight = np.clip((7.0 - distance) / 2.5, 0.0, 1.0)
    z = levelled + weight * (z - levelled)
    site = Site(x_m=x, y_m=y, z_m=z, seed=seed, strokes=_strokes(road, plan))

    def ground_texel(low, high):
        middle = (np.array(low) + high) / 2.0
        reach = NEAR_M + np.linalg.norm(np.subtract(high, low)) / 2.0
        return texel if road.nearest(*middle)[0] < reach else COARSE * texel

    return settlement_meshes(
        site, plan, chunks=CHUNKS, ground_texel_m=ground_texel, texel_m=texel, shade_cell_m=0.4
    )


def route_road(seed: int) -> Road:
    """Return the road: bends of random width between both ends of the site."""
    rng = np.random.default_rng([seed, 61])
    x = np.linspace(-235.0, 235.0, 9)
    side = np.array([0.0, 0.9, 0.4, -0.8, -0.7, 0.6, 0.9, -0.4, 0.0]) * rng.choice([-1.0, 1.0])
    x[1:-1] += rng.uniform(-8.0, 8.0, 7)
    side[1:-1] += rng.uniform(-0.15, 0.15, 7)
    return open_road(np.column_stack([x, 100.0 * side]), LENGTH_M, ROAD_M)


def road_heights(road: Road, hills: Site) -> np.ndarray:
    """Heights along the road: those of the hills, smoothed, with their slope limited [m]."""
    z = gaussian_filter1d(hills.height(*road.points_m.T), 25.0 / STEP_M, mode="nearest")
    steepest = np.abs(np.gradient(z, STEP_M)).max()
    return z.mean() + (z - z.mean()) * min(1.0, 0.9 * STEEPEST / steepest)


def _strokes(road: Road, plan: Settlement) -> list[Stroke]:
    strokes = [
        Stroke(material=GRAVEL, points_m=road.points_m, width_m=ROAD_M + 1.8),
        *road.strokes(),
    ]
    for building in plan.buildings.values():
        # A yard around each house, and a track to the road.
        strokes.append(Stroke(material=CONCRETE, points_m=building.corners(1.2)))
        strokes.append(Stroke(material=GRAVEL, points_m=building.corners(3.5)))
        _, s = road.nearest(np.array(building.x_m), np.array(building.y_m))
        track = np.array([[building.x_m, building.y_m], road.at(float(s))[:2]])
        strokes.append(Stroke(material=GRAVEL, points_m=track, width_m=3.0))
    return strokes


def _plan(site: Site, road: Road, seed: int) -> Settlement:
    rng = np.random.default_rng([seed, 62])
    free = FreeGround(site.low_m + 1.0, site.high_m - 1.0)
    free.reserve_line(road.points_m, ROAD_M + 6.0)
    buildings = _buildings(site, road, free, rng)
    poles, boards = [], {}
    for s in np.arange(12.0, LENGTH_M, POLE_M):
        x, y, _ = road.at(s, ROAD_M / 2.0 + 2.2)
        z = float(site.height(x, y))
        if FLOWN.is_free(x, y, 0.13, z + POLE_HIGH_M):
            poles.append(pole_solid(x, y, z, POLE_HIGH_M, 0.13))
    for k in range(1, 10):
        x, y, yaw = road.at(100.0 * k, -(ROAD_M / 2.0 + 2.0))
        z = float(site.height(x, y))
        poles.append(pole_solid(x, y, z, 1.5, 0.04))
        body = box(
            np.array([-0.45, -0.03, 1.4]), np.array([0.45, 0.03, 1.95]), (0.0, 0.0, 2.0, 1.0)
        )
        body = turned(body, x, y, z, yaw + math.pi / 2.0)
        boards[f"board {k}"] = Board(body=body, lines=(f"{k}00 m",), colour=(30, 84, 60))
    cars = []
    for _ in range(14):
        side = rng.choice([-1.0, 1.0])
        x, y, yaw = road.at(rng.uniform(20.0, LENGTH_M - 20.0), side * (ROAD_M / 2.0 + 4.2))
        if free.reserve_disc(x, y, 2.3):
            cars.append(Car(x_m=x, y_m=y, z_m=float(site.height(x, y)), yaw=yaw))
    plants = _plants(site, road, free, rng)
    return Settlement(
        buildings=buildings, cars=cars, plants=plants, posts=poles, boards=boards, seed=seed
    )


def _buildings(site: Site, road: Road, free: FreeGround, rng) -> dict[str, Building]:
    """Farms and houses in three hamlets along the road."""
    buildings: dict[str, Building] = {}
    hamlets = (rng.uniform(120.0, 200.0), rng.uniform(440.0, 560.0), rng.uniform(800.0, 880.0))
    for _ in range(800):
        if len(buildings) == N_BUILDINGS:
            break
        s = hamlets[rng.integers(3)] + rng.normal(0.0, 45.0)
        side = rng.choice([-1.0, 1.0])
        length, width = rng.uniform(9.0, 22.0), rng.uniform(7.0, 11.0)
        x, y, yaw = road.at(
            np.clip(s, 15.0, LENGTH_M - 15.0), side * (5.5 + width / 2.0 + rng.uniform(2.0, 22.0))
        )
        yaw += (0.0 if side < 0 else math.pi) + rng.normal(0.0, 0.15)
        plan = Building(
            x_m=x, y_m=y, z_m=float(site.height(x, y)) + 0.05, yaw=yaw, length_m=length,
            width_m=width, n_storeys=int(rng.integers(1, 3)), style=int(rng.integers(6)),
            seed=int(rng.integers(2**31)), pitched=bool(rng.random() < 0.8),
            gates=bool(rng.random() < 0.3), storey_m=2.9, bay_m=float(rng.uniform(2.6, 3.6)),
        )  # fmt: skip
        radius, high = math.hypot(length, width) / 2.0, plan.wall_m + plan.ridge_m
        if FLOWN.is_free(x, y, radius, plan.z_m + high) and free.reserve(plan.corners(3.0)):
            buildings[f"house {len(buildings) + 1}"] = plan
    return buildings


def _plants(site: Site, road: Road, free: FreeGround, rng) -> list[Plant]:
    plants = []
    for kind, n, low, high, room in (
        ("tree", 130, 5.0, 11.0, 2.0), ("conifer", 60, 5.0, 12.0, 1.6),
        ("bush", 150, 0.6, 1.6, 0.8), ("stone", 60, 0.25, 0.9, 0.6),
    ):  # fmt: skip
        for _ in range(n):
            offset = rng.choice([-1.0, 1.0]) * (6.0 + rng.gamma(1.3, 9.0))
            x, y, _ = road.at(rng.uniform(0.0, LENGTH_M), offset)
            if road.nearest(np.array(x), np.array(y))[0] < 5.0 + room:
                continue
            if free.reserve_disc(x, y, room):
                height, z = rng.uniform(low, high), float(site.height(x, y))
                plant = Plant(kind=kind, x_m=x, y_m=y, z_m=z, height_m=height)
                radius, top = plant.room_m
                if FLOWN.is_free(x, y, radius, z + top):
                    plants.append(plant)
    return plants
