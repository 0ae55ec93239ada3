# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots on a page, wherever their motion comes from."""

from collections.abc import Sequence

import numpy as np
import trimesh

from aerotwin_core.frames import FloatArray
from aerotwin_view.camera_follower import CameraFollower
from aerotwin_view.page import Page

MOST_LABELS = 30
_AXIS_M = 0.5
"""Length of an axis of a robot without a shape."""


class RobotsScene:
    """Robots by their names, each with its shape or as three axes.

    Robots with the same shape, the same object, are drawn together.
    """

    def __init__(
        self, page: Page, names: Sequence[str], models: Sequence[trimesh.Trimesh | None]
    ) -> None:
        self._page = page
        self._groups = [
            (rows, _add(page, f"/robots/{k}", models[rows[0]], len(rows)))
            for k, rows in enumerate(_alike(models))
        ]
        labelled = [k for k, name in enumerate(names) if name]
        if len(labelled) > MOST_LABELS:
            labelled = []
        self._labels = [
            (k, page.scene.add_label(f"/labels/{k}", names[k], anchor="bottom-center"))
            for k in labelled
        ]
        self._follower = CameraFollower(page, names)

    def show(self, p_map_body: FloatArray, q_map_body: FloatArray) -> None:
        """Show them at positions (n, 3) [m] with orientations (n, 4), quaternions xyzw."""
        q_wxyz = np.roll(q_map_body, 1, axis=1).astype(np.float32)
        places = p_map_body.astype(np.float32)
        with self._page.atomic():
            for rows, shown in self._groups:
                shown.batched_positions = places[rows]
                shown.batched_wxyzs = q_wxyz[rows]
            for k, label in self._labels:
                label.position = places[k]
        self._follower.follow(p_map_body)


def _alike(models: Sequence[trimesh.Trimesh | None]) -> list[list[int]]:
    """Return the rows of robots grouped by their shape."""
    groups: dict[int, list[int]] = {}
    for row, model in enumerate(models):
        groups.setdefault(id(model), []).append(row)
    return list(groups.values())


def _add(page: Page, name: str, model: trimesh.Trimesh | None, n: int):  # type: ignore[no-untyped-def]  # no common class in viser
    """Add n copies of a shape at the origin of map."""
    places, turns = np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    if model is None:
        return page.scene.add_batched_axes(name, turns, places, axes_length=_AXIS_M)
    return page.scene.add_batched_meshes_trimesh(name, model, turns, places)
