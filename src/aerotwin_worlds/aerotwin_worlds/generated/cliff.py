# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The generated coastal cliff: a cove with a wall of rock, a beach before it, a plateau above.

In plan the wall follows y = 0 from x = -30 m to 30 m, faces the sea (-y), and bends forward at
both ends to close the cove. ``d``, "inland", is the signed distance behind that line.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numba import njit

from aerotwin_core.parameters import parameter
from aerotwin_worlds.generated import rock, shore
from aerotwin_worlds.generated.noise import gradient_noise
from aerotwin_worlds.generated.sunlight import SUN_MAP
from aerotwin_worlds.mesh import TexturedMesh, grid_triangles
from aerotwin_worlds.threads import default_thread_count, run_tasks, split_range

FRONT_HALF_M, CORNER_RADIUS_M, FLANK_M = 30.0, 20.0, 25.0
CORNER_END_M = FRONT_HALF_M + CORNER_RADIUS_M * math.pi / 2
WALL_END_M = CORNER_END_M + FLANK_M
FOOT_Z_M, BREAK_Z_M, LEAN_RAD = -2.0, 18.6, math.radians(8.0)
BREAK_RADIUS_M, ROLL_M = 1.6, 3.0
TOP_Z_M = BREAK_Z_M + BREAK_RADIUS_M * (1.0 - math.sin(LEAN_RAD))
SLOPE_M = (BREAK_Z_M - FOOT_Z_M) / math.cos(LEAN_RAD)
BEND_M = BREAK_RADIUS_M * (math.pi / 2 - LEAN_RAD)
PROFILE_M = SLOPE_M + BEND_M + ROLL_M
START_XY_M = (-25.0, -10.0)
START_YAW = math.pi / 2


@dataclass(frozen=True, kw_only=True)
class CliffParameters:
    """What may be chosen of the generated cliff."""

    seed: int = parameter(default=7, text="Seed of all shapes and colours.", minimum=0)
    spacing_m: float = parameter(
        default=0.075, text="Vertex spacing of the wall's front.", unit="m", minimum=0.02, maximum=1
    )
    texel_m: float = parameter(
        default=0.01, text="Texel size of the wall's front.", unit="m", minimum=0.003, maximum=0.5
    )


def build_cliff(
    parameters: CliffParameters, *, n_threads: int | None = None
) -> tuple[TexturedMesh, TexturedMesh, TexturedMesh]:
    """Generate wall, beach and plateau; the same parameters give the same bytes.

    Returns
    -------
    tuple of TexturedMesh
        Wall, beach, plateau in the map frame: x along the wall, y inland, z up from sea level.
    """
    n = n_threads or default_thread_count()
    return _wall(parameters, n), _beach(parameters, n), _plateau(parameters, n)


def inland_distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Signed distance behind the wall's line in plan [m]; negative on the beach."""
    across = np.abs(x) - FRONT_HALF_M
    along = y + CORNER_RADIUS_M
    corner = np.hypot(np.maximum(across, 0.0), np.maximum(along, 0.0)) - CORNER_RADIUS_M
    return corner + np.minimum(np.maximum(across, along), 0.0)


def _plan(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 2) of the wall's line at s and its seaward unit normals (n, 2)."""
    side, a = np.sign(s), np.abs(s)
    angle = np.clip((a - FRONT_HALF_M) / CORNER_RADIUS_M, 0.0, math.pi / 2)
    x = np.minimum(a, FRONT_HALF_M) + CORNER_RADIUS_M * np.sin(angle)
    y = -CORNER_RADIUS_M * (1.0 - np.cos(angle)) - np.maximum(a - CORNER_END_M, 0.0)
    return np.column_stack([side * x, y]), np.column_stack([-side * np.sin(angle), -np.cos(angle)])


