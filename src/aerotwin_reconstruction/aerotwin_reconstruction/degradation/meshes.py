# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Degrade textured meshes, and sample labelled clouds of them."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_reconstruction.degradation import changes
from aerotwin_reconstruction.degradation.cloud import NO_CAR, as_shown, field_of
from aerotwin_reconstruction.degradation.displacement import DisplacementField
from aerotwin_reconstruction.degradation.parameters import DegradationParameters
from aerotwin_rendering.ray_scene import RayScene

_UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledSurface:
    """Points (n, 3) of a surface, uniform at random [m], and their labels.

    `is_ground` (n,) marks points of meshes whose names begin with "ground". `car` (n,) is the index
    of the mesh if its name begins with "car"; -1 elsewhere.
    """

    points_map: np.ndarray
    is_ground: np.ndarray
    car: np.ndarray


def sample_surface(
    meshes: Sequence[TexturedMesh], spacing_m: float, *, seed: int
) -> SampledSurface:
    """Return random points of meshes, hidden ones too, one per square of the spacing on average."""
    rng = np.random.default_rng([seed, 739])
    parts, kinds = [], []
    for k, mesh in enumerate(meshes):
        corners = mesh.vertices_map[mesh.triangles]
        edges = corners[:, 1:] - corners[:, :1]
        area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
        n = rng.poisson(area.sum() / spacing_m**2)
        if not n:
            continue
        triangle = np.searchsorted(np.cumsum(area), rng.random(n) * area.sum(), side="right")
        triangle = np.minimum(triangle, len(area) - 1)
        root, share = np.sqrt(rng.random((n, 1))), rng.random((n, 1))
        offset = root * ((1.0 - share) * edges[triangle, 0] + share * edges[triangle, 1])
        parts.append(corners[triangle, 0] + offset)
        kinds.append(np.full(n, k))
    if not parts:
        raise ValueError(f"spacing_m of {spacing_m} leaves no point of the surface; choose less")
    kind = np.concatenate(kinds)
    ground = np.array([mesh.name.startswith("ground") for mesh in meshes])
    cars = np.array([k if m.name.startswith("car") else NO_CAR for k, m in enumerate(meshes)])
    return SampledSurface(points_map=np.concatenate(parts), is_ground=ground[kind], car=cars[kind])


@dataclass(frozen=True, kw_only=True, eq=False)
class DegradedMeshes:
    """Degraded meshes; those without any remaining part are left out.

    `field` is the distortion of the reconstruction, `counts` the number of triangles lost, by
    reason.
    """

    meshes: tuple[TexturedMesh, ...]
    field: DisplacementField
    counts: dict[str, int]


def degrade_meshes(
    meshes: Sequence[TexturedMesh], parameters: DegradationParameters, *, seed: int
) -> DegradedMeshes:
    """Return meshes of the true surface as a reconstruction shows them; see `degrade`.

    Vertices carry all changes, so distortion, noise and smoothing are as fine as the mesh; holes
    remove whole triangles by their middles. Meshes named "ground…" rise, those named "car…" change.
    Coincident vertices stay together.
    """
    field = field_of(parameters, seed)
    counts = {"given": sum(len(mesh.triangles) for mesh in meshes)}
    retained = _cars_changed(meshes, parameters, seed)
    counts["of_gone_cars"] = counts["given"] - sum(len(mesh.triangles) for mesh in retained)
    if parameters.ground_rise_m[1] > 0.0:
        retained = [
            _risen(m, parameters, seed) if m.name.startswith("ground") else m for m in retained
        ]
    is_left = _left(retained, parameters, seed, counts)
    vertices = _as_shown(
        np.concatenate([m.vertices_map for m in retained]), field, parameters, seed
    )
    shown, first = [], 0
    for mesh, left in zip(retained, is_left, strict=True):
        last = first + len(mesh.vertices_map)
        if left.any():
            shown.append(_part(mesh, vertices[first:last], left))
        first = last
    if not shown:
        raise ValueError("nothing is left of the meshes; choose fewer holes")
    return DegradedMeshes(meshes=tuple(shown), field=field, counts=counts)


def _cars_changed(meshes, parameters, seed) -> list[TexturedMesh]:
    which = [k for k, mesh in enumerate(meshes) if mesh.name.startswith("car")]
    if parameters.cars_changed_share <= 0.0 or not which:
        return list(meshes)
    centres = np.array([meshes[k].vertices_map.mean(axis=0) for k in which])
    is_gone, motions = changes.changed_cars(centres, parameters.cars_changed_share, seed=seed)
    moved = dict(zip(which, motions, strict=True))
    gone = {k for k, is_it in zip(which, is_gone, strict=True) if is_it}
    return [_moved(m, moved.get(k)) for k, m in enumerate(meshes) if k not in gone]


def _moved(mesh: TexturedMesh, T: np.ndarray | None) -> TexturedMesh:
    if T is None:
        return mesh
    return dataclasses.replace(mesh, vertices_map=mesh.vertices_map @ T[:3, :3].T + T[:3, 3])


def _risen(mesh: TexturedMesh, parameters: DegradationParameters, seed: int) -> TexturedMesh:
    vertices = mesh.vertices_map.copy()
    limits, correlation = parameters.ground_rise_m, parameters.ground_rise_correlation_m
    vertices[:, 2] += changes.rise(vertices, limits, correlation, seed=seed)
    return dataclasses.replace(mesh, vertices_map=vertices)


def _left(meshes, parameters, seed, counts) -> list[np.ndarray]:
    """Return which triangles of each mesh remain, and count the others."""
    middles = np.concatenate([m.vertices_map[m.triangles].mean(axis=1) for m in meshes])
    hole = changes.in_holes(middles, parameters.hole_share, parameters.hole_size_m, seed=seed)
    counts["in_holes"] = int(hole.sum())
    left = ~hole
    if parameters.covered_loss > 0.0:
        rays = np.empty((len(middles), 6), np.float32)
        rays[:, :3], rays[:, 3:] = middles, _UP
        rays[:, 2] += parameters.covered_clearance_m
        covered = np.isfinite(RayScene(meshes).cast(rays).distance_m)
        luck = np.random.default_rng([seed, 727]).random(len(middles))
        lost = left & covered & (luck < parameters.covered_loss)
        counts["covered"] = int(lost.sum())
        left &= ~lost
    return np.split(left, np.cumsum([len(mesh.triangles) for mesh in meshes])[:-1])


def _as_shown(vertices, field, parameters, seed) -> np.ndarray:
    """Return vertices smoothed, distorted and noisy; coincident vertices stay together."""
    places, of_place = np.unique(vertices, axis=0, return_inverse=True)
    return as_shown(places, field, parameters, seed)[of_place.ravel()]


def _part(mesh: TexturedMesh, vertices: np.ndarray, is_left: np.ndarray) -> TexturedMesh:
    """Return the remaining triangles, with the vertices they use."""
    used, triangles = np.unique(mesh.triangles[is_left], return_inverse=True)
    return dataclasses.replace(
        mesh,
        vertices_map=vertices[used],
        triangles=triangles.reshape(-1, 3).astype(np.int32),
        uv=mesh.uv[used],
        light=None if mesh.light is None else mesh.light[used],
    )
