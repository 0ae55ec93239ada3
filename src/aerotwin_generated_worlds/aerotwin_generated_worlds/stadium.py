# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The generated stadium: a football field with stands on three sides, on a site of 250 m.

The field lies along x about the map's origin. Stands rise in the north, east and south; behind the
northern one is the press building, in the west an open end with scoreboard and concessions. South
of it is the car park, and a wall with trees before it surrounds the site.
"""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_generated_worlds import furniture, stands
from aerotwin_generated_worlds.buildings import Building
from aerotwin_generated_worlds.plants import Plant
from aerotwin_generated_worlds.settlement import Board, Car, Settlement, settlement_meshes
from aerotwin_generated_worlds.site import Site, Stroke, grid_line, land
from aerotwin_generated_worlds.solids import Patch, box, turned
from aerotwin_generated_worlds.stands import Sweep
from aerotwin_generated_worlds.surfaces import ASPHALT, CONCRETE, FIELD, SOIL, TRACK, WHITE, YELLOW
from aerotwin_meshes.mesh import TexturedMesh

HALF_SITE_M, WALL_M = 125.0, 118.0
YARD_M = 0.9144
FIELD_HALF_M = (60.0 * YARD_M, 53.0 * YARD_M / 2.0 + 0.15)
"""Half of 120 by 53 1/3 yards."""
FRONT_M = 32.5
"""Distance of the stands from the field's long axis."""
CAR_PARK = (-70.0, 62.0, -108.0, -72.0)
SEATS = ((36.0, 92.0, 66.0), (42.0, 104.0, 74.0), (172.0, 170.0, 160.0), (34.0, 84.0, 60.0))
N_CHUNKS = 4


@dataclass(frozen=True, kw_only=True)
class StadiumParameters:
    """Parameters of the generated stadium."""

    seed: int = parameter(default=7, text="Seed of all shapes and colours.", minimum=0)
    spacing_m: float = parameter(
        default=0.7,
        text="Vertex spacing of ground and stands; 0.27 makes 2 million triangles.",
        unit="m",
        minimum=0.25,
        maximum=5,
    )
    texel_m: float = parameter(
        default=0.035, text="Texel size of ground and walls.", unit="m", minimum=0.033, maximum=0.5
    )


def build_stadium(parameters: StadiumParameters) -> tuple[TexturedMesh, ...]:
    """Generate the stadium; the same parameters give the same bytes.

    The meshes are ground in chunks, stands, walls, buildings, cars, posts, boards, plants.
    """
    seed, texel = parameters.seed, parameters.texel_m
    line = grid_line(-HALF_SITE_M, HALF_SITE_M, parameters.spacing_m, N_CHUNKS)
    z = land(line, line, wave_m=90.0, rise_m=0.25, bumps_m=0.10, seed=seed)
    site = Site(x_m=line, y_m=line, z_m=_levelled(line, z), seed=seed, strokes=_strokes())
    plan = Settlement(
        seed=seed,
        buildings=_buildings(seed),
        sweeps={**_stands(parameters.spacing_m), **_walls(parameters.spacing_m)},
        cars=_cars(seed),
        plants=_plants(site, seed),
        posts=_posts(),
        boards={"scoreboard": _scoreboard()},
        seat_colours=SEATS,
    )
    site.strokes.extend(
        Stroke(material=CONCRETE, points_m=b.corners(1.3)) for b in plan.buildings.values()
    )
    chunks = (N_CHUNKS, N_CHUNKS)
    return settlement_meshes(site, plan, chunks=chunks, ground_texel_m=texel, texel_m=texel)


