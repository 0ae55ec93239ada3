# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Buildings: closed solids with recessed windows and doors, each with its own texture."""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.threads import fill_bands
from aerotwin_generated_worlds import facades
from aerotwin_generated_worlds.solids import Patch, fan, join, recesses, strips, turned
from aerotwin_generated_worlds.sunlight import AMBIENT, DIRECT, SUN_MAP, Shade
from aerotwin_meshes.mesh import TexturedMesh

FOUNDATION_M = 1.5
"""How far walls reach into the ground."""
PARAPET_M, COPING_M = 0.6, 0.35
NICHE_M, NICHE_RIM = 0.16, 0.12
CORNER_M, SILL_M, LINTEL_M = 0.9, 0.9, 0.55
SKY_ON_WALL = 0.62
"""Share of the sky's light on a level surface that a wall gets."""
# Wall's material and colour, tone of its trims.
STYLES = np.array(
    [
        [facades.BRICK, 152.0, 96.0, 76.0, 205.0],
        [facades.PLASTER, 204.0, 190.0, 160.0, 190.0],
        [facades.PANEL, 170.0, 168.0, 160.0, 90.0],
        [facades.BRICK, 176.0, 140.0, 106.0, 214.0],
        [facades.SHEET, 132.0, 148.0, 156.0, 160.0],
        [facades.PLASTER, 176.0, 182.0, 180.0, 120.0],
    ]
)
FELT = np.array([[104.0, 102.0, 100.0], [128.0, 125.0, 119.0], [90.0, 92.0, 94.0]])
TILES = np.array([[150.0, 86.0, 62.0], [112.0, 76.0, 64.0], [88.0, 90.0, 94.0]])


@dataclass(frozen=True, kw_only=True)
class Building:
    """Plan of a building: a rectangle with storeys.

    ``x_m, y_m, z_m`` is the middle of its floor, ``yaw`` the direction of its long side [rad],
    ``bay_m`` the distance between windows, ``style`` a row of `STYLES`. ``sign`` is the text above
    the doors of both long sides. It has a hipped roof if ``pitched``, else a flat one with a
    parapet; ``gates`` replace the windows of the ground floor.
    """

    x_m: float
    y_m: float
    z_m: float
    yaw: float
    length_m: float
    width_m: float
    n_storeys: int
    style: int
    seed: int
    pitched: bool = False
    sign: str = ""
    storey_m: float = 3.3
    bay_m: float = 3.6
    gates: bool = False

    @property
    def wall_m(self) -> float:
        """Height of the walls above the floor, up to the eaves or the parapet's top [m]."""
        return self.n_storeys * self.storey_m + (0.0 if self.pitched else PARAPET_M)

    @property
    def ridge_m(self) -> float:
        """Height of a hipped roof above the eaves [m]: 30 degrees; 0 for a flat roof."""
        return self.width_m / 2.0 * math.tan(math.radians(30.0)) if self.pitched else 0.0

    def corners(self, margin_m: float = 0.0) -> np.ndarray:
        """Corners (4, 2) of the plan in the map, widened by a margin [m]."""
        half = np.array([self.length_m, self.width_m]) / 2.0 + margin_m
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        local = half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        return local @ np.array([[c, s], [-s, c]]) + [self.x_m, self.y_m]


def _side_edges(length: float, bay: float) -> np.ndarray:
    """Edges of cells along a side: corner, then pane and pier alternating; symmetric."""
    n = max(int((length - 2.0 * CORNER_M + 0.4) / bay), 1)
    pane = 0.52 * bay
    first = (length - (n - 1) * bay - pane) / 2.0
    starts = first + bay * np.arange(n)
    return np.concatenate([[0.0], np.column_stack([starts, starts + pane]).ravel()])


