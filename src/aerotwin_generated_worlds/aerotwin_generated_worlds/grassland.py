# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The generated grassland: gentle hills of grass with few bushes and stones, hard for SLAM.

A foot path crosses it past the map's origin, where the ground is level for the take-off.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_generated_worlds.plants import Plant
from aerotwin_generated_worlds.roads import Airspace, level_pads
from aerotwin_generated_worlds.settlement import Settlement, settlement_meshes
from aerotwin_generated_worlds.site import Site, Stroke, grid_line, land
from aerotwin_generated_worlds.surfaces import GRAVEL
from aerotwin_meshes.mesh import TexturedMesh

HALF_SITE_M, N_CHUNKS = 100.0, 4
WAVE_M, HILLS_M, BUMPS_M = 110.0, 3.6, 0.16
CLEAR_M = 6.0
"""Nothing stands closer to the start than this."""
FLOWN = Airspace(points_m=(
    (0.0, 0.0, 6.0), (15.0, 4.0, 6.3), (26.0, 15.0, 6.1), (30.0, 30.0, 5.9),
    (26.0, 45.0, 6.1), (15.0, 56.0, 5.8), (0.0, 60.0, 5.7), (-15.0, 56.0, 5.7),
    (-26.0, 45.0, 5.6), (-30.0, 30.0, 5.0), (-26.0, 15.0, 4.9), (-15.0, 4.0, 5.5),
    (0.0, 0.0, 6.0),
))  # fmt: skip
"""The circle that the mission flies."""


@dataclass(frozen=True, kw_only=True)
class GrasslandParameters:
    """Parameters of the generated grassland."""

    seed: int = parameter(default=7, text="Seed of all shapes and colours.", minimum=0)
    spacing_m: float = parameter(
        default=0.5, text="Vertex spacing of the ground.", unit="m", minimum=0.2, maximum=4
    )
    texel_m: float = parameter(
        default=0.03, text="Texel size of the ground.", unit="m", minimum=0.02, maximum=0.5
    )
    bushes_per_hectare: float = parameter(
        default=22.0,
        text="Bushes on 100 m by 100 m; a fifth as many trees.",
        minimum=0,
        maximum=200,
    )
    stones_per_hectare: float = parameter(
        default=40.0, text="Stones on 100 m by 100 m.", minimum=0, maximum=400
    )


def build_grassland(parameters: GrasslandParameters) -> tuple[TexturedMesh, ...]:
    """Generate the grassland; the same parameters give the same bytes.

    The meshes are ground in chunks, then plants and stones if there are any.
    """
    seed, texel = parameters.seed, parameters.texel_m
    line = grid_line(-HALF_SITE_M, HALF_SITE_M, parameters.spacing_m, N_CHUNKS)
    z = land(line, line, wave_m=WAVE_M, rise_m=HILLS_M, bumps_m=BUMPS_M, seed=seed)
    start_z = float(z[len(line) // 2, len(line) // 2])
    z = level_pads(line, line, z, [(0.0, 0.0, 0.0, 2.0, 2.0, start_z)])
    site = Site(x_m=line, y_m=line, z_m=z, seed=seed, strokes=[_path(seed)])
    plan = Settlement(seed=seed, plants=_plants(site, parameters))
    return settlement_meshes(
        site, plan, chunks=(N_CHUNKS, N_CHUNKS), ground_texel_m=texel, texel_m=texel
    )


def _path(seed: int) -> Stroke:
    rng = np.random.default_rng([seed, 71])
    x = np.linspace(-HALF_SITE_M, HALF_SITE_M, 201)
    y = np.zeros_like(x)
    for _ in range(3):
        wave, phase = rng.uniform(14.0, 40.0), rng.uniform(0.0, 2.0 * np.pi)
        y += rng.uniform(2.0, 7.0) * np.sin(x / wave + phase)
    y += 3.0 - np.interp(0.0, x, y)
    return Stroke(material=GRAVEL, points_m=np.column_stack([x, y]), width_m=1.1)


def _plants(site: Site, parameters: GrasslandParameters) -> list[Plant]:
    rng = np.random.default_rng([parameters.seed, 72])
    hectares = (2.0 * HALF_SITE_M / 100.0) ** 2
    plants = []
    for kind, density, low, high in (
        ("bush", parameters.bushes_per_hectare, 0.5, 1.7),
        ("tree", parameters.bushes_per_hectare / 5.0, 4.0, 8.0),
        ("stone", parameters.stones_per_hectare, 0.15, 0.9),
    ):
        for _ in range(round(density * hectares)):
            x, y = rng.uniform(-HALF_SITE_M + 2.0, HALF_SITE_M - 2.0, 2)
            height = low + (high - low) * rng.random() ** 2
            if np.hypot(x, y) > CLEAR_M:
                z = float(site.height(x, y))
                plant = Plant(kind=kind, x_m=x, y_m=y, z_m=z, height_m=height)
                radius, top = plant.room_m
                if FLOWN.is_free(x, y, radius, z + top):
                    plants.append(plant)
    return plants
