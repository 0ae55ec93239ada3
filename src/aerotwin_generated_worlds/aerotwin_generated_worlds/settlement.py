# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settlement: the objects on a site, and the meshes of ground and objects under one sun."""

from collections.abc import Callable
from dataclasses import dataclass, field

from aerotwin_generated_worlds import furniture
from aerotwin_generated_worlds.buildings import Building, building_mesh, building_solid
from aerotwin_generated_worlds.plants import Plant, plant_mesh, plant_patch, plant_texture
from aerotwin_generated_worlds.site import Site, ground_meshes
from aerotwin_generated_worlds.solids import Patch, join
from aerotwin_generated_worlds.stands import Sweep, sweep_mesh
from aerotwin_generated_worlds.sunlight import cast_shade
from aerotwin_meshes.mesh import TexturedMesh


@dataclass(frozen=True, kw_only=True)
class Car:
    """A parked car: position [m], heading [rad] and size."""

    x_m: float
    y_m: float
    z_m: float
    yaw: float
    size: float = 1.0

    def solid(self) -> Patch:
        """Return the closed surface in the map."""
        return furniture.car_solid(self.x_m, self.y_m, self.z_m, self.yaw, self.size)


@dataclass(frozen=True, kw_only=True)
class Board:
    """A body with lines of text on all sides."""

    body: Patch
    lines: tuple[str, ...]
    colour: tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """All objects on a site; ``seat_colours`` are those of the blocks of seats of stands."""

    seed: int
    buildings: dict[str, Building] = field(default_factory=dict)
    sweeps: dict[str, Sweep] = field(default_factory=dict)
    cars: list[Car] = field(default_factory=list)
    plants: list[Plant] = field(default_factory=list)
    posts: list[Patch] = field(default_factory=list)
    boards: dict[str, Board] = field(default_factory=dict)
    seat_colours: tuple = ((0.0, 0.0, 0.0),)


def settlement_meshes(
    site: Site,
    plan: Settlement,
    *,
    chunks: tuple[int, int],
    ground_texel_m: float | Callable,
    texel_m: float,
    shade_cell_m: float = 0.25,
) -> tuple[TexturedMesh, ...]:
    """Return ground, sweeps, buildings, cars, boards, posts and plants, in this order."""
    seed = plan.seed
    plants = plant_patch(plan.plants, seed) if plan.plants else None
    cars = [car.solid() for car in plan.cars]
    solids = [sweep.solid() for sweep in plan.sweeps.values()]
    solids += [building_solid(building) for building in plan.buildings.values()]
    solids += [*cars, *plan.posts, *(board.body for board in plan.boards.values())]
    bodies = [(solid.vertices, solid.triangles) for solid in solids]
    bodies += [(plants.vertices, plants.triangles)] if plants else []
    shade = cast_shade(site.low_m, site.high_m, bodies, site.z_m, cell_m=shade_cell_m)
    meshes = [*ground_meshes(site, shade, chunks=chunks, texel_m=ground_texel_m)]
    meshes += [
        sweep_mesh(sweep, shade, plan.seat_colours, name=name, texel_m=texel_m, seed=seed + k)
        for k, (name, sweep) in enumerate(plan.sweeps.items())
    ]
    meshes += [
        building_mesh(building, shade, name=name, texel_m=texel_m)
        for name, building in plan.buildings.items()
    ]
    meshes += [
        furniture.lit_mesh(car, shade, furniture.car_texture(seed * 1000 + k), f"car {k}")
        for k, car in enumerate(cars)
    ]
    meshes += [
        furniture.lit_mesh(
            board.body, shade, furniture.board_texture(board.lines, board.colour, seed), name
        )
        for name, board in plan.boards.items()
    ]
    if plan.posts:
        metal = furniture.metal_texture(seed)
        meshes.append(furniture.lit_mesh(join(plan.posts), shade, metal, "posts"))
    if plants:
        meshes.append(plant_mesh(plants, shade, plant_texture(seed), "plants"))
    return tuple(meshes)
