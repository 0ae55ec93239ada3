# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths as lines, a colour and a switch for each kind."""

import numpy as np
import viser

from aerotwin_core.charts import thinned
from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.scene.kind_colours import is_known_kind, kind_colour, kind_meaning, rgb_of


def segments_of(values: FloatArray, most: int) -> FloatArray:
    """Return the ends (n, 2, 3) of the segments of a path (m, 3), thinned evenly to `most` points.

    The values are positions, or the colours of the positions.
    """
    kept = values[thinned(len(values), most)]
    return np.stack([kept[:-1], kept[1:]], axis=1)


class PathLines:
    """Lines by their kind, with a switch in the panel that hides them."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._folder = page.gui.add_folder("Paths")
        self._switches: dict[str, viser.GuiInputHandle[bool]] = {}
        self._shown: dict[str, dict[int, viser.LineSegmentsHandle]] = {}

    @property
    def colours(self) -> dict[str, str]:
        """The colour, as #rrggbb, of each kind."""
        return {kind: self._colour(kind) for kind in self._switches}

    def set(self, kind: str, ends: FloatArray, part: int = 0) -> None:
        """Show the segments (n, 2, 3) [m] of a part of a kind in place of those that it had."""
        if kind not in self._switches:
            self._add_switch(kind)
        number = list(self._switches).index(kind)
        parts = self._shown.setdefault(kind, {})
        if len(ends):
            parts[part] = self._page.scene.add_line_segments(
                f"/paths/{number}/{part}",
                ends,
                rgb_of(self._colour(kind)),
                thickness=2.0,
                thickness_units="screen",
                visible=self._switches[kind].value,
            )
        elif part in parts:
            parts.pop(part).remove()

    def _add_switch(self, kind: str) -> None:
        with self._folder:
            colour = self._colour(kind)
            self._page.add_text(f"\u25ac {kind}", colour)
            switch = self._page.gui.add_checkbox(
                f"Show {kind}", initial_value=True, hint=kind_meaning(kind)
            )
        self._switches[kind] = switch

        @switch.on_update
        def _(_: object) -> None:
            for part in list(self._shown.get(kind, {}).values()):
                part.visible = switch.value

    def _colour(self, kind: str) -> str:
        others = [each for each in (*self._switches, kind) if not is_known_kind(each)]
        return kind_colour(kind, others.index(kind) if kind in others else 0)
