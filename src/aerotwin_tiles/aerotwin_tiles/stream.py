# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tiles that follow a sensor, for areas larger than the memory.

The geometric error allowed for a tile whose volume is a distance d from the sensor is

    allowed(d) = max_error_m + error_growth * d

in every direction. Tiles are refined in the order of error / allowed, largest first, until none is
above 1 or the next refinement does not fit into the memory.

The memory limit holds at every moment, also while tiles change. Half of it, less room for the tiles
being decoded, is for the new selection; the previous selection, which a renderer shows until it is
updated, has the other half; the rest caches the most recently needed tiles. An update runs in the
caller's thread and depends on the path of the sensor alone: a run can be repeated.
"""

import heapq
import math
from dataclasses import dataclass, field

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_tiles.description import TilesDescription
from aerotwin_tiles.meshes import TileReader
from aerotwin_tiles.store import DoesNotFitError, Path, TileStore
from aerotwin_tiles.tile import Tile
from aerotwin_tiles.tree import TileTree
from aerotwin_tiles.volumes import Box
from aerotwin_tiles.workers import Workers

_MOST_MISFITS = 8
"""Tiles that did not fit after which no smaller one is looked for."""


@dataclass(frozen=True, kw_only=True)
class StreamRule:
    """Region, accuracy and update distance of a stream.

    ``region`` is in the frame of the tileset; nothing outside is loaded (None: everything).
    """

    T_tileset_map: np.ndarray
    region: Box | None
    description: TilesDescription

    def is_near(self, tile: Tile) -> bool:
        """Tell whether a tile overlaps the region."""
        return self.region is None or tile.volume.overlaps(self.region)

    def distance_m(self, tile: Tile, p_tileset: np.ndarray) -> float:
        """Return the distance of a tile's volume from the nearest of several points (n, 3)."""
        return min(tile.volume.distance_m(p) for p in p_tileset)

    def excess(self, tile: Tile, distance_m: float) -> float:
        """Return the ratio of a tile's error to the error allowed at a distance."""
        rule = self.description
        allowed = rule.max_error_m + rule.error_growth * distance_m
        if tile.error_m <= allowed:
            return 0.0
        return tile.error_m / allowed if allowed > 0.0 else math.inf


@dataclass(frozen=True, kw_only=True, order=True)
class _Task:
    """A tile to show, or a shown tile whose children are to be shown; the smallest task is first.

    ``leaves_hole``: the area stays empty unless the task succeeds.
    """

    minus_excess: float
    distance_m: float
    path: Path
    tile: Tile = field(compare=False)
    is_shown: bool = field(compare=False)
    leaves_hole: bool = field(compare=False)


