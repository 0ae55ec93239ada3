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

from aerotwin_core.kernel_cache import njit
from aerotwin_core.parameters import parameter
from aerotwin_core.threads import fill_bands
from aerotwin_generated_worlds import rock, shore
from aerotwin_generated_worlds.noise import gradient_noise
from aerotwin_generated_worlds.sunlight import SUN_MAP, bilinear
from aerotwin_meshes.mesh import TexturedMesh, grid_triangles

FRONT_HALF_M, CORNER_RADIUS_M, FLANK_M = 30.0, 20.0, 25.0
CORNER_END_M = FRONT_HALF_M + CORNER_RADIUS_M * math.pi / 2
WALL_END_M = CORNER_END_M + FLANK_M
FOOT_Z_M, BREAK_Z_M, LEAN_RAD = -2.0, 18.6, math.radians(8.0)
BREAK_RADIUS_M, ROLL_M = 1.6, 3.0
TOP_Z_M = BREAK_Z_M + BREAK_RADIUS_M * (1.0 - math.sin(LEAN_RAD))
SLOPE_M = (BREAK_Z_M - FOOT_Z_M) / math.cos(LEAN_RAD)
BEND_M = BREAK_RADIUS_M * (math.pi / 2 - LEAN_RAD)
PROFILE_M = SLOPE_M + BEND_M + ROLL_M
LIGHT_GAIN = 9.0
"""Light per height step between texels of a centimetre [1/m]."""
SCAN_RIM_M = 0.3
"""Along this rim the region to be scanned takes on the wall's coarser shape."""
START_XY_M = (-25.0, -10.0)


@dataclass(frozen=True, kw_only=True)
class CliffParameters:
    """Parameters of the generated cliff."""

    seed: int = parameter(default=7, text="Seed of all shapes and colours.", minimum=0)
    spacing_m: float = parameter(
        default=0.075, text="Vertex spacing of the wall's front.", unit="m", minimum=0.05, maximum=1
    )
    texel_m: float = parameter(
        default=0.01, text="Texel size of the wall's front.", unit="m", minimum=0.0075, maximum=0.5
    )
    scan_x_m: float = parameter(
        default=-10.0, text="Middle of the region to be scanned.", unit="m", minimum=-25, maximum=25
    )
    scan_z_m: float = parameter(
        default=7.0, text="Height of that middle.", unit="m", minimum=2, maximum=15
    )
    scan_width_m: float = parameter(
        default=0.0, text="Width of the region; 0 for none.", unit="m", minimum=0, maximum=24
    )
    scan_height_m: float = parameter(
        default=6.0, text="Height of the region.", unit="m", minimum=0.5, maximum=12
    )
    scan_texel_m: float = parameter(
        default=0.003, text="Texel size in the region.", unit="m", minimum=0.003, maximum=0.1
    )
    scan_spacing_m: float = parameter(
        default=0.03, text="Vertex spacing in the region.", unit="m", minimum=0.02, maximum=0.5
    )


def build_cliff(parameters: CliffParameters) -> tuple[TexturedMesh, ...]:
    """Generate the cliff; the same parameters give the same bytes.

    The meshes are the front of the wall, beach, plateau, the wall's flanks and, if its width is not
    0, the scan region, in the map frame: x along the wall, y inland, z up from sea level.
    """
    wall, *rest = _wall(parameters)
    return wall, _beach(parameters), _plateau(parameters), *rest


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


