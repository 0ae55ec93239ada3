# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Moving objects prepared for rendering: filled after the world, shaded together with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from aerotwin_core.frames import invert_transform
from aerotwin_rendering.moving_objects import MovingObject
from aerotwin_rendering.rasteriser.clusters import Clusters
from aerotwin_rendering.rasteriser.cull_kernels import Visible, pose_record, visible_clusters
from aerotwin_rendering.rasteriser.lens import Lens
from aerotwin_rendering.rasteriser.mipmaps import Pyramid, texture_table
from aerotwin_rendering.rasteriser.scene import RasterScene, SceneStore
from aerotwin_rendering.rasteriser.texel_kernels import Textures
from aerotwin_rendering.rasteriser.views import CameraView

_MOST_TABLES = 8


@dataclass(frozen=True, kw_only=True)
class JoinedScene:
    """World and objects, to be shaded together.

    ``mesh_of_cluster`` and ``id_of_cluster`` (n,) int32 are of the clusters of the world, then of
    the objects; the first cluster of an object is in ``first_cluster``. ``pyramids`` own the memory
    of the textures.
    """

    mesh_of_cluster: np.ndarray
    id_of_cluster: np.ndarray
    first_cluster: dict[MovingObject, int]
    textures: Textures
    pyramids: Sequence[Pyramid]


@dataclass(frozen=True, kw_only=True)
class SeenObject:
    """What a view may see of an object: ``pose`` is that of the camera in the object's frame."""

    visible: Visible
    clusters: Clusters
    first_cluster: int
    pose: np.ndarray


class ObjectStore:
    """Owns the prepared meshes and pyramids of objects, as long as they exist."""

    def __init__(self, world: SceneStore) -> None:
        self._world = world
        self._lock = Lock()
        self._known: WeakKeyDictionary[MovingObject, tuple[SceneStore, RasterScene]] = (
            WeakKeyDictionary()
        )

    def seen(
        self, scene: RasterScene, joined: dict[tuple, JoinedScene], view: CameraView, lens: Lens
    ) -> tuple[list[SeenObject], JoinedScene | None]:
        """Return the objects that a view may see, and their scene with the world's, if any."""
        found = []
        for placed in view.objects:
            clusters = self._prepared(placed.object)[1].clusters
            T_object_optical = invert_transform(placed.T_map_object) @ view.T_map_optical
            pose = pose_record(T_object_optical)
            visible = visible_clusters(clusters, view, lens, pose)
            if len(visible.cluster):
                found.append((placed.object, visible, clusters, pose))
        if not found:
            return [], None
        whole = self._joined(scene, joined, view)
        return [
            SeenObject(
                visible=visible,
                clusters=clusters,
                first_cluster=whole.first_cluster[moving],
                pose=pose,
            )
            for moving, visible, clusters, pose in found
        ], whole

    def _prepared(self, moving: MovingObject) -> tuple[SceneStore, RasterScene]:
        with self._lock:
            if (known := self._known.get(moving)) is None:
                store = SceneStore()
                known = self._known[moving] = store, store.scene(moving.meshes)
            return known

    def _joined(
        self, scene: RasterScene, joined: dict[tuple, JoinedScene], view: CameraView
    ) -> JoinedScene:
        """Return the scene with all objects of a view; the last ones are cached in ``joined``."""
        encoding = "mono8" if view.encoding == "none" else view.encoding
        objects = tuple(placed.object for placed in view.objects)
        key = (encoding, objects)
        with self._lock:
            if (known := joined.get(key)) is not None:
                return known
        parts = [self._prepared(moving) for moving in objects]
        made = _join(self._world, scene, objects, parts, encoding)
        with self._lock:
            if len(joined) >= _MOST_TABLES:
                joined.clear()
            joined[key] = made
        return made


def _join(
    world: SceneStore,
    scene: RasterScene,
    objects: Sequence[MovingObject],
    parts: Sequence[tuple[SceneStore, RasterScene]],
    encoding: str,
) -> JoinedScene:
    pyramids = list(world.pyramids(scene, encoding))
    meshes, ids = [scene.clusters.mesh], [scene.clusters.mesh]
    of_mesh, repeats = [scene.texture_of_mesh], [scene.repeats]
    n_clusters, n_meshes, first_cluster = len(meshes[0]), len(scene.repeats), {}
    for moving, (store, own) in zip(objects, parts, strict=True):
        first_cluster[moving] = n_clusters
        mesh = own.clusters.mesh
        meshes.append(mesh + np.int32(n_meshes))
        ids.append(np.full(len(mesh), moving.mesh_id, np.int32))
        of_mesh.append(own.texture_of_mesh + np.int32(len(pyramids)))
        repeats.append(own.repeats)
        pyramids += store.pyramids(own, encoding)
        n_clusters, n_meshes = n_clusters + len(mesh), n_meshes + len(own.repeats)
    return JoinedScene(
        mesh_of_cluster=np.concatenate(meshes),
        id_of_cluster=np.concatenate(ids),
        first_cluster=first_cluster,
        textures=texture_table(pyramids, np.concatenate(of_mesh), np.concatenate(repeats)),
        pyramids=pyramids,
    )
