# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths of robots and their estimates that grow while they move."""

from collections import deque

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.scene.path_lines import PathLines, segments_of

_MOST_POINTS = 3000
"""Of a path; the oldest are forgotten."""
_STEP_M = 0.1


class Trails:
    """The last part of each path, by its kind and its owner."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._lines = PathLines(page)
        self._points: dict[str, dict[str, deque[FloatArray]]] = {}

    def add(self, kind: str, owner: str, p_map: FloatArray) -> None:
        """Add a point (3,) [m] to a path, unless it is next to its last one."""
        points = self._points.setdefault(kind, {}).setdefault(owner, deque(maxlen=_MOST_POINTS))
        if np.isfinite(p_map).all() and (
            not points or np.linalg.norm(p_map - points[-1]) >= _STEP_M
        ):
            points.append(p_map.copy())

    def clear(self) -> None:
        """Forget all points."""
        for points in self._points.values():
            for path in points.values():
                path.clear()

    def show(self) -> None:
        """Draw what was added since the last time."""
        for kind, paths in self._points.items():
            ends = [
                segments_of(np.array(path), _MOST_POINTS)
                for path in paths.values()
                if len(path) > 1
            ]
            self._lines.set(kind, np.concatenate(ends) if ends else np.zeros((0, 2, 3)))