def _along(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coordinate s of the point of the wall's line that is nearest to x, y."""
    across = np.maximum(np.abs(x) - FRONT_HALF_M, 0.0)
    angle = np.arctan2(across, np.maximum(y + CORNER_RADIUS_M, 1e-9))
    flank = np.maximum(-CORNER_RADIUS_M - y, 0.0)
    return np.sign(x) * (np.minimum(np.abs(x), FRONT_HALF_M) + CORNER_RADIUS_M * angle + flank)


def _profile(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distance back, height and slope angle (LEAN .. 90 deg) of the wall's profile at t."""
    straight = np.minimum(t, SLOPE_M)
    angle = LEAN_RAD + np.clip(t - SLOPE_M, 0.0, BEND_M) / BREAK_RADIUS_M
    back = straight * math.sin(LEAN_RAD) - 4.0 * math.tan(LEAN_RAD)
    back += BREAK_RADIUS_M * (math.cos(LEAN_RAD) - np.cos(angle))
    back += np.maximum(t - SLOPE_M - BEND_M, 0.0)
    z = FOOT_Z_M + straight * math.cos(LEAN_RAD)
    return back, z + BREAK_RADIUS_M * (np.sin(angle) - math.sin(LEAN_RAD)), angle


@njit(cache=True)
def _top_variation(s, seed):
    """Rise and fall of the cliff's upper edge [m] along s."""
    out = np.empty(len(s))
    for i in range(len(s)):
        out[i] = 2.0 * gradient_noise(0.05 * s[i], 0.5, seed + 1)
    return out


def _wall(parameters: CliffParameters, n_threads: int) -> TexturedMesh:
    seed, spacing, texel = parameters.seed, parameters.spacing_m, parameters.texel_m
    bends = np.array([-WALL_END_M, -FRONT_HALF_M, FRONT_HALF_M, WALL_END_M])
    s = _piecewise(bends, (spacing * 2.7, spacing, spacing * 2.7))
    t = np.linspace(0.0, PROFILE_M, round(PROFILE_M / spacing) + 1)
    relief = np.empty((len(t), len(s)))
    layers = np.zeros((len(t), len(s), rock.N_LAYERS), np.float32)
    beds, grass_t = rock.bed_table(seed), SLOPE_M + 0.6 * BEND_M
    tasks = [(a, b, s, t, grass_t, beds, seed, relief, layers) for a, b in split_range(len(t), 16)]
    run_tasks(rock.wall_relief, tasks, n_threads)
    vertices = _wall_vertices(s, t, relief, seed)
    layers[..., rock.LIGHT] = _light(vertices)
    layers[..., rock.OPENNESS] = _openness(relief, spacing)

    # The texture is a sheet over (s, t) whose columns are three times as wide on the flanks.
    s_texel, s_uv = _texel_centres(bends, np.diff(bends) / [3 * texel, texel, 3 * texel])
    t_texel = _texel_centres(np.array([PROFILE_M, 0.0]), np.array([PROFILE_M]) / texel)[0]
    column_x = np.interp(s_texel, s, np.arange(len(s)))
    row_y = t_texel / PROFILE_M * (len(t) - 1)
    image = np.empty((len(t_texel), len(s_texel), 3), np.uint8)
    tasks = [
        (a, b, s_texel, t_texel, column_x, row_y, layers, beds, seed, image)
        for a, b in split_range(len(t_texel), 24)
    ]
    run_tasks(rock.paint_wall, tasks, n_threads)
    u, v = np.meshgrid(np.interp(s, bends, s_uv), 1.0 - t / PROFILE_M)
    return _grid_mesh(vertices, u, v, image)


def _piecewise(knots: np.ndarray, spacings: tuple[float, ...]) -> np.ndarray:
    """Points along a line, evenly spaced between the knots, about as far apart as asked."""
    parts = [
        np.linspace(a, b, max(round(abs(b - a) / h), 1), endpoint=False)
        for a, b, h in zip(knots[:-1], knots[1:], spacings, strict=True)
    ]
    return np.concatenate([*parts, knots[-1:]])


def _wall_vertices(s: np.ndarray, t: np.ndarray, relief: np.ndarray, seed: int) -> np.ndarray:
    """Vertices (rows, columns, 3): the profile swept along the plan, displaced along its normal."""
    foot, seaward = _plan(s)
    back, z, angle = _profile(t)
    # The relief dies out on the plateau, where the wall's sheet meets the plateau's.
    kept = np.clip((PROFILE_M - t) / (ROLL_M + BEND_M), 0.0, 1.0) ** 1.5
    outwards = relief * (kept * np.cos(angle))[:, None] - back[:, None]
    rise = np.clip(t / SLOPE_M, 0.0, 1.0)[:, None] * _top_variation(s, seed)[None, :]
    vertices = np.empty((len(t), len(s), 3))
    vertices[..., :2] = foot[None] + seaward[None] * outwards[..., None]
    vertices[..., 2] = z[:, None] + rise + relief * (0.3 * kept * np.sin(angle))[:, None]
    return vertices


def _light(vertices: np.ndarray) -> np.ndarray:
    """Cosine between surface normal and sun, 0 in the shade, for a grid of vertices."""
    along_row = np.gradient(vertices, axis=1)
    along_column = np.gradient(vertices, axis=0)
    normal = np.cross(along_row, along_column)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    return np.clip(normal @ SUN_MAP, 0.0, 1.0)


def _openness(relief: np.ndarray, spacing_m: float) -> np.ndarray:
    """Ambient light by how far the rock stands out of its surroundings, about 0.4 .. 1.15."""
    openness = np.full(relief.shape, 0.92)
    for radius_m, weight in ((0.35, 1.1), (1.6, 0.28)):
        blurred = cv2.GaussianBlur(relief, (0, 0), radius_m / spacing_m)
        openness += weight * (relief - blurred)
    return np.clip(openness, 0.35, 1.15)


def _grid_mesh(
    vertices: np.ndarray, u: np.ndarray, v: np.ndarray, image: np.ndarray, keep=None
) -> TexturedMesh:
    """Make a mesh of a grid of vertices, of those cells whose corners are all kept."""
    triangles = grid_triangles(*vertices.shape[:2])
    vertices, uv = vertices.reshape(-1, 3), np.stack([u, v], axis=-1).reshape(-1, 2)
    if keep is not None:
        triangles = triangles[keep.ravel()[triangles].all(axis=1)]
        used, index = np.unique(triangles, return_inverse=True)
        triangles = index.reshape(-1, 3)
        vertices, uv = vertices[used], uv[used]
    return TexturedMesh(
        vertices_map=np.ascontiguousarray(vertices),
        triangles=triangles.astype(np.int32),
        uv=uv.astype(np.float32),
        texture=image,
    )


def _texel_centres(knots: np.ndarray, texels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres of texels along a line whose stretches between the knots hold so many texels each.

    Returns the centres and the knots' texture coordinates in [0, 1].
    """
    counts = np.round(texels)
    coordinates = np.concatenate([[0.0], np.cumsum(counts)]) / counts.sum()
    n = int(counts.sum())
    return np.interp((np.arange(n) + 0.5) / n, coordinates, knots), coordinates


def _beach(parameters: CliffParameters, n_threads: int) -> TexturedMesh:
    seed, scale = parameters.seed, parameters.texel_m / 0.01
    y_knots = np.array([4.0, -9.0, -60.0])
    x = np.linspace(-54.0, 54.0, 721)
    y = _piecewise(y_knots, (0.13, 0.5))
    x_texel, _ = _texel_centres(np.array([-54.0, 54.0]), np.array([108.0]) / (0.025 * scale))
    y_texel, y_uv = _texel_centres(y_knots, np.array([13.0, 51.0]) / [0.02 * scale, 0.03 * scale])
    inland = inland_distance(*np.meshgrid(x, y))
    z, layers = np.empty_like(inland), np.zeros((*inland.shape, shore.N_LAYERS), np.float32)
    pad = np.array([*START_XY_M, inland_distance(*np.array(START_XY_M))])
    tasks = [(a, b, x, y, inland, pad, seed, z, layers) for a, b in split_range(len(y), 16)]
    run_tasks(shore.beach_relief, tasks, n_threads)
    vertices = np.dstack([*np.meshgrid(x, y), z])
    # Rows run south, so the grid's normal points down: flip the rows for the light.
    light = 0.40 + 0.95 * _light(vertices[::-1])[::-1]
    layers[..., shore.LIGHT] = light * np.clip(0.6 - 0.05 * inland, 0.55, 1.0)
    column_x = np.interp(x_texel, x, np.arange(len(x)))
    row_y = np.interp(-y_texel, -y, np.arange(len(y)))
    image = np.empty((len(y_texel), len(x_texel), 3), np.uint8)
    tasks = [
        (a, b, x_texel, y_texel, column_x, row_y, layers, seed, image)
        for a, b in split_range(len(y_texel), 24)
    ]
    run_tasks(shore.paint_beach, tasks, n_threads)
    u, v = np.meshgrid(np.linspace(0, 1, len(x)), np.interp(-y, -y_knots, y_uv))
    return _grid_mesh(vertices, u, v, image, keep=inland < 4.0)


def _plateau(parameters: CliffParameters, n_threads: int) -> TexturedMesh:
    seed, texel = parameters.seed, 0.08 * parameters.texel_m / 0.01
    x, y = np.meshgrid(np.linspace(-85.0, 85.0, 341), np.linspace(40.0, -60.0, 201))
    x_texel, _ = _texel_centres(np.array([-85.0, 85.0]), np.array([170.0]) / texel)
    y_texel, _ = _texel_centres(np.array([40.0, -60.0]), np.array([100.0]) / texel)
    inland = inland_distance(x, y)
    rim = _top_variation(_along(x, y).ravel(), seed).reshape(x.shape)
    # The sheet starts a little below the wall's upper end and rises through it.
    z = TOP_Z_M + rim + 0.10 * np.minimum(inland - 6.6, 12.0)
    image = np.empty((len(y_texel), len(x_texel), 3), np.uint8)
    tasks = [(a, b, x_texel, y_texel, seed, image) for a, b in split_range(len(y_texel), 16)]
    run_tasks(shore.paint_plateau, tasks, n_threads)
    u, v = np.meshgrid(np.linspace(0, 1, x.shape[1]), np.linspace(0, 1, x.shape[0]))
    return _grid_mesh(np.dstack([x, y, z]), u, v, image, keep=inland > 5.6)