def _levels(plan: Building) -> np.ndarray:
    """Heights of the cells' edges above the floor, from the foundation to the walls' top [m]."""
    floors = plan.storey_m * np.arange(plan.n_storeys)
    panes = np.column_stack([floors + SILL_M, floors + plan.storey_m - LINTEL_M])
    return np.concatenate([[-FOUNDATION_M, 0.0], panes.ravel(), [plan.wall_m]])


def _edges(plan: Building) -> tuple[np.ndarray, np.ndarray]:
    """Cells' edges along the whole unrolled wall [m], and the side (0 .. 3) of each."""
    sides = (plan.length_m, plan.width_m, plan.length_m, plan.width_m)
    edges, side, start = [], [], 0.0
    for k, length in enumerate(sides):
        here = _side_edges(length, plan.bay_m)
        edges.append(start + here)
        side.append(np.full(len(here), k))
        start += length
    return np.concatenate(edges), np.concatenate(side)


def _ring(plan: Building, edges: np.ndarray, inset_m: float = 0.0) -> np.ndarray:
    """Points (n, 2) of the outline at distances along it, counter-clockwise from the south-west."""
    a, b = plan.length_m, plan.width_m
    corners_s = np.array([0.0, a, a + b, 2 * a + b, 2 * (a + b)])
    x = np.interp(edges, corners_s, np.array([-a, a, a, -a, -a]) / 2.0)
    y = np.interp(edges, corners_s, np.array([-b, -b, b, b, -b]) / 2.0)
    return np.column_stack(
        [np.clip(x, inset_m - a / 2, a / 2 - inset_m), np.clip(y, inset_m - b / 2, b / 2 - inset_m)]
    )


