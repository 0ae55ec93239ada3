# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The generated campus: a loop road of 300 m with buildings, trees, lamps and parked cars.

The road runs counter-clockwise about the map's origin and begins at its start point. It is smooth
and flat enough for a ground robot; lawns beside it are rougher.
"""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_generated_worlds.buildings import Building
from aerotwin_generated_worlds.furniture import street_lamp
from aerotwin_generated_worlds.plants import Plant
from aerotwin_generated_worlds.roads import FreeGround, Road, level_pads, loop_road
from aerotwin_generated_worlds.settlement import Car, Settlement, settlement_meshes
from aerotwin_generated_worlds.site import Site, Stroke, grid_line, land
from aerotwin_generated_worlds.surfaces import ASPHALT, CONCRETE, SOIL, WHITE
from aerotwin_meshes.mesh import TexturedMesh

LOOP_M, ROAD_M, WALKWAY_M = 300.0, 6.4, 1.8
HALF_SITE_M = (92.0, 78.0)
CHUNKS = (4, 3)
LAMP_M = 25.0
BAYS = (
    (20.0, 52.0, -1),
    (88.0, 112.0, 1),
    (130.0, 162.0, -1),
    (196.0, 220.0, 1),
    (244.0, 276.0, -1),
)
"""Stretches of parking bays beside the road: from, to [m along], side."""
NAMES = (
    "LIBRARY", "PHYSICS", "CHEMISTRY", "MENSA", "ROBOTICS LAB", "MAIN HALL", "MATHEMATICS",
    "HEALTH CENTRE", "BIOLOGY", "WORKSHOP", "DORMITORY A", "DORMITORY B", "ARTS", "LAW",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CampusParameters:
    """Parameters of the generated campus."""

    seed: int = parameter(default=7, text="Seed of all shapes and colours.", minimum=0)
    spacing_m: float = parameter(
        default=0.4, text="Vertex spacing of the ground.", unit="m", minimum=0.15, maximum=4
    )
    texel_m: float = parameter(
        default=0.03, text="Texel size of ground and walls.", unit="m", minimum=0.0225, maximum=0.5
    )


def build_campus(parameters: CampusParameters) -> tuple[TexturedMesh, ...]:
    """Generate the campus; the same parameters give the same bytes.

    The meshes are ground in chunks, buildings, cars, lamps, plants.
    """
    seed, texel, spacing = parameters.seed, parameters.texel_m, parameters.spacing_m
    road = campus_road(seed)
    x, y = (grid_line(-half, half, spacing, k) for half, k in zip(HALF_SITE_M, CHUNKS, strict=True))
    even = land(x, y, wave_m=130.0, rise_m=0.9, bumps_m=0.0, seed=seed)
    rough = land(x, y, wave_m=130.0, rise_m=0.9, bumps_m=0.10, seed=seed)
    distance, _ = road.nearest(*np.meshgrid(x, y))
    lawn = np.clip((distance - 8.5) / 5.0, 0.0, 1.0)
    base = Site(x_m=x, y_m=y, z_m=even + lawn * (rough - even), seed=seed)
    plan = _plan(base, road, seed)
    pads = [
        (b.x_m, b.y_m, b.yaw, b.length_m + 1.0, b.width_m + 1.0, b.z_m)
        for b in plan.buildings.values()
    ]
    weight = np.clip((10.0 - distance) / 2.0, 0.0, 1.0)
    z = level_pads(x, y, base.z_m, pads, reach_m=5.0)
    site = Site(
        x_m=x, y_m=y, z_m=z + weight * (base.z_m - z), seed=seed, strokes=_strokes(road, plan)
    )
    return settlement_meshes(site, plan, chunks=CHUNKS, ground_texel_m=texel, texel_m=texel)


def campus_road(seed: int) -> Road:
    """Return the loop: a rounded rectangle whose sides bend by a few metres."""
    rng = np.random.default_rng([seed, 51])
    corners = np.array(
        [
            [0, -33], [30, -33], [46, -24], [49, 0], [45, 24], [28, 33],
            [0, 31], [-28, 34], [-46, 24], [-48, 0], [-46, -24], [-30, -34],
        ],
        float,
    )  # fmt: skip
    corners += rng.uniform(-1.8, 1.8, corners.shape)
    return loop_road(corners, LOOP_M, ROAD_M)


def _strokes(road: Road, plan: Settlement) -> list[Stroke]:
    strokes = road.strokes(walkway_m=WALKWAY_M)
    strokes += [Stroke(material=CONCRETE, points_m=b.corners(1.3)) for b in plan.buildings.values()]
    edge = ROAD_M / 2.0
    for s0, s1, side in BAYS:
        bay = road.beside(side * (edge + 1.2), s0, s1)
        strokes.append(Stroke(material=ASPHALT, points_m=bay, width_m=2.5))
        for s in np.arange(s0, s1 + 0.1, 6.0):
            x0, y0, _ = road.at(s, side * edge)
            x1, y1, _ = road.at(s, side * (edge + 2.3))
            strokes.append(
                Stroke(material=WHITE, points_m=np.array([[x0, y0], [x1, y1]]), width_m=0.1)
            )
    for s in (12.0, 78.0, 172.0, 232.0):
        strokes += road.crossing(s)
    for s in (66.0, 122.0, 184.0, 286.0):
        strokes.append(
            Stroke(material=SOIL, points_m=road.beside(-(edge + 6.0), s, s + 7.0), width_m=1.6)
        )
    return strokes


def _plan(site: Site, road: Road, seed: int) -> Settlement:
    """Choose positions: buildings first, then cars, lamps, trees and bushes on the free ground."""
    rng = np.random.default_rng([seed, 52])
    free = FreeGround(site.low_m + 1.0, site.high_m - 1.0)
    free.reserve_line(road.points_m, ROAD_M + 2.0 * (3.6 + WALKWAY_M))
    buildings = _buildings(site, road, free, rng)
    cars = []
    for s0, s1, side in BAYS:
        for s in np.arange(s0 + 3.0, s1, 6.0):
            x, y, yaw = road.at(s + rng.normal(0.0, 0.3), side * (ROAD_M / 2.0 + 1.15))
            if rng.random() < 0.7:
                turn = yaw if side < 0 else yaw + math.pi
                cars.append(Car(x_m=x, y_m=y, z_m=float(site.height(x, y)), yaw=turn))
    lamps = []
    for k, s in enumerate(np.arange(6.0, LOOP_M, LAMP_M)):
        side = 1 if k % 2 else -1
        x, y, yaw = road.at(s, side * (ROAD_M / 2.0 + 2.65))
        inwards = yaw - side * math.pi / 2.0
        lamps.append(street_lamp(x, y, float(site.height(x, y)), inwards, 5.5))
    return Settlement(
        buildings=buildings,
        cars=cars,
        posts=lamps,
        plants=_plants(site, road, free, rng),
        seed=seed,
    )


def _buildings(site, road: Road, free: FreeGround, rng) -> dict[str, Building]:
    """Buildings along the road on both sides, as many as fit."""
    buildings: dict[str, Building] = {}
    for trial in range(600):
        if len(buildings) == len(NAMES):
            break
        length, width = rng.uniform(16.0, 34.0), rng.uniform(10.0, 14.0)
        if trial > 300:
            length, width = rng.uniform(11.0, 18.0), rng.uniform(8.0, 10.0)
        side = rng.choice([-1.0, 1.0])
        offset = side * (ROAD_M / 2.0 + 7.0 + width / 2.0 + rng.uniform(0.0, 6.0))
        x, y, yaw = road.at(rng.uniform(0.0, LOOP_M), offset)
        yaw += 0.0 if side < 0 else math.pi
        plan = Building(
            x_m=x, y_m=y, z_m=float(site.height(x, y)) + 0.1, yaw=yaw, length_m=length,
            width_m=width, n_storeys=int(rng.integers(1, 5)), style=int(rng.integers(6)),
            seed=int(rng.integers(2**31)), pitched=bool(rng.random() < 0.3),
            sign=NAMES[len(buildings)], gates=bool(rng.random() < 0.15),
            bay_m=float(rng.uniform(3.0, 4.4)), storey_m=float(rng.uniform(3.1, 3.7)),
        )  # fmt: skip
        if free.reserve(plan.corners(2.0)):
            buildings[plan.sign.lower()] = plan
    return buildings


def _plants(site: Site, road: Road, free: FreeGround, rng) -> list[Plant]:
    plants = [
        Plant(
            kind="tree", x_m=x, y_m=y, z_m=float(site.height(x, y)), height_m=rng.uniform(6.0, 11.0)
        )
        for x, y in _rim(rng)
        if free.reserve_disc(x, y, 2.0)
    ]
    for kind, n, low, high, room in (
        ("tree", 70, 5.0, 10.5, 2.2), ("conifer", 16, 5.0, 9.0, 1.6),
        ("bush", 60, 0.6, 1.4, 0.8), ("stone", 20, 0.25, 0.7, 0.6),
    ):  # fmt: skip
        for _ in range(n):
            near = rng.random() < 0.6
            offset = rng.choice([-1.0, 1.0]) * rng.uniform(9.5, 14.0 if near else 40.0)
            x, y, _ = road.at(rng.uniform(0.0, LOOP_M), offset)
            if free.reserve_disc(x, y, room):
                height = rng.uniform(low, high)
                z = float(site.height(x, y))
                plants.append(Plant(kind=kind, x_m=x, y_m=y, z_m=z, height_m=height))
    return plants


def _rim(rng) -> np.ndarray:
    across, up = HALF_SITE_M[0] - 5.0, HALF_SITE_M[1] - 5.0
    x, y = np.arange(-across, across, 9.0), np.arange(-up, up, 9.0)
    sides = [np.column_stack([x, np.full(len(x), side * up)]) for side in (-1, 1)]
    sides += [np.column_stack([np.full(len(y), side * across), y]) for side in (-1, 1)]
    places = np.concatenate(sides)
    return places + rng.uniform(-2.5, 2.5, places.shape)
