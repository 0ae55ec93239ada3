# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Furniture of streets and grounds: parked cars, lamp posts, flood-light masts, boards, goals."""

import cv2
import numpy as np

from aerotwin_generated_worlds.plants import speckle, vertex_normals
from aerotwin_generated_worlds.solids import Patch, box, capped, cylinder, join, turned
from aerotwin_generated_worlds.sunlight import AMBIENT, DIRECT, SUN_MAP, Shade
from aerotwin_meshes.mesh import TexturedMesh

PAINTS = (
    (176, 178, 180), (60, 62, 66), (214, 214, 210), (120, 34, 34), (44, 66, 112), (92, 100, 88),
    (150, 142, 128), (34, 36, 40), (186, 150, 60),
)  # fmt: skip
# A hatchback's outline: length along it, height of its belly, belt and roof, half widths there [m].
_SECTIONS = np.array(
    [
        [-2.20, 0.45, 0.62, 0.66, 0.60, 0.50],
        [-2.12, 0.28, 0.80, 0.92, 0.80, 0.60],
        [-1.95, 0.22, 0.88, 1.20, 0.86, 0.60],
        [-1.40, 0.20, 0.90, 1.42, 0.89, 0.62],
        [-0.30, 0.20, 0.92, 1.46, 0.89, 0.64],
        [0.35, 0.20, 0.91, 1.38, 0.89, 0.62],
        [1.00, 0.20, 0.90, 0.98, 0.89, 0.70],
        [1.75, 0.22, 0.80, 0.86, 0.87, 0.68],
        [2.10, 0.28, 0.66, 0.72, 0.80, 0.60],
        [2.20, 0.42, 0.55, 0.58, 0.62, 0.50],
    ]
)


def car_solid(x: float, y: float, z: float, yaw: float, scale: float) -> Patch:
    """Return a closed car that heads along yaw [rad]; texture: around it by length."""
    loops = []
    for along, belly, belt, roof, half, top in _SECTIONS:
        right = [
            [0.0, belly], [0.9 * half, belly], [half, belly + 0.18], [half, belt], [top, roof],
        ]  # fmt: skip
        outline = [*right, *[[-w, h] for w, h in right[:0:-1]]]
        loops.append([[along, w, h] for w, h in outline])
    patch = capped(np.array(loops) * scale, (0.0, 0.0, 1.0, 1.0))
    return turned(patch, x, y, z, yaw)


def car_texture(seed: int) -> np.ndarray:
    """Return the paint of a car: columns around it from below the belly, rows from nose to tail."""
    rng = np.random.default_rng([seed, 31])
    rows, columns = 320, 288
    colour = np.array(PAINTS[rng.integers(len(PAINTS))], float)
    image = colour * speckle(rng, (rows, columns), (3, 20, 70), (0.015, 0.03, 0.06))[..., None]

    def fill(polygon, value):
        points = np.round(np.array(polygon) * [columns, rows]).astype(np.int32)
        cv2.fillPoly(image, [points], value, cv2.LINE_AA)

    # Nine points round a section: 0 belly, 1-2 sill, 3 belt, 4 roof, and mirrored; u = k / 9.
    glass, tyre = (38.0, 44.0, 52.0), (26.0, 26.0, 27.0)
    for low, high in ((3.12, 3.88), (5.12, 5.88)):
        a, b = low / 9.0, high / 9.0
        fill([[a, 0.40], [b, 0.46], [b, 0.60], [a, 0.60]], glass)
        fill([[a, 0.615], [b, 0.615], [b, 0.76], [a, 0.80]], glass)
    fill([[4.04 / 9, 0.36], [4.96 / 9, 0.36], [4.9 / 9, 0.44], [4.1 / 9, 0.44]], glass)
    fill([[4.1 / 9, 0.80], [4.9 / 9, 0.80], [4.94 / 9, 0.88], [4.06 / 9, 0.88]], glass)
    for u in (1.6, 7.4):
        for v in (0.22, 0.80):
            cv2.ellipse(
                image, (round(u / 9 * columns), round(v * rows)), (22, 26), 0, 0, 360, tyre, -1,
                cv2.LINE_AA,
            )  # fmt: skip
            cv2.ellipse(
                image, (round(u / 9 * columns), round(v * rows)), (11, 13), 0, 0, 360,
                (132.0, 134.0, 136.0), -1, cv2.LINE_AA,
            )  # fmt: skip
    fill([[0, 0], [0.12, 0], [0.12, 1], [0, 1]], (40.0, 40.0, 41.0))
    fill([[0.88, 0], [1, 0], [1, 1], [0.88, 1]], (40.0, 40.0, 41.0))
    fill([[0.24, 0.06], [0.40, 0.06], [0.40, 0.11], [0.24, 0.11]], (226.0, 226.0, 216.0))
    fill([[0.60, 0.06], [0.76, 0.06], [0.76, 0.11], [0.60, 0.11]], (226.0, 226.0, 216.0))
    fill([[0.24, 0.90], [0.40, 0.90], [0.40, 0.95], [0.24, 0.95]], (150.0, 30.0, 28.0))
    fill([[0.60, 0.90], [0.76, 0.90], [0.76, 0.95], [0.60, 0.95]], (150.0, 30.0, 28.0))
    for v in (0.385, 0.605, 0.79):
        cv2.line(image, (96, round(v * rows)), (60, round(v * rows)), (30.0, 30.0, 30.0), 1)
        cv2.line(image, (192, round(v * rows)), (228, round(v * rows)), (30.0, 30.0, 30.0), 1)
    return np.clip(image + 0.5, 4, 251).astype(np.uint8)