def _levelled(line: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Level the field, aprons and car park; a berm rises towards the wall."""
    x, y = np.meshgrid(line, line)
    inside = np.clip((105.0 - np.maximum(np.abs(x), np.abs(y))) / 14.0, 0.0, 1.0)
    berm = 1.1 * (1.0 - inside) ** 2
    crown = 0.25 * np.clip(1.0 - (y / FIELD_HALF_M[1]) ** 2, 0.0, 1.0) * (np.abs(x) < 56.0)
    return z * (1.0 - 0.9 * inside) + berm + crown


def _stands(spacing: float) -> dict[str, Sweep]:
    sweeps = {}
    corner, x0, x1 = 18.0, -46.0, 40.0
    north, north_out = stands.straight([x0, FRONT_M], [x1, FRONT_M], spacing)
    south, south_out = stands.straight([x1, -FRONT_M], [x0, -FRONT_M], spacing)
    east, east_out = stands.bowl(corner, FRONT_M, 46.0, spacing)
    for name, points, outward, n_rows in (
        ("stand north", north, north_out, 26),
        ("stand south", south, south_out, 22),
        ("stand east", east, east_out, 14),
    ):
        profile, pieces = stands.stand_profile(n_rows, 1.5)
        sweeps[name] = Sweep(points_m=points, outward=outward, profile_m=profile, pieces=pieces)
    return sweeps


def _walls(spacing: float) -> dict[str, Sweep]:
    """The wall about the site, with gates in the west and the south."""
    w = WALL_M
    runs = {
        "wall north": ([-w, w], [w, w]),
        "wall east": ([w, w - 0.6], [w, 0.6 - w]),
        "wall south east": ([w, -w], [10.0, -w]),
        "wall south west": ([-10.0, -w], [-w, -w]),
        "wall west south": ([-w, 0.6 - w], [-w, -12.0]),
        "wall west north": ([-w, 12.0], [-w, w - 0.6]),
    }
    profile, pieces = stands.wall_profile(2.6, 0.3)
    return {
        name: Sweep(
            **dict(zip(("points_m", "outward"), stands.straight(a, b, 4.0 * spacing))),
            profile_m=profile + np.array([0.0, 0.9]),
            pieces=pieces,
        )
        for name, (a, b) in runs.items()
    }


def _buildings(seed: int) -> dict[str, Building]:
    rng = np.random.default_rng([seed, 41])
    # Name, x, y, yaw [deg], length, width, storeys, style, pitched, sign, gates.
    table = [
        ("press box", -3.0, 61.8, 180.0, 62.0, 9.0, 5, 2, False, "PRESS BOX", False),
        ("concessions north", -66.0, 44.0, 90.0, 26.0, 9.0, 1, 0, False,
         "HOT DOGS  PRETZELS", True),
        ("concessions south", -66.0, -44.0, 90.0, 26.0, 9.0, 1, 0, False, "SNACKS  DRINKS", True),
        ("field house", -92.0, 8.0, 90.0, 38.0, 15.0, 2, 3, False, "FIELD HOUSE", False),
        ("ticket office", -30.0, -66.0, 0.0, 14.0, 7.0, 1, 1, True, "TICKETS", False),
        ("fan shop", 22.0, -66.0, 0.0, 24.0, 8.0, 1, 5, False, "FAN SHOP", True),
        ("maintenance", 92.0, 62.0, 90.0, 30.0, 16.0, 2, 4, False, "MAINTENANCE", True),
        ("training hall", 88.0, -68.0, 90.0, 44.0, 22.0, 2, 2, False, "TRAINING HALL", False),
        ("guard house", -104.0, -30.0, 90.0, 7.0, 5.0, 1, 1, True, "", False),
        ("academy", -78.0, 88.0, 0.0, 46.0, 13.0, 3, 0, False, "ACADEMY", False),
        ("offices", 30.0, 92.0, 0.0, 56.0, 14.0, 3, 5, False, "ADMINISTRATION", False),
    ]  # fmt: skip
    return {
        name: Building(
            x_m=x, y_m=y, z_m=0.12, yaw=math.radians(yaw), length_m=length, width_m=width,
            n_storeys=storeys, style=style, seed=int(rng.integers(2**31)), pitched=pitched,
            sign=sign, gates=gates,
        )
        for name, x, y, yaw, length, width, storeys, style, pitched, sign, gates in table
    }  # fmt: skip


def _rectangle(x0: float, x1: float, y0: float, y1: float) -> np.ndarray:
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


def _strokes() -> list[Stroke]:
    """Paths, field and its lines, and car park, painted on the ground."""
    strokes = [
        Stroke(
            material=ASPHALT, points_m=_rectangle(CAR_PARK[0] - 4, CAR_PARK[1] + 4, *CAR_PARK[2:])
        ),
        Stroke(material=ASPHALT, points_m=np.array([[0.0, -124.0], [0.0, -90.0]]), width_m=9.0),
        Stroke(material=ASPHALT, points_m=np.array([[-124.0, 0.0], [-70.0, 0.0]]), width_m=12.0),
        Stroke(material=CONCRETE, points_m=_rectangle(-82.0, 72.0, -64.0, 74.0)),
        Stroke(material=CONCRETE, points_m=_rectangle(-82.0, 82.0, -70.5, -62.0)),
        Stroke(material=CONCRETE, points_m=_rectangle(70.0, 82.0, -70.5, 74.0)),
        Stroke(material=CONCRETE, points_m=np.array([[-76.0, 74.0], [96.0, 80.0]]), width_m=5.0),
        Stroke(material=TRACK, points_m=_rectangle(-62.0, 64.0, -FRONT_M, FRONT_M)),
        Stroke(material=SOIL, points_m=np.array([[-80.0, 78.0], [80.0, 78.0]]), width_m=1.4),
    ]
    a, b = FIELD_HALF_M
    strokes.append(
        Stroke(material=FIELD, points_m=_rectangle(-a - 2.5, a + 2.5, -b - 2.5, b + 2.5))
    )
    return [*strokes, *_field_lines(), *_car_park_lines()]


def _line(x0, y0, x1, y1, width=0.12, material=WHITE) -> Stroke:
    return Stroke(material=material, points_m=np.array([[x0, y0], [x1, y1]]), width_m=width)


def _field_lines() -> list[Stroke]:
    """Lines each five yards, hash marks each yard, numbers each ten, a border of six feet."""
    a, b = FIELD_HALF_M
    lines = [_line(-a, s * (b + 0.9), a, s * (b + 0.9), 1.8) for s in (-1, 1)]
    lines += [_line(s * (a + 0.9), -b, s * (a + 0.9), b, 1.8) for s in (-1, 1)]
    for yards in range(-50, 51):
        x = yards * YARD_M
        if yards % 5 == 0:
            lines.append(_line(x, -b, x, b))
        else:
            lines += [_line(x, y - 0.3, x, y + 0.3) for y in (-b + 0.5, -6.1, 6.1, b - 0.5)]
        if yards % 10 == 0 and abs(yards) < 50:
            text = str(50 - abs(yards))
            lines += [
                Stroke(material=WHITE, points_m=np.array([[x - 1.7, y]]), width_m=1.8, text=text)
                for y in (-b + 6.4, b - 8.2)
            ]
    for x, text in ((-a + 1.2, "WEST"), (a - 8.2, "EAST")):
        place = np.array([[x, -1.2]])
        lines.append(Stroke(material=YELLOW, points_m=place, width_m=2.4, text=text))
    return lines


def _car_park_lines() -> list[Stroke]:
    x0, x1, y0, y1 = CAR_PARK
    rows = (y1 - 1.0, y1 - 17.0, y0 + 17.0)
    lines = [_line(x, y, x, y - 5.0, 0.10) for y in rows for x in np.arange(x0, x1 + 0.1, 2.75)]
    lines += [_line(x0, y - 5.0, x1, y - 5.0, 0.10) for y in rows[1:]]
    arrows = [_line(x, y1 - 11.5, x + 3.0, y1 - 11.5, 0.2, YELLOW) for x in range(-60, 60, 17)]
    return lines + arrows


def _cars(seed: int) -> list[Car]:
    rng = np.random.default_rng([seed, 42])
    x0, x1, y0, y1 = CAR_PARK
    cars = []
    for y in (y1 - 3.5, y1 - 19.5, y0 + 14.5):
        for x in np.arange(x0 + 1.375, x1, 2.75):
            if rng.random() < 0.42 and abs(x) > 7.0:
                yaw = math.pi / 2.0 * (1 if rng.random() < 0.7 else -1) + rng.normal(0.0, 0.03)
                place = x + rng.normal(0.0, 0.10), y + rng.normal(0.0, 0.2)
                size = rng.uniform(0.95, 1.12)
                cars.append(Car(x_m=place[0], y_m=place[1], z_m=0.0, yaw=yaw, size=size))
    return cars


def _plants(site: Site, seed: int) -> list[Plant]:
    """Trees along the wall, in the car park and before the offices; hedges between them."""
    rng = np.random.default_rng([seed, 43])
    specs = []
    for side in range(4):
        for along in np.arange(-108.0, 109.0, 9.5):
            offset = rng.normal(0.0, 1.6, 2)
            x, y = (along, 112.0) if side % 2 else (112.0, along)
            x, y = (x, y) if side < 2 else (-x, -y)
            if (abs(y) < 16.0 and x < -100.0) or (abs(x) < 14.0 and y < -100.0):
                continue
            kind = "conifer" if rng.random() < 0.25 else "tree"
            specs.append((kind, x + offset[0], y + offset[1], rng.uniform(6.5, 11.0)))
    specs += [
        ("tree", x, -89.9 + rng.normal(0, 0.2), rng.uniform(5, 7)) for x in range(-64, 60, 15)
    ]
    specs += [("tree", x, 80.0, rng.uniform(5.0, 7.5)) for x in range(-40, 70, 14)]
    specs += [("bush", x, 78.0, rng.uniform(0.8, 1.3)) for x in np.arange(-78.0, 78.0, 2.9)]
    return [
        Plant(kind=k, x_m=x, y_m=y, z_m=float(site.height(x, y)), height_m=h)
        for k, x, y, h in specs
    ]


def _posts() -> list[Patch]:
    """Six masts with flood lights, two goals, the scoreboard's posts."""
    masts = [
        furniture.flood_light_mast(x, y, 0.0, math.copysign(math.pi / 2.0, -y), 27.0)
        for x in (-52.0, -3.5, 45.0)
        for y in (-58.5, 70.0)
    ]
    goals = []
    for side in (-1.0, 1.0):
        x = side * (FIELD_HALF_M[0] + 0.6)
        goals.append(furniture.pole_solid(x + 1.2 * side, 0.0, 0.0, 3.05, 0.10))
        for low, high in (
            ((-0.06, -2.82, 3.0), (0.06, 2.82, 3.12)),
            ((-0.06, -0.06, 3.0), (1.26, 0.06, 3.11)),
        ):
            beam = box(np.array(low), np.array(high), (0.02, 0.1, 0.2, 0.3))
            goals.append(turned(beam, x, 0.0, 0.0, 0.0 if side > 0.0 else math.pi))
        goals += [furniture.pole_solid(x, y, 4.12, 6.0, 0.05) for y in (-2.76, 2.76)]
    legs = [furniture.pole_solid(-74.0, y, 0.0, 4.0, 0.4) for y in (-5.0, 5.0)]
    return [*masts, *goals, *legs]


def _scoreboard() -> Board:
    body = box(np.array([-74.5, -7.0, 4.0]), np.array([-73.5, 7.0, 11.0]), (0.0, 0.0, 4.0, 1.0))
    lines = ("HOME 21   GUEST 14", "QTR 4    07:23")
    return Board(body=body, lines=lines, colour=(34, 38, 44))
