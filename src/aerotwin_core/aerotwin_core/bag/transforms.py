# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The transform tree of a bag: a frame's poses in another, through moving and fixed edges.

As in tf2, poses between two stamps of an edge are interpolated (linearly and spherically) and none
is extrapolated.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.bag.poses import PoseTopic, are_poses, pose_of_transform
from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform
from aerotwin_core.messages import stamp_ns
from aerotwin_core.trajectory import Trajectory

Edge = tuple[str, str]
"""(parent, child)."""


class TransformTree:
    """All transforms in the TFMessage topics of a bag.

    `messages` are (topic, recording stamp [ns], TFMessage); topics that end in `static` are always
    valid. `moving` has transforms by stamp, `fixed` the last transform, by edge.
    """

    def __init__(self, messages: Iterable[tuple[str, int, Any]]) -> None:
        self.moving: dict[Edge, dict[int, tuple[float, ...]]] = {}
        self.fixed: dict[Edge, tuple[float, ...]] = {}
        self.problems: list[str] = []
        n_bad = 0
        for topic, _, message in messages:
            for item in message.transforms:
                n_bad += not self._add_transform(
                    item, is_fixed=topic.rstrip("/").endswith("static")
                )
        if n_bad:
            self.problems.append(f"{n_bad} transforms are not numbers; they are left out")
        parents: dict[str, set[str]] = {}
        for parent, child in (*self.moving, *self.fixed):
            parents.setdefault(child, set()).add(parent)
        for child, several in parents.items():
            if len(several) > 1:
                names = ", ".join(sorted(several))
                self.problems.append(f"frame {child} has several parents in /tf: {names}")

    def _add_transform(self, item: Any, *, is_fixed: bool) -> bool:
        edge = item.header.frame_id.lstrip("/"), item.child_frame_id.lstrip("/")
        pose = pose_of_transform(item.transform)
        if not are_poses(np.array([pose]))[0]:
            return False
        if is_fixed:
            self.fixed[edge] = pose
        else:
            self.moving.setdefault(edge, {}).setdefault(stamp_ns(item), pose)
        return True

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of all frames."""
        return tuple(sorted({name for edge in (*self.moving, *self.fixed) for name in edge}))

    def split(self, names: str, where: str) -> Edge:
        """Return (parent, child) of the text `parent.child`; the names may contain dots.

        Raises `UserError` if there are no two such frames.
        """
        tokens = names.split(".")
        known = set(self.frames)
        for k in range(1, len(tokens)):
            parent, child = (".".join(part).lstrip("/") for part in (tokens[:k], tokens[k:]))
            if parent in known and child in known and parent != child:
                return parent, child
        listed = ", ".join(sorted(".".join(edge) for edge in self.moving)) or "none"
        raise UserError(
            f"{where}: '{names}' must be PARENT.CHILD, two of the frames "
            f"{', '.join(self.frames) or '(none)'}; moving are {listed}"
        )

    def poses(self, parent: str, child: str, where: str) -> PoseTopic:
        """Return the poses of child in parent, at the stamps of the moving edge next to child.

        Raises `UserError` if the frames are not connected, or nothing between them moves.
        """
        path = self._path(parent, child, where)
        moving = [(edge, k) for k, (edge, _) in enumerate(path) if edge in self.moving]
        if not moving:
            raise UserError(f"{where}: nothing moves between {parent} and {child}")
        stamps = np.array(sorted(self.moving[moving[-1][0]]), dtype=np.int64)
        n_all = len(stamps)
        for edge, _ in moving:
            times = self.moving[edge]
            stamps = stamps[(stamps >= min(times)) & (stamps <= max(times))]
        problems = list(self.problems)
        if len(stamps) < n_all:
            problems.append(
                f"{n_all - len(stamps)} of {n_all} stamps of {child} lie outside of the time of "
                f"the other transforms towards {parent}; they are left out"
            )
        chain = np.tile(np.eye(4), (len(stamps), 1, 1))
        for edge, is_forward in path:
            chain = chain @ self._transforms(edge, stamps, is_forward=is_forward)
        trajectory = Trajectory(
            stamps, chain[:, :3, 3], Rotation.from_matrix(chain[:, :3, :3]).as_quat()
        )
        return PoseTopic(
            trajectory=trajectory, frame=parent, child_frame=child, problems=tuple(problems)
        )

    def fixed_transform(self, parent: str, child: str) -> np.ndarray | None:
        """Return T_parent_child (4, 4), None if no fixed transforms connect them."""
        try:
            path = self._path(parent, child, "")
        except UserError:
            return None
        if any(edge in self.moving for edge, _ in path):
            return None
        chain = np.eye(4)
        for edge, is_forward in path:
            chain = chain @ self._transforms(edge, np.zeros(1, np.int64), is_forward=is_forward)[0]
        return chain

    def _transforms(self, edge: Edge, stamps: np.ndarray, *, is_forward: bool) -> np.ndarray:
        """Return T_parent_child of an edge at stamps, its inverse where the path goes up."""
        if edge not in self.moving:
            values = np.array([self.fixed[edge]])
            T = Trajectory(np.zeros(1, np.int64), values[:, :3], values[:, 3:]).transforms()[0]
            return (T if is_forward else invert_transform(T))[None]
        times = np.array(sorted(self.moving[edge]), dtype=np.int64)
        values = np.array([self.moving[edge][int(t)] for t in times])
        own = Trajectory(times, values[:, :3], values[:, 3:])
        T = (own if len(own) < 2 else own.interpolate(stamps)).transforms()
        return T if is_forward else np.array([invert_transform(one) for one in T])

    def _path(self, parent: str, child: str, where: str) -> list[tuple[Edge, bool]]:
        """Return the edges from parent to child, and whether each is passed from its parent."""
        reached: dict[str, list[tuple[Edge, bool]]] = {parent: []}
        waiting = [parent]
        for frame in waiting:
            for edge, is_forward in self._edges_at(frame):
                other = edge[1] if is_forward else edge[0]
                if other not in reached:
                    reached[other] = [*reached[frame], (edge, is_forward)]
                    waiting.append(other)
        if child not in reached:
            raise UserError(
                f"{where}: {parent} and {child} are not connected; from {parent} one reaches "
                f"{', '.join(sorted(set(reached) - {parent})) or 'nothing'}"
            )
        return reached[child]

    def _edges_at(self, frame: str) -> Iterator[tuple[Edge, bool]]:
        for edge in dict.fromkeys((*self.moving, *self.fixed)):
            if frame in edge:
                yield edge, edge[0] == frame
