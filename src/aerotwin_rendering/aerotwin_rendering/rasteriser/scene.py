# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Meshes prepared for rendering; only new ones are prepared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_rendering.rasteriser.clusters import Clusters, build_clusters, join_clusters
from aerotwin_rendering.rasteriser.mipmaps import Pyramid, build_pyramid


@dataclass(frozen=True, kw_only=True)
class RasterScene:
    """All current meshes; ``texture_of_mesh`` (m,) are indices of the distinct ``textures``."""

    clusters: Clusters
    textures: tuple[np.ndarray, ...]
    texture_of_mesh: np.ndarray
    repeats: np.ndarray


class KeyedByIdentity:
    """Results computed from objects, cached while the objects are in use."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make
        self._known: dict[int, tuple[Any, Any]] = {}

    def get_all(self, objects: Sequence[Any]) -> list[Any]:
        """Return the results of the objects; compute new ones, drop all others."""
        self._known = {id(o): self._known.get(id(o)) or (o, self._make(o)) for o in objects}
        return [self._known[id(o)][1] for o in objects]


class SceneStore:
    """Owns the prepared meshes and pyramids through changes of the world."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._clusters = KeyedByIdentity(build_clusters)
        self._pyramids = {
            encoding: KeyedByIdentity(lambda texture, e=encoding: build_pyramid(texture, e))
            for encoding in ("mono8", "rgb8")
        }

    def scene(self, meshes: Sequence[TexturedMesh]) -> RasterScene:
        """Return the scene of these meshes; new ones are prepared."""
        if not meshes:
            raise ValueError("meshes must not be empty, got none")
        textures = {id(mesh.texture): mesh.texture for mesh in meshes}
        index = {key: i for i, key in enumerate(textures)}
        with self._lock:
            clusters = join_clusters(self._clusters.get_all(meshes))
        return RasterScene(
            clusters=clusters,
            textures=tuple(textures.values()),
            texture_of_mesh=np.array([index[id(mesh.texture)] for mesh in meshes], np.int32),
            repeats=np.array([mesh.repeats for mesh in meshes]),
        )

    def pyramids(self, scene: RasterScene, encoding: str) -> list[Pyramid]:
        """Return the pyramids of a scene's textures; new ones are built."""
        with self._lock:
            return self._pyramids[encoding].get_all(scene.textures)
