# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Plants and stones: lumpy bodies with leaves on them, lit by the sun at their vertices."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_generated_worlds.solids import Patch, capped, cylinder, join
from aerotwin_generated_worlds.sunlight import AMBIENT, DIRECT, SUN_MAP, Shade
from aerotwin_meshes.mesh import TexturedMesh

TEXTURE_PX = 1024
BARK, STONE, LEAVES = (0.02, 0.02, 0.23, 0.48), (0.02, 0.52, 0.23, 0.98), 0.27
"""Parts of the texture (u0, v0, u1, v1); leaves from u = 0.27 to the right, three bands of hue."""
UP = np.array([0.0, 0.0, 1.0])
ROOM = {"tree": (0.6, 1.05), "conifer": (0.32, 1.0), "bush": (1.3, 1.2), "stone": (1.6, 1.1)}
"""Radius and height of a plant with its leaves, as shares of its height."""
HUES = ((70.0, 92.0, 44.0), (96.0, 106.0, 50.0), (58.0, 80.0, 52.0))


@dataclass(frozen=True, kw_only=True)
class Plant:
    """A "tree", "conifer", "bush" or "stone"; ``x_m, y_m, z_m`` is its foot in the map [m]."""

    kind: str
    x_m: float
    y_m: float
    z_m: float
    height_m: float

    @property
    def room_m(self) -> tuple[float, float]:
        """Radius and height of its upright bounding cylinder, leaves included [m]."""
        radius, top = ROOM[self.kind]
        return radius * self.height_m, top * self.height_m


def lumps(rng: np.random.Generator, radii, rings: int, sides: int, rough: float, uv_box) -> Patch:
    """Return a closed lumpy ellipsoid about the origin: a sphere deformed by random waves."""
    polar = np.linspace(math.pi, 0.0, rings + 2)[1:-1]
    around = np.arange(sides) * (2.0 * math.pi / sides)
    ring = np.sin(polar)[:, None]
    x, y = ring * np.cos(around), ring * np.sin(around)
    direction = np.stack([x, y, np.broadcast_to(np.cos(polar)[:, None], x.shape)], axis=-1)
    push = np.zeros(x.shape)
    for wave in (2.2, 3.5, 5.5, 8.0):
        for _ in range(3):
            k = rng.normal(size=3)
            phase = rng.uniform(0.0, 2.0 * math.pi)
            push += np.cos(wave * (direction @ (k / np.linalg.norm(k))) + phase) / wave
    return capped(direction * (1.0 + rough * push)[..., None] * np.asarray(radii), uv_box)


def _leaf_box(rng: np.random.Generator, hue: int, size: float):
    u, v = rng.uniform([LEAVES, (hue + 0.04) / 3.0], [0.99 - size, (hue + 0.96) / 3.0 - size])
    return u, v, u + size, v + size


def _foliage(rng: np.random.Generator, body: Patch, n: int, size_m: float, hue: int) -> Patch:
    """Return triangles of leaves that protrude from a body's surface and look outwards."""
    chosen = body.vertices[body.triangles[rng.integers(len(body.triangles), size=n)]]
    place = (chosen * rng.dirichlet((1.0, 1.0, 1.0), n)[..., None]).sum(axis=1)
    out = place - body.vertices.mean(axis=0)
    place += out * rng.uniform(-0.05, 0.22, (n, 1))
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    spread = size_m * rng.uniform(0.6, 1.5, (n, 1, 1)) * rng.normal(size=(n, 3, 3))
    spread -= 0.6 * (spread @ out[..., None]) * out[:, None]
    corners = place[:, None] + spread
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = (normal * out).sum(axis=1) < 0.0
    corners[inwards] = corners[inwards, ::-1]
    low = rng.uniform([LEAVES, (hue + 0.04) / 3.0], [0.92, (hue + 0.75) / 3.0], (n, 1, 2))
    uv = low + 0.07 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    return Patch(
        vertices=corners.reshape(-1, 3),
        uv=uv.reshape(-1, 2),
        triangles=np.arange(3 * n).reshape(n, 3),
    )


def _crown(rng, middle, radii, *, lobes: int, hue: int, leaves: int, leaf_m: float) -> Patch:
    """Return several lumpy bodies about a middle, with leaves."""
    parts = []
    for lobe in range(lobes):
        turn = 2.0 * math.pi * (lobe + rng.uniform(-0.3, 0.3)) / max(lobes - 1, 1)
        away = 0.0 if lobe == 0 else 0.52
        offset = np.array([away * math.cos(turn), away * math.sin(turn), rng.uniform(-0.3, 0.35)])
        share = 0.78 if lobe == 0 else rng.uniform(0.48, 0.62)
        body = lumps(rng, share * np.asarray(radii), 5, 9, 0.30, _leaf_box(rng, hue, 0.22))
        body = body.moved(middle).moved(offset * radii)
        parts += [body, _foliage(rng, body, leaves, leaf_m, hue)]
    return join(parts)


