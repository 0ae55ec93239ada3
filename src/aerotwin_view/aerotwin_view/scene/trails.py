# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths of robots and their estimates that grow while they move."""

from collections.abc import Sequence

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.scene.path_lines import PathLines

MOST_SEGMENTS = 100_000
"""Of all paths of a kind; the oldest are forgotten."""
_PART_SEGMENTS = 2_000
"""Only the last part of a kind, of about so many, is sent again when paths grow."""
_STEP_M = 0.1
_NONE = np.zeros((0, 2, 3))
_UNKNOWN = np.full(3, np.nan)


class Trails:
    """The paths by their kind and their owner."""

    def __init__(self, page: Page) -> None:
        self._lines = PathLines(page)
        self._kinds: dict[str, _GrowingPaths] = {}

    def add(self, kind: str, owners: Sequence[str], p_map: FloatArray) -> None:
        """Add a point (n, 3) [m] to the path of each owner, unless it is next to its last one.

        The path of an owner that was left out before begins anew.
        """
        self._kinds.setdefault(kind, _GrowingPaths()).add(owners, p_map)

    def clear(self) -> None:
        """Forget all points, and draw none."""
        for kind, paths in self._kinds.items():
            for part in paths.parts:
                self._lines.set(kind, _NONE, part)
        self._kinds.clear()

    def show(self) -> None:
        """Draw what was added since the last time."""
        for kind, paths in self._kinds.items():
            for part, ends in paths.changed():
                self._lines.set(kind, ends, part)


class _GrowingPaths:
    """The paths of a kind: where they end, and their segments in parts, oldest first."""

    def __init__(self) -> None:
        self._owners: list[str] = []
        self._p_last = np.zeros((0, 3))
        self._added: list[FloatArray] = []
        self._growing = _NONE
        self.parts = range(1)

    def add(self, owners: Sequence[str], p_map: FloatArray) -> None:
        """See `Trails.add`."""
        if owners != self._owners:
            known = dict(zip(self._owners, self._p_last, strict=True))
            self._owners = list(owners)
            self._p_last = np.array([known.get(each, _UNKNOWN) for each in owners]).reshape(-1, 3)
        steps = p_map - self._p_last
        is_first = np.isnan(self._p_last[:, 0]) & np.isfinite(p_map).all(axis=1)
        has_moved = np.einsum("ij,ij->i", steps, steps) >= _STEP_M**2  # NaN is no movement
        if has_moved.any():
            self._added.append(np.stack([self._p_last[has_moved], p_map[has_moved]], axis=1))
        has_moved |= is_first
        self._p_last[has_moved] = p_map[has_moved]

    def changed(self) -> list[tuple[int, FloatArray]]:
        """Return the parts that are not as they were at the last call, and their segments."""
        if not self._added:
            return []
        last = self.parts[-1]
        changed = [(last, np.concatenate([self._growing, *self._added]))]
        self._growing, self._added = changed[0][1], []
        if len(self._growing) >= _PART_SEGMENTS:
            self._growing = _NONE
            first = max(0, last + 2 - MOST_SEGMENTS // _PART_SEGMENTS)
            changed += [(part, _NONE) for part in range(self.parts.start, first)]
            self.parts = range(first, last + 2)
        return changed