def _kinds(plan: Building, edges: np.ndarray, side: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Kind of each cell (up, along) of the wall."""
    kinds = np.full((len(levels) - 1, len(edges)), facades.WALL)
    along = np.arange(len(edges)) - np.searchsorted(side, side)
    pane = along % 2 == 1
    kinds[2::2, pane] = facades.WINDOW
    rng = np.random.default_rng([plan.seed, 11])
    if plan.gates:
        kinds[1:3, pane] = facades.GATE
    for k in (0, 2):
        doors = np.flatnonzero(pane & (side == k))
        kinds[1:3, doors[rng.integers(len(doors))]] = facades.DOOR
    # Blind bays: no two facades have the same pattern.
    blind = (rng.random(kinds.shape) < 0.10) & (kinds == facades.WINDOW)
    kinds[blind] = facades.WALL
    return kinds


def _surface(plan: Building, size_m: tuple[float, float]) -> Patch:
    """Return the closed surface about the plan's middle; see `building_mesh` for the texture."""
    edges, side = _edges(plan)
    levels, kinds = _levels(plan), _kinds(plan, edges, side, _levels(plan))
    width, height = size_m
    ring = _ring(plan, edges)
    loops = np.stack([np.column_stack([ring, np.full(len(ring), z)]) for z in levels])
    u = np.append(edges, 2.0 * (plan.length_m + plan.width_m)) / width
    uv = np.stack(np.meshgrid(u, (plan.wall_m - levels) / height), axis=-1)
    windows = kinds == facades.WINDOW
    k, j = np.nonzero(windows)
    following = (j + 1) % len(edges)
    corners = np.stack(
        [loops[k, j], loops[k, following], loops[k + 1, following], loops[k + 1, j]], 1
    )
    cell_uv = np.stack([uv[k, j], uv[k, j + 1], uv[k + 1, j + 1], uv[k + 1, j]], 1)
    return join(
        [
            strips(loops, uv, without=windows),
            recesses(corners, cell_uv, NICHE_M, NICHE_RIM),
            _roof(plan, edges, loops[-1], size_m),
            fan(loops[0], np.array([0.0, 0.0, levels[0]]), uv[0], uv[0, 0], up=False),
        ]
    )


def _roof(plan: Building, edges: np.ndarray, top: np.ndarray, size_m) -> Patch:
    def roof_uv(points):
        x = (points[:, 0] + plan.length_m / 2.0) / size_m[0]
        y = (plan.width_m / 2.0 - points[:, 1] + plan.wall_m) / size_m[1]
        return np.column_stack([x, y])

    def closed(uv):
        return np.vstack([uv, uv[:1]])

    if plan.pitched:
        ridge = top.copy()
        half = plan.length_m / 2.0 - plan.width_m / 2.0
        # Points of both eaves meet on the ridge; rounding must not separate them.
        ridge[:, 0], ridge[:, 1] = np.round(np.clip(top[:, 0], -half, half), 6), 0.0
        ridge[:, 2] += plan.ridge_m
        return strips(
            np.stack([top, ridge]), np.stack([closed(roof_uv(top)), closed(roof_uv(ridge))])
        )
    coping = np.column_stack([_ring(plan, edges, COPING_M), top[:, 2]])
    floor = coping - [0.0, 0.0, PARAPET_M]
    middle = np.array([0.0, 0.0, floor[0, 2]])
    # The parapet's inside shows the strip of roof beside it.
    inner = roof_uv(np.column_stack([_ring(plan, edges, COPING_M + 0.5), top[:, 2]]))
    loops, uv = np.stack([top, coping, floor]), [roof_uv(top), inner, roof_uv(coping)]
    return join(
        [
            strips(loops, np.stack([closed(part) for part in uv])),
            fan(floor, middle, roof_uv(floor), roof_uv(middle[None])[0], up=True),
        ]
    )


def building_solid(plan: Building) -> Patch:
    """Return the closed surface in the map."""
    size = (2.0 * (plan.length_m + plan.width_m), plan.wall_m + plan.width_m)
    return turned(_surface(plan, size), plan.x_m, plan.y_m, plan.z_m, plan.yaw)


def building_mesh(plan: Building, shade: Shade, *, name: str, texel_m: float) -> TexturedMesh:
    """Return the textured solid: the walls unrolled in the upper part, the roof in the lower."""
    around, width_m = 2.0 * (plan.length_m + plan.width_m), plan.width_m
    columns, wall_rows = round(around / texel_m), round(plan.wall_m / texel_m)
    rows = round((plan.wall_m + width_m) / texel_m)
    image = np.full((rows, columns, 3), 60, np.uint8)
    s = (np.arange(columns) + 0.5) * around / columns
    z = plan.wall_m - (np.arange(wall_rows) + 0.5) * plan.wall_m / wall_rows
    edges, side = _edges(plan)
    levels = _levels(plan)
    kinds = _kinds(plan, edges, side, levels)
    cell_s, cell_z = _cells(s, np.append(edges, around)), _cells(z, levels)
    light, ceiling = _wall_light(plan, shade, s, side[cell_s[:, 0].astype(int)])
    style = np.append(STYLES[plan.style % len(STYLES)], plan.storey_m - LINTEL_M)
    wall = (s, z, cell_s, cell_z, kinds, style, light, ceiling)
    fill_bands(facades.paint_facade, wall_rows, *wall, plan.seed, image)
    _write_sign(plan, image, texel_m, light)
    roof = image[wall_rows:, : round(plan.length_m / texel_m)]
    shade_on_roof = _roof_light(plan, shade)
    colour = (TILES if plan.pitched else FELT)[plan.seed % 3]
    look = (texel_m, colour, plan.pitched, shade_on_roof)
    fill_bands(facades.paint_roof, len(roof), *look, plan.seed, roof)
    return building_solid(plan).mesh(image, name)


def _cells(places: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Number, lower edge and size of the cell that contains each coordinate, (n, 3)."""
    k = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, len(edges) - 2)
    return np.column_stack([k, edges[k], edges[k + 1] - edges[k]])


def _wall_light(plan: Building, shade: Shade, s: np.ndarray, side: np.ndarray):
    """Sky and sun (columns, 2) on the walls and heights of shade above the floor (columns,)."""
    angle = plan.yaw + (side - 1) * math.pi / 2.0
    normal = np.column_stack([np.cos(angle), np.sin(angle)])
    sun = np.clip(normal @ SUN_MAP[:2], 0.0, None) / SUN_MAP[2]
    scale = 1.0 / (AMBIENT + DIRECT)
    light = np.column_stack([np.full(len(s), AMBIENT * SKY_ON_WALL), DIRECT * sun]) * scale
    c, d = math.cos(plan.yaw), math.sin(plan.yaw)
    ring = _ring(plan, s) @ np.array([[c, d], [-d, c]]) + [plan.x_m, plan.y_m]
    before = ring + 0.4 * normal
    ceiling = shade.ceiling(before[:, 0], before[:, 1]) - plan.z_m
    return light, ceiling


def _roof_light(plan: Building, shade: Shade) -> np.ndarray:
    """Light on the roof at each quarter of a metre, rows from the northern eaves."""
    x, y = np.meshgrid(
        np.arange(0.125, plan.length_m, 0.25) - plan.length_m / 2.0,
        plan.width_m / 2.0 - np.arange(0.125, plan.width_m, 0.25),
    )
    c, s = math.cos(plan.yaw), math.sin(plan.yaw)
    z = np.full_like(x, plan.z_m + plan.wall_m - PARAPET_M + 0.05)
    sun = np.ones_like(x)
    if plan.pitched:
        # Hipped: every point slopes to its nearest side.
        gap_x, gap_y = plan.length_m / 2.0 - np.abs(x), plan.width_m / 2.0 - np.abs(y)
        z += np.minimum(gap_x, gap_y) * math.tan(math.radians(30.0)) + PARAPET_M
        out_x, out_y = (
            np.where(gap_x < gap_y, np.sign(x), 0),
            np.where(gap_x < gap_y, 0, np.sign(y)),
        )
        steep, flat = math.sin(math.radians(30.0)), math.cos(math.radians(30.0))
        level = (c * out_x - s * out_y) * SUN_MAP[0] + (s * out_x + c * out_y) * SUN_MAP[1]
        sun = np.clip(steep * level + flat * SUN_MAP[2], 0.0, None) / SUN_MAP[2]
    points = np.stack([plan.x_m + c * x - s * y, plan.y_m + s * x + c * y, z], axis=-1)
    return ((AMBIENT + DIRECT * sun * shade.lit(points)) / (AMBIENT + DIRECT)).astype(np.float32)


def _write_sign(plan: Building, image: np.ndarray, texel_m: float, light: np.ndarray) -> None:
    """Write the sign in the blank band above the ground floor's windows of both long sides."""
    if not plan.sign:
        return
    letters_m = 0.42
    scale = letters_m / texel_m / 22.0
    thickness = max(round(letters_m / texel_m / 7.0), 1)
    row = round((plan.wall_m - plan.storey_m + 0.1) / texel_m)
    size, _ = cv2.getTextSize(plan.sign, cv2.FONT_HERSHEY_DUPLEX, scale, thickness)
    for start in (0.0, plan.length_m + plan.width_m):
        left = round((start + plan.length_m / 2.0) / texel_m) - size[0] // 2
        column = min(max(left, 0), image.shape[1] - 1)
        tone = float(light[column].sum())
        pad = round(0.12 / texel_m)
        cv2.rectangle(
            image,
            (left - pad, row - size[1] - pad),
            (left + size[0] + pad, row + pad),
            tuple(round(v * tone) for v in (36.0, 58.0, 96.0)),
            cv2.FILLED,
        )
        white = (round(236.0 * tone),) * 3
        cv2.putText(
            image,
            plan.sign,
            (left, row),
            cv2.FONT_HERSHEY_DUPLEX,
            scale,
            white,
            thickness,
            cv2.LINE_AA,
        )
