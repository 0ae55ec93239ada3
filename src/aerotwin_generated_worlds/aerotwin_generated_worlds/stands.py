# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Stands and walls: closed profiles of concrete, swept along lines on the ground."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.threads import fill_bands
from aerotwin_generated_worlds import facades
from aerotwin_generated_worlds.solids import Patch, fan, join, strips
from aerotwin_generated_worlds.sunlight import AMBIENT, DIRECT, SUN_MAP, Shade
from aerotwin_meshes.mesh import TexturedMesh

WALL, TREAD, RISER, WALKWAY = range(4)
"""What a piece of a profile is; see `facades.paint_stand`."""
ROW_M, RISE_M = 0.80, 0.40
AISLE_M = 11.0
"""Distance between stairs."""
LIGHT_COLUMNS = 4


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A closed profile swept along a line; ``outward`` (n, 2) are unit vectors to its left.

    ``profile_m`` (k, 2) has corners (outward from the line, height) counter-clockwise; every corner
    is seen from the first, which ends the bottom's far side. ``pieces`` (k,) are the kinds of the
    pieces between a corner and the next.
    """

    points_m: np.ndarray
    outward: np.ndarray
    profile_m: np.ndarray
    pieces: np.ndarray

    @property
    def stations_m(self) -> np.ndarray:
        """Arc length of the line half-way across the profile, (n,) [m]."""
        line = self.points_m + 0.5 * self.profile_m[0, 0] * self.outward
        return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)))

    @property
    def corners_m(self) -> np.ndarray:
        """Arc length around the profile from its first corner back to it, (k + 1,) [m]."""
        turn = np.vstack([self.profile_m, self.profile_m[:1]])
        return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(turn, axis=0), axis=1)))

    def loops(self) -> np.ndarray:
        """Corners of the profile at every point of the line, (n, k, 3) [m]."""
        plan = self.points_m[:, None] + self.outward[:, None] * self.profile_m[None, :, :1]
        height = np.broadcast_to(self.profile_m[:, 1:], (*plan.shape[:2], 1))
        return np.concatenate([plan, height], axis=-1)

    def solid(self) -> Patch:
        """Return the closed surface."""
        loops, stations, corners = self.loops(), self.stations_m, self.corners_m
        v, u = np.meshgrid(1.0 - corners / corners[-1], stations / stations[-1])
        uv = np.stack([u, v], axis=-1)
        # The ends show the part of the texture that is the back wall.
        end_uv = (self.profile_m - self.profile_m.min(axis=0)) / [stations[-1], corners[-1]]
        end_uv = np.column_stack([end_uv[:, 0], 1.0 - end_uv[:, 1]])
        return join(
            [
                strips(loops, uv),
                fan(loops[0, 1:], loops[0, 0], end_uv[1:], end_uv[0], up=False, closed=False),
                fan(loops[-1, 1:], loops[-1, 0], end_uv[1:], end_uv[0], up=True, closed=False),
            ]
        )


def straight(start, end, spacing_m: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points along a straight line and unit vectors to its left."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(end - start))
    n = max(round(length / spacing_m), 1) + 1
    points = start + np.linspace(0.0, 1.0, n)[:, None] * (end - start)
    along = (end - start) / length
    return points, np.tile([-along[1], along[0]], (n, 1))


def bowl(corner_m: float, half_m: float, x_m: float, spacing_m: float):
    """Return the line about the eastern end of a field and unit vectors to its left, outwards.

    From its north-west, through a quarter circle of radius ``corner_m`` about
    (x_m, half_m - corner_m), southwards, to the mirrored end.
    """
    quarter = corner_m * np.pi / 2.0
    length = 2.0 * quarter + 2.0 * (half_m - corner_m)
    s = np.linspace(0.0, length, max(round(length / spacing_m), 4) + 1)
    angle = np.pi / 2.0 - np.clip(s, 0.0, quarter) / corner_m
    angle -= np.clip(s - (length - quarter), 0.0, quarter) / corner_m
    y = np.clip(length / 2.0 - s, corner_m - half_m, half_m - corner_m)
    outward = np.column_stack([np.cos(angle), np.sin(angle)])
    centre = np.column_stack([np.full(len(s), x_m), y])
    return centre + corner_m * outward, outward


def stand_profile(n_rows: int, front_m: float) -> tuple[np.ndarray, np.ndarray]:
    """Return corners and pieces of a stand: front wall, walkway, rows of seats, parapet, back."""
    walkway = 1.6
    rows = np.arange(n_rows)
    top, back = front_m + n_rows * RISE_M, walkway + n_rows * ROW_M
    tread_ends = np.column_stack([walkway + (rows + 1) * ROW_M, front_m + (rows + 1) * RISE_M])
    tread_starts = tread_ends - [ROW_M, 0.0]
    steps = np.stack([tread_ends, tread_starts], axis=1)[::-1].reshape(-1, 2)
    steps[0] = [back, top]
    head = [[back + 0.25, -1.0], [back + 0.25, top + 1.1], [back, top + 1.1]]
    tail = [[walkway, front_m], [0.0, front_m], [0.0, -1.0]]
    pieces = [WALL, WALL, WALL, *([TREAD, RISER] * n_rows), WALKWAY, WALL, WALL]
    return np.array([*head, *steps, *tail]), np.array(pieces)


def wall_profile(height_m: float, thickness_m: float) -> tuple[np.ndarray, np.ndarray]:
    """Return corners and pieces of a free wall."""
    t = thickness_m
    return np.array([[t, -1.0], [t, height_m], [0, height_m], [0, -1.0]]), np.zeros(4, int)


def sweep_mesh(
    sweep: Sweep, shade: Shade, seat_colours, *, name: str, texel_m: float, seed: int
) -> TexturedMesh:
    """Return the textured solid."""
    stations, corners = sweep.stations_m, sweep.corners_m
    columns, rows = round(stations[-1] / texel_m), round(corners[-1] / texel_m)
    s = (np.arange(columns) + 0.5) * stations[-1] / columns
    across = corners[-1] - (np.arange(rows) + 0.5) * corners[-1] / rows
    piece = np.clip(np.searchsorted(corners, across, side="right") - 1, 0, len(corners) - 2)
    length = np.diff(corners)[piece]
    # Rows and distances run from the field upwards and backwards.
    step = np.column_stack([piece, corners[piece + 1] - across, length, sweep.pieces[piece]])
    light = _light(sweep, shade, s[::LIGHT_COLUMNS], across, piece)
    aisles = np.arange(AISLE_M / 2.0, stations[-1], AISLE_M)
    image = np.empty((rows, columns, 3), np.uint8)
    colours = np.asarray(seat_colours, float)
    fill_bands(facades.paint_stand, rows, s, across, step, light, aisles, colours, seed, image)
    return sweep.solid().mesh(image, name)


def _light(sweep: Sweep, shade: Shade, s, across, piece) -> np.ndarray:
    """Light of sky and sun on the unrolled surface, (rows, columns)."""
    stations, corners = sweep.stations_m, sweep.corners_m
    turn = np.vstack([sweep.profile_m, sweep.profile_m[:1]])
    r = np.interp(across, corners, turn[:, 0])
    z = np.interp(across, corners, turn[:, 1])
    along = np.diff(turn, axis=0)
    facing = (np.column_stack([along[:, 1], -along[:, 0]]) / np.diff(corners)[:, None])[piece]
    plan = np.column_stack([np.interp(s, stations, c) for c in sweep.points_m.T])
    outward = np.column_stack([np.interp(s, stations, c) for c in sweep.outward.T])
    points = np.empty((len(across), len(s), 3), np.float32)
    points[..., :2] = plan + outward * (r + 0.35 * facing[:, 0])[:, None, None]
    points[..., 2] = (z + 0.05)[:, None]
    sun = facing[:, :1] * (outward @ SUN_MAP[:2])[None] + facing[:, 1:] * SUN_MAP[2]
    sun = np.clip(sun, 0.0, None) / SUN_MAP[2] * shade.lit(points, soft_m=0.25)
    sky = 0.72 + 0.28 * facing[:, 1:]
    return ((AMBIENT * sky + DIRECT * sun) / (AMBIENT + DIRECT)).astype(np.float32)