def pole_solid(x: float, y: float, z: float, height_m: float, radius_m: float) -> Patch:
    """Return a closed tapered pole that reaches one metre into the ground."""
    radii = radius_m * np.array([1.0, 1.0, 0.55])
    return cylinder(
        np.array([x, y, z]), radii, [-1.0, 0.0, height_m], sides=10, uv_box=(0.02, 0.02, 0.2, 0.98)
    )


def street_lamp(x: float, y: float, z: float, yaw: float, height_m: float) -> Patch:
    """Return a lamp post with an arm along yaw and a lamp at its end."""
    pole = pole_solid(x, y, z, height_m, 0.09)
    arm = box(np.array([0.05, -0.04, -0.08]), np.array([1.5, 0.04, 0.0]), (0.02, 0.1, 0.2, 0.3))
    lamp = box(np.array([1.5, -0.16, -0.1]), np.array([2.1, 0.16, 0.04]), (0.3, 0.1, 0.5, 0.3))
    return join([pole, turned(join([arm, lamp]), x, y, z + height_m - 0.1, yaw)])


def flood_light_mast(x: float, y: float, z: float, yaw: float, height_m: float) -> Patch:
    """Return a mast with a panel of lamps that faces along yaw."""
    mast = pole_solid(x, y, z, height_m, 0.34)
    panel = box(np.array([0.4, -2.3, -1.6]), np.array([0.7, 2.3, 1.6]), (0.52, 0.02, 0.98, 0.48))
    arm = box(np.array([0.0, -0.15, -0.15]), np.array([0.4, 0.15, 0.15]), (0.02, 0.1, 0.2, 0.3))
    return join([mast, turned(join([panel, arm]), x, y, z + height_m - 1.9, yaw)])


def metal_texture(seed: int) -> np.ndarray:
    """Return the texture of posts: galvanised steel, and lamps in its upper right."""
    rng = np.random.default_rng([seed, 32])
    tone = speckle(rng, (256, 256), (2, 7, 25), (0.04, 0.07, 0.08), stretch=2)
    image = np.array([150.0, 153.0, 154.0]) * tone[..., None]
    for row in range(6):
        for column in range(8):
            centre = (140 + 15 * column, 14 + 20 * row)
            cv2.circle(image, centre, 6, (236.0, 236.0, 226.0), -1, cv2.LINE_AA)
            cv2.circle(image, centre, 6, (70.0, 70.0, 72.0), 1, cv2.LINE_AA)
    return np.clip(image + 0.5, 4, 251).astype(np.uint8)


def board_texture(lines: tuple[str, ...], colour, seed: int) -> np.ndarray:
    """Return a board with lines of text, white on a colour, weathered."""
    rng = np.random.default_rng([seed, 33])
    rows, columns = 384, 768
    image = np.full((rows, columns, 3), colour, np.uint8)
    cv2.rectangle(image, (10, 10), (columns - 11, rows - 11), (230.0, 230.0, 224.0), 5)
    for k, line in enumerate(lines):
        width = cv2.getTextSize(line, cv2.FONT_HERSHEY_DUPLEX, 2.6, 6)[0][0]
        place = ((columns - width) // 2, (k + 1) * rows // (len(lines) + 1) + 28)
        cv2.putText(
            image, line, place, cv2.FONT_HERSHEY_DUPLEX, 2.6, (236.0, 234.0, 226.0), 6, cv2.LINE_AA
        )
    weathered = image * speckle(rng, (rows, columns), (3, 14, 60), (0.03, 0.05, 0.06))[..., None]
    return np.clip(weathered + 0.5, 4, 251).astype(np.uint8)


def lit_mesh(patch: Patch, shade: Shade, texture: np.ndarray, name: str) -> TexturedMesh:
    """Return a mesh of flat faces with the light of sky and sun on them."""
    index = patch.triangles.ravel()
    facets = Patch(
        vertices=patch.vertices[index],
        uv=patch.uv[index],
        triangles=np.arange(len(index)).reshape(-1, 3),
    )
    normal = vertex_normals(facets)
    before = facets.vertices + 0.35 * normal + [0.0, 0.0, 0.1]
    sun = np.clip(normal @ SUN_MAP, 0.0, None) / SUN_MAP[2] * shade.lit(before, soft_m=0.2)
    light = (AMBIENT * (0.62 + 0.38 * normal[:, 2]) + DIRECT * sun) / (AMBIENT + DIRECT)
    return facets.mesh(texture, name, light=light.astype(np.float32))
