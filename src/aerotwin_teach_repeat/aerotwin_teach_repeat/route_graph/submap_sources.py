# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Submaps that are not files: held in memory, or those of several graphs under new ids."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from aerotwin_teach_repeat.route_graph.types import Submap, SubmapSource


class MemorySubmaps:
    """Submaps held in memory."""

    def __init__(self, submaps: Iterable[Submap]) -> None:
        self._submaps = {submap.vertex_id: submap for submap in submaps}

    @property
    def ids(self) -> frozenset[int]:
        """Ids of the vertices that have a submap."""
        return frozenset(self._submaps)

    def load(self, vertex_id: int) -> Submap:
        """Return a submap."""
        return self._submaps[vertex_id]


class RenumberedSubmaps:
    """The submaps of several sources under their ids in a joined graph.

    `parts` are (SubmapSource, mapping from old to new ids); ids not in the mapping are left out.
    """

    def __init__(self, parts: Iterable[tuple[SubmapSource, Mapping[int, int]]]) -> None:
        self._places = {
            new: (source, old)
            for source, ids in parts
            for old, new in ids.items()
            if old in source.ids
        }

    @property
    def ids(self) -> frozenset[int]:
        """Ids of the vertices that have a submap."""
        return frozenset(self._places)

    def load(self, vertex_id: int) -> Submap:
        """Return a submap under its new id."""
        source, old = self._places[vertex_id]
        return replace(source.load(old), vertex_id=vertex_id)
