# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines of a formation: which follower knows the motion of its leader, and how old that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import viser

from aerotwin_core import plots
from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.scene.kind_colours import rgb_of
from aerotwin_view.scene.layers import Layers

FRESH_S, OLD_S = 0.5, 2.0
"""Ages of what is known up to which a line is blue, and orange; beyond it is red."""
_COLOURS = tuple(map(rgb_of, (plots.ALIGNED, plots.ESTIMATE, plots.BAD)))


@dataclass(frozen=True, kw_only=True)
class FormationLink:
    """That a follower has heard of its leader's motion, as it was `age_s` ago."""

    leader: str
    follower: str
    age_s: float


def colour_of_age(age_s: float) -> tuple[int, int, int]:
    """Return the colour of a line."""
    return _COLOURS[(age_s > FRESH_S) + (age_s > OLD_S)]


class FormationLinks:
    """The lines between leaders and followers."""

    def __init__(self, page: Page, layers: Layers) -> None:
        self._page = page
        self._lines: viser.LineSegmentsHandle | None = None
        self._switch = layers.add(
            "Formation links",
            "from a leader to each follower that knows its motion; blue up to 0.5 s old, orange "
            "to 2 s, then red",
            self._switched,
        )

    def show(self, links: Sequence[FormationLink], p_map: Mapping[str, FloatArray]) -> None:
        """Show these links in place of those before, where both robots are shown (3,) [m]."""
        drawn = [each for each in links if each.leader in p_map and each.follower in p_map]
        ends = np.array([(p_map[each.leader], p_map[each.follower]) for each in drawn])
        colours = np.array([colour_of_age(each.age_s) for each in drawn], np.uint8)
        if self._lines is not None and len(self._lines.points) != len(drawn):
            self._lines.remove()
            self._lines = None
        if not drawn:
            return
        both = np.repeat(colours[:, None], 2, axis=1)
        if self._lines is None:
            self._lines = self._page.scene.add_line_segments(
                "/formation", ends, both, thickness=2.0, thickness_units="screen",
                visible=self._switch.is_on,
            )  # fmt: skip
        else:
            self._lines.points = ends.astype(np.float32)
            self._lines.colors = both

    def _switched(self, is_on: bool) -> None:
        if self._lines is not None:
            self._lines.visible = is_on