def plant(spec: Plant, rng: np.random.Generator) -> Patch:
    """Return the surface of a plant in the map."""
    h, hue = spec.height_m, int(rng.integers(3))
    foot = np.array([spec.x_m, spec.y_m, spec.z_m])
    if spec.kind == "stone":
        radii = h * rng.uniform([0.7, 0.7, 0.5], [1.2, 1.2, 0.8])
        return lumps(rng, radii, 7, 11, 0.32, STONE).moved(foot)
    if spec.kind == "bush":
        radii = h * rng.uniform([0.6, 0.6, 0.5], [0.9, 0.9, 0.6])
        return _crown(rng, foot + 0.35 * h * UP, radii, lobes=3, hue=hue, leaves=150, leaf_m=0.07)
    trunk = cylinder(
        foot - 0.5 * UP, h * np.array([0.035, 0.025, 0.012]), [0.0, 0.3 * h, 0.75 * h],
        sides=8, uv_box=BARK,
    )  # fmt: skip
    if spec.kind == "conifer":
        tiers = [
            _crown(
                rng, foot + t * h * UP, h * np.array([0.24, 0.24, 0.17]) * (1.12 - t),
                lobes=1, hue=2, leaves=220, leaf_m=0.13,
            )
            for t in (0.25, 0.42, 0.58, 0.72, 0.86)
        ]  # fmt: skip
        return join([trunk, *tiers])
    radii = h * rng.uniform([0.30, 0.30, 0.26], [0.40, 0.40, 0.32])
    middle = foot + 0.66 * h * UP
    return join([trunk, _crown(rng, middle, radii, lobes=5, hue=hue, leaves=230, leaf_m=0.17)])


def plant_patch(specs: Sequence[Plant], seed: int) -> Patch:
    """Return the surface of many plants."""
    return join([plant(spec, np.random.default_rng([seed, 21, k])) for k, spec in enumerate(specs)])


def plant_mesh(patch: Patch, shade: Shade, texture: np.ndarray, name: str) -> TexturedMesh:
    """Return plants with light at their vertices: sun on their sunny side, dark below."""
    normal = vertex_normals(patch)
    lit = shade.lit(patch.vertices - [0.0, 0.0, 0.4], soft_m=1.2)
    # Leaves let light through: even the side away from the sun gets a share of it.
    sun = np.clip(0.30 + 0.70 * (normal @ SUN_MAP), 0.0, None) / SUN_MAP[2] * (0.35 + 0.65 * lit)
    sky = 0.72 + 0.28 * normal[:, 2]
    light = (AMBIENT * sky + DIRECT * sun) / (AMBIENT + DIRECT)
    return patch.mesh(texture, name, light=light.astype(np.float32))


def vertex_normals(patch: Patch) -> np.ndarray:
    """Mean unit normal (n, 3) of the triangles at each vertex, weighted by their areas."""
    a, b, c = (patch.vertices[patch.triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    total = np.zeros_like(patch.vertices)
    for k in range(3):
        np.add.at(total, patch.triangles[:, k], area)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return total / np.maximum(length, 1e-12)


def plant_texture(seed: int) -> np.ndarray:
    """Return the texture that all plants of a world share: bark, stone, leaves of three hues."""
    n = TEXTURE_PX
    rng = np.random.default_rng([seed, 22])
    leaf = speckle(rng, (n, n), (2, 5, 12, 30, 90), (0.10, 0.18, 0.34, 0.30, 0.10))
    image = np.empty((n, n, 3), np.float32)
    for hue, colour in enumerate(HUES):
        rows = slice(hue * n // 3, (hue + 1) * n // 3)
        yellow = leaf[rows, ::-1]
        image[rows] = np.array(colour) * leaf[rows, :, None]
        image[rows, :, 0] *= 0.8 + 0.2 * yellow
    left = int(0.25 * n)
    bark = speckle(rng, (n // 2, left), (2, 8, 30), (0.10, 0.25, 0.25), stretch=6)
    image[: n // 2, :left] = np.array([104.0, 88.0, 70.0]) * bark[..., None]
    stone = speckle(rng, (n - n // 2, left), (2, 6, 16, 60), (0.08, 0.16, 0.22, 0.2))
    image[n // 2 :, :left] = np.array([152.0, 147.0, 138.0]) * stone[..., None]
    return np.clip(image + 0.5, 4, 251).astype(np.uint8)


def speckle(rng: np.random.Generator, shape, widths_px, amounts, *, stretch: int = 1) -> np.ndarray:
    """Return random tones about 1: noise of several widths [px], rows stretched by ``stretch``."""
    tone = np.ones(shape, np.float32)
    for width, amount in zip(widths_px, amounts, strict=True):
        rows, columns = shape[0] // (width * stretch) + 2, shape[1] // width + 2
        noise = rng.normal(0.0, 1.0, (rows, columns)).astype(np.float32)
        wide = cv2.resize(
            noise, (columns * width, rows * width * stretch), interpolation=cv2.INTER_CUBIC
        )
        tone += amount * wide[: shape[0], : shape[1]]
    return np.clip(tone, 0.15, 2.0)