class TileStream:
    """The tiles around a sensor, within a memory limit.

    The ``workers`` live as long as the stream. ``limit_bytes`` counts meshes and textures,
    including the renderer's and ray caster's copies.

    Attributes
    ----------
    meshes : tuple of TexturedMesh
        The meshes to show now. A retained mesh is the same object, so that
        ``Rasteriser.replace(stream.meshes)`` prepares only new ones.
    """

    def __init__(
        self,
        *,
        tree: TileTree,
        reader: TileReader,
        workers: Workers,
        rule: StreamRule,
        limit_bytes: int,
    ) -> None:
        self.meshes: tuple[TexturedMesh, ...] = ()
        self._tree, self._workers, self._rule = tree, workers, rule
        self._store = TileStore(reader, workers, limit_bytes)
        self._limit_bytes = limit_bytes
        self._p_map: np.ndarray | None = None
        self._chosen: dict[Path, Tile] = {}
        self._problems: dict[Path, str] = {}
        self._n_left_out = 0

    @property
    def n_bytes(self) -> int:
        """Memory of all tiles in the store, shown or not."""
        return self._store.n_bytes

    @property
    def peak_bytes(self) -> int:
        """Largest memory used so far."""
        return self._store.peak_bytes

    @property
    def missing(self) -> tuple[str, ...]:
        """One line for each tile that could not be loaded, and one for tiles that did not fit."""
        problems = self._problems | self._store.problems
        lines = tuple(problems[path] for path in sorted(problems))
        if not self._n_left_out:
            return lines
        return (
            *lines,
            f"{self._n_left_out} areas are not shown: their tiles do not fit into the memory "
            f"limit of {self._limit_bytes / 1e6:g} MB; raise memory_limit_mb or error_growth",
        )

    @property
    def attributions(self) -> tuple[str, ...]:
        """Copyright holders to credit for the shown tiles."""
        shown = (text for path in self._chosen for text in self._store.get(path).copyrights)
        return self._tree.attributions(shown)

    def update(self, p_map: np.ndarray) -> bool:
        """Select the tiles for a position of the sensor; tell whether `meshes` changed.

        ``p_map`` is (3,) or (n, 3), in the map [m]; of several sensors, the nearest one counts.

        Raises
        ------
        UserError
            If even the coarsest tiles exceed the limit.
        """
        p = np.atleast_2d(np.asarray(p_map, float))
        if not np.isfinite(p).all():
            raise ValueError(f"p_map must be finite, got {p.tolist()}")
        if self._is_at(p):
            return False
        self._p_map = p.copy()
        T = self._rule.T_tileset_map
        self._chosen = self._choose(p @ T[:3, :3].T + T[:3, 3])
        shown = (self._store.get(path).meshes for path in sorted(self._chosen))
        meshes = tuple(mesh for part in shown for mesh in part)
        is_new = [id(mesh) for mesh in meshes] != [id(mesh) for mesh in self.meshes]
        self.meshes = meshes
        return is_new

    def close(self) -> None:
        """Stop the threads and close the connections."""
        self._tree.source.close()  # first: the threads may wait for a server
        self._workers.close()

    def _is_at(self, p: np.ndarray) -> bool:
        """Tell whether the last selection was made within ``stream_step_m`` of this position."""
        if self._p_map is None or self._p_map.shape != p.shape:
            return False
        return (
            float(np.linalg.norm(p - self._p_map, axis=1).max())
            < self._rule.description.stream_step_m
        )

    def _choose(self, p_tileset: np.ndarray) -> dict[Path, Tile]:
        """Refine from the root, the largest excess first, while there is room."""
        chosen: dict[Path, Tile] = {}
        self._store.pinned = (self._chosen, chosen)
        self._n_left_out = n_misfits = 0
        tasks = self._tiles_in_view([self._tree.root], -math.inf, p_tileset, leaves_hole=True)
        while tasks and n_misfits < _MOST_MISFITS:
            task = heapq.heappop(tasks)
            self._store.begin()
            try:
                further = self._done(task, chosen, p_tileset)
            except DoesNotFitError:
                n_misfits += 1
                self._n_left_out += task.leaves_hole
                continue
            for new in further:
                heapq.heappush(tasks, new)
        self._n_left_out += sum(task.leaves_hole for task in tasks)
        if self._n_left_out and not chosen:
            raise UserError(
                f"{self._tree.address}: its coarsest tiles do not fit into "
                f"memory_limit_mb = {self._limit_bytes / 1e6:g}; raise it"
            )
        return chosen

    def _done(self, task: _Task, chosen: dict[Path, Tile], p_tileset: np.ndarray) -> list[_Task]:
        """Do one task; return the tasks that follow from it."""
        tile = task.tile
        if tile.must_be_refined or (task.is_shown and not tile.replaces):
            return self._tiles_in_view(
                self._below(tile) or [],
                task.minus_excess,
                p_tileset,
                leaves_hole=task.leaves_hole,
            )
        room = self._store.room_bytes - self._store.weight(chosen.values())
        if task.is_shown:
            below = self._below(tile)
            shown = self._cover(below, room + self._store.get(tile.path).n_bytes) if below else None
            if shown is None:
                return []
            del chosen[tile.path]
        else:
            shown = self._cover([tile], room) or []
        chosen.update((part.path, part) for part in shown)
        return [further for part in shown for further in self._refinement(part, p_tileset)]

    def _tiles_in_view(
        self, tiles: list[Tile], minus_excess: float, p_tileset: np.ndarray, *, leaves_hole: bool
    ) -> list[_Task]:
        """Return the tasks of showing tiles, the nearest first."""
        return [
            _Task(
                minus_excess=minus_excess,
                distance_m=self._rule.distance_m(tile, p_tileset),
                path=tile.path,
                tile=tile,
                is_shown=False,
                leaves_hole=leaves_hole,
            )
            for tile in tiles
            if self._rule.is_near(tile)
        ]

    def _refinement(self, tile: Tile, p_tileset: np.ndarray) -> list[_Task]:
        """Return the task of refining a shown tile; none if it is fine enough."""
        distance = self._rule.distance_m(tile, p_tileset)
        excess = self._rule.excess(tile, distance)
        if tile.branch is None or excess <= 1.0:
            return []
        return [
            _Task(
                minus_excess=-excess,
                distance_m=distance,
                path=tile.path,
                tile=tile,
                is_shown=True,
                leaves_hole=False,
            )
        ]

    def _cover(self, tiles: list[Tile], room_bytes: int) -> list[Tile] | None:
        """Return loaded tiles that cover the whole area of these; None if there are none.

        Tiles without content, or with broken content, are replaced by their children.
        """
        found: list[Tile] = []
        self._store.fetch(tiles, room_bytes)
        for tile in tiles:
            left = room_bytes - self._store.weight(found)
            if not tile.must_be_refined and self._store.fetch([tile], left):
                found.append(tile)
                continue
            below = self._below(tile)
            part = None if below is None else self._cover(below, left)
            if part is None or not (part or tile.must_be_refined):
                return None
            found += part
        if self._store.weight(found) > room_bytes:
            raise DoesNotFitError
        return found

    def _below(self, tile: Tile) -> list[Tile] | None:
        """Return the children in the region; None, with a problem, if they cannot be loaded."""
        try:
            children = self._tree.children(tile)
        except UserError as error:  # a flight goes on even where there are too many tiles
            self._problems[tile.path] = str(error)
            return None
        return [child for child in children if self._rule.is_near(child)]