def _wall(parameters: CliffParameters) -> list[TexturedMesh]:
    """Return the wall's front, its flanks and, cut out of the front, the scan region."""
    seed, spacing, texel = parameters.seed, parameters.spacing_m, parameters.texel_m
    bends = np.array([-WALL_END_M, -FRONT_HALF_M, FRONT_HALF_M, WALL_END_M])
    s = _piecewise(bends, (spacing * 2.7, spacing, spacing * 2.7))
    t = np.linspace(0.0, PROFILE_M, round(PROFILE_M / spacing) + 1)
    beds = rock.bed_table(seed)
    relief, layers = _relief(s, t, beds, seed)
    vertices = _wall_vertices(s, t, relief, seed)
    layers[..., rock.LIGHT] = _light(vertices)
    layers[..., rock.OPENNESS] = _openness(relief, spacing)

    # The texture is a sheet over (s, t) whose columns are three times as wide on the flanks.
    s_texel, s_uv = _texel_centres(bends, np.diff(bends) / [3 * texel, texel, 3 * texel])
    t_texel = _texel_centres(np.array([PROFILE_M, 0.0]), np.array([PROFILE_M]) / texel)[0]
    image = _paint_rock((s, t, layers, beds), s_texel, t_texel, LIGHT_GAIN, 0.0, seed)
    rows, columns = slice(0, 0), slice(0, 0)
    region = []
    if parameters.scan_width_m > 0.0:
        rows, columns = _scan_cells(parameters, s, t)
        border = vertices[rows, columns]
        region = [_scan_region(parameters, s[columns], t[rows], border, beds)]
    parts = []
    for k, name in ((1, "wall"), (0, "western flank"), (2, "eastern flank")):
        a, b = np.searchsorted(s, bends[k : k + 2] - 1e-6)
        left, right = np.round(s_uv[k : k + 2] * image.shape[1]).astype(int)
        u, v = np.meshgrid(
            np.interp(s[a : b + 1], bends[k : k + 2], [0.0, 1.0]), 1.0 - t / PROFILE_M
        )
        cut = (
            slice(rows.start, max(rows.stop - 1, 0)),
            slice(columns.start - a, columns.stop - 1 - a),
        )
        parts.append(
            _grid_mesh(
                vertices[:, a : b + 1], u, v, np.ascontiguousarray(image[:, left:right]), name,
                cut=cut if k == 1 and region else None,
            )
        )  # fmt: skip
    return [*parts, *region]


