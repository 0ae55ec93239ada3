# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots on a page, wherever their motion comes from."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import trimesh

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.scene.camera_follower import CameraFollower
from aerotwin_view.scene.clear_view import Cast
from aerotwin_view.scene.nearest_robots import eyes_of, nearest_rows
from aerotwin_view.scene.robot_labels import MOST_LABELS, RobotLabels

_AXIS_M = 0.5
"""Length of an axis of a robot without a shape."""


class RobotsScene:
    """Robots by their names, each with its shape or as three axes; none at first.

    Robots with the same shape, the same object, are drawn together.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._follower = CameraFollower(page)
        self._groups: list[tuple[list[int], Any]] = []
        self._labels = RobotLabels(page)
        self._names: list[str] = []

    def see_past(self, cast: Cast) -> None:
        """Let cameras begin to follow where the world that `cast` knows hides nothing."""
        self._follower.see_past(cast)

    def set_robots(self, names: Sequence[str], models: Sequence[trimesh.Trimesh | None]) -> None:
        """Draw these robots in place of those before."""
        for _, shown in self._groups:
            shown.remove()
        self._groups = [
            (rows, _add(self._page, f"/robots/{k}", models[rows[0]], len(rows)))
            for k, rows in enumerate(_alike(models))
        ]
        self._names = list(names)
        self._labels.set_names(names, range(len(names)))
        self._follower.set_names(names)

    def label_nearest(self, p_map_body: FloatArray) -> None:
        """Label the robots, at positions (n, 3) [m], that are nearest to whom watches."""
        rows = nearest_rows(p_map_body, eyes_of(self._page), MOST_LABELS)
        self._labels.set_names(self._names, rows)

    def show(self, p_map_body: FloatArray, q_map_body: FloatArray) -> None:
        """Show them at positions (n, 3) [m] with orientations (n, 4), quaternions xyzw."""
        q_wxyz = np.roll(q_map_body, 1, axis=1).astype(np.float32)
        places = p_map_body.astype(np.float32)
        with self._page.atomic():
            for rows, shown in self._groups:
                shown.batched_positions = places[rows]
                shown.batched_wxyzs = q_wxyz[rows]
            self._labels.show(p_map_body)
        self._follower.follow(p_map_body)


def _alike(models: Sequence[trimesh.Trimesh | None]) -> list[list[int]]:
    """Return the rows of robots grouped by their shape."""
    groups: dict[int, list[int]] = {}
    for row, model in enumerate(models):
        groups.setdefault(id(model), []).append(row)
    return list(groups.values())


def _add(page: Page, name: str, model: trimesh.Trimesh | None, n: int) -> Any:
    """Add n copies of a shape at the origin of map."""
    places, turns = np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    if model is None:
        return page.scene.add_batched_axes(name, turns, places, axes_length=_AXIS_M)
    return page.scene.add_batched_meshes_trimesh(name, model, turns, places)