def _relief(s, t, beds, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Relief (rows, columns) [m] and layers of the rock over a grid of s and t."""
    relief = np.empty((len(t), len(s)))
    layers = np.zeros((len(t), len(s), rock.N_LAYERS), np.float32)
    grass_t = SLOPE_M + 0.6 * BEND_M
    fill_bands(rock.wall_relief, len(t), s, t, grass_t, beds, seed, relief, layers)
    return relief, layers


def _paint_rock(sheet, s_texel, t_texel, gain, detail, seed) -> np.ndarray:
    """Paint the texels at s and t (top row first) of a sheet (s, t, layers, beds)."""
    s, t, layers, beds = sheet
    column_x = np.interp(s_texel, s, np.arange(len(s)))
    row_y = np.interp(t_texel, t, np.arange(len(t)))
    image = np.empty((len(t_texel), len(s_texel), 3), np.uint8)
    grid = (s_texel, t_texel, column_x, row_y, layers, beds)
    fill_bands(rock.paint_wall, len(t_texel), *grid, gain, detail, seed, image)
    return image


def _scan_cells(parameters: CliffParameters, s, t) -> tuple[slice, slice]:
    """Rows and columns of the wall's vertices that bound the scan region."""
    t_middle = (parameters.scan_z_m - FOOT_Z_M) / math.cos(LEAN_RAD)
    bounds = []
    for line, middle, size in (
        (t, t_middle, parameters.scan_height_m),
        (s, parameters.scan_x_m, parameters.scan_width_m),
    ):
        low, high = (int(np.argmin(np.abs(line - middle - h))) for h in (-size / 2, size / 2))
        bounds.append(slice(low, max(high, low + 1) + 1))
    return bounds[0], bounds[1]


def _scan_region(parameters: CliffParameters, s_coarse, t_coarse, border, beds) -> TexturedMesh:
    """Return the scan region: finer in shape and paint, joined to the wall's vertices.

    ``border`` (rows, columns, 3): vertices of the wall at s and t; its rim is unchanged.
    """
    seed, spacing, texel = parameters.seed, parameters.scan_spacing_m, parameters.scan_texel_m
    s, t = (
        np.linspace(line[0], line[-1], round((line[-1] - line[0]) / spacing) + 1)
        for line in (s_coarse, t_coarse)
    )
    relief, layers = _relief(s, t, beds, seed)
    vertices = _wall_vertices(s, t, relief, seed)
    layers[..., rock.LIGHT] = _light(vertices)
    layers[..., rock.OPENNESS] = _openness(relief, spacing)
    inside = np.minimum.outer(np.minimum(t - t[0], t[-1] - t), np.minimum(s - s[0], s[-1] - s))
    share = np.clip(inside / SCAN_RIM_M, 0.0, 1.0)
    fill_bands(rock.add_fine_relief, len(t), s, t, layers, share, seed, relief)
    row = np.interp(t, t_coarse, np.arange(len(t_coarse)))
    column = np.interp(s, s_coarse, np.arange(len(s_coarse)))
    places = np.meshgrid(row, column, indexing="ij")
    coarse = np.stack([bilinear(border[..., k], *places) for k in range(3)], axis=-1)
    vertices = coarse + share[..., None] * (_wall_vertices(s, t, relief, seed) - coarse)
    s_texel = _texel_centres(s[[0, -1]], np.array([s[-1] - s[0]]) / texel)[0]
    t_texel = _texel_centres(t[[-1, 0]], np.array([t[-1] - t[0]]) / texel)[0]
    gain = LIGHT_GAIN * 0.01 / texel
    image = _paint_rock((s, t, layers, beds), s_texel, t_texel, gain, 1.0, seed)
    u, v = np.meshgrid((s - s[0]) / (s[-1] - s[0]), 1.0 - (t - t[0]) / (t[-1] - t[0]))
    return _grid_mesh(vertices, u, v, image, "scan region")


def _piecewise(knots: np.ndarray, spacings: tuple[float, ...]) -> np.ndarray:
    """Points along a line, evenly spaced between the knots, at about the requested spacings."""
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
    weight = np.clip((PROFILE_M - t) / (ROLL_M + BEND_M), 0.0, 1.0) ** 1.5
    outwards = relief * (weight * np.cos(angle))[:, None] - back[:, None]
    rise = np.clip(t / SLOPE_M, 0.0, 1.0)[:, None] * _top_variation(s, seed)[None, :]
    vertices = np.empty((len(t), len(s), 3))
    vertices[..., :2] = foot[None] + seaward[None] * outwards[..., None]
    vertices[..., 2] = z[:, None] + rise + relief * (0.3 * weight * np.sin(angle))[:, None]
    return vertices


def _light(vertices: np.ndarray) -> np.ndarray:
    """Cosine between surface normal and sun, 0 in the shade, for a grid of vertices."""
    along_row = np.gradient(vertices, axis=1)
    along_column = np.gradient(vertices, axis=0)
    normal = np.cross(along_row, along_column)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    return np.clip(normal @ SUN_MAP, 0.0, 1.0)


def _openness(relief: np.ndarray, spacing_m: float) -> np.ndarray:
    """Ambient light by how far the rock protrudes from its surroundings, about 0.4 .. 1.15."""
    openness = np.full(relief.shape, 0.92)
    for radius_m, weight in ((0.35, 1.1), (1.6, 0.28)):
        blurred = cv2.GaussianBlur(relief, (0, 0), radius_m / spacing_m)
        openness += weight * (relief - blurred)
    return np.clip(openness, 0.35, 1.15)


def _grid_mesh(
    vertices: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    image: np.ndarray,
    name: str,
    *,
    keep=None,
    cut=None,
) -> TexturedMesh:
    """Make a mesh of a grid of vertices, of those cells whose corners are all in ``keep``.

    ``cut``: rows and columns of cells to leave out.
    """
    n_rows, n_columns = vertices.shape[:2]
    triangles = grid_triangles(n_rows, n_columns)
    if cut is not None:
        weight = np.ones((n_rows - 1, n_columns - 1, 2), bool)
        weight[cut] = False
        triangles = triangles[weight.ravel()]
    vertices, uv = vertices.reshape(-1, 3), np.stack([u, v], axis=-1).reshape(-1, 2)
    if keep is not None:
        triangles = triangles[keep.ravel()[triangles].all(axis=1)]
    if keep is not None or cut is not None:
        used, index = np.unique(triangles, return_inverse=True)
        triangles = index.reshape(-1, 3)
        vertices, uv = vertices[used], uv[used]
    return TexturedMesh(
        vertices_map=np.ascontiguousarray(vertices),
        triangles=triangles.astype(np.int32),
        uv=uv.astype(np.float32),
        texture=image,
        name=name,
    )


def _texel_centres(knots: np.ndarray, texels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return centres of texels along a line, and the knots' texture coordinates in [0, 1].

    ``texels``: number of texels of each stretch between the knots.
    """
    counts = np.round(texels)
    coordinates = np.concatenate([[0.0], np.cumsum(counts)]) / counts.sum()
    n = int(counts.sum())
    return np.interp((np.arange(n) + 0.5) / n, coordinates, knots), coordinates


def _beach(parameters: CliffParameters) -> TexturedMesh:
    seed, scale = parameters.seed, parameters.texel_m / 0.01
    y_knots = np.array([4.0, -9.0, -60.0])
    x = np.linspace(-54.0, 54.0, 721)
    y = _piecewise(y_knots, (0.13, 0.5))
    x_texel, _ = _texel_centres(np.array([-54.0, 54.0]), np.array([108.0]) / (0.025 * scale))
    y_texel, y_uv = _texel_centres(y_knots, np.array([13.0, 51.0]) / [0.02 * scale, 0.03 * scale])
    inland = inland_distance(*np.meshgrid(x, y))
    z, layers = np.empty_like(inland), np.zeros((*inland.shape, shore.N_LAYERS), np.float32)
    pad = np.array([*START_XY_M, inland_distance(*np.array(START_XY_M))])
    fill_bands(shore.beach_relief, len(y), x, y, inland, pad, seed, z, layers)
    vertices = np.dstack([*np.meshgrid(x, y), z])
    # Rows run south, so the grid's normal points down: flip the rows for the light.
    light = 0.40 + 0.95 * _light(vertices[::-1])[::-1]
    layers[..., shore.LIGHT] = light * np.clip(0.6 - 0.05 * inland, 0.55, 1.0)
    column_x = np.interp(x_texel, x, np.arange(len(x)))
    row_y = np.interp(-y_texel, -y, np.arange(len(y)))
    image = np.empty((len(y_texel), len(x_texel), 3), np.uint8)
    grid = (x_texel, y_texel, column_x, row_y, layers)
    fill_bands(shore.paint_beach, len(y_texel), *grid, seed, image)
    u, v = np.meshgrid(np.linspace(0, 1, len(x)), np.interp(-y, -y_knots, y_uv))
    return _grid_mesh(vertices, u, v, image, "beach", keep=inland < 4.0)


def _plateau(parameters: CliffParameters) -> TexturedMesh:
    seed, texel = parameters.seed, 0.08 * parameters.texel_m / 0.01
    x, y = np.meshgrid(np.linspace(-85.0, 85.0, 341), np.linspace(40.0, -60.0, 201))
    x_texel, _ = _texel_centres(np.array([-85.0, 85.0]), np.array([170.0]) / texel)
    y_texel, _ = _texel_centres(np.array([40.0, -60.0]), np.array([100.0]) / texel)
    inland = inland_distance(x, y)
    rim = _top_variation(_along(x, y).ravel(), seed).reshape(x.shape)
    # The sheet starts a little below the wall's upper end and rises through it.
    z = TOP_Z_M + rim + 0.10 * np.minimum(inland - 6.6, 12.0)
    image = np.empty((len(y_texel), len(x_texel), 3), np.uint8)
    fill_bands(shore.paint_plateau, len(y_texel), x_texel, y_texel, seed, image)
    u, v = np.meshgrid(np.linspace(0, 1, x.shape[1]), np.linspace(0, 1, x.shape[0]))
    return _grid_mesh(np.dstack([x, y, z]), u, v, image, "plateau", keep=inland > 5.6)
