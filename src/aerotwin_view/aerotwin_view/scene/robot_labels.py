# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Names above robots."""

from collections.abc import Sequence

import numpy as np
import viser

from aerotwin_core.foreign_text import printable
from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page

MOST_LABELS = 15
"""Of more robots the nearest have one: moving fifteen takes as long as moving a hundred shapes."""
_MOST_LETTERS = 40
_ABOVE_M = np.array([0.0, 0.0, 0.45])


class RobotLabels:
    """The names of some robots, above them; none at first."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._labels: dict[int, viser.LabelHandle] = {}

    def set_names(self, names: Sequence[str], rows: Sequence[int]) -> None:
        """Label these rows of the robots; one without a name has none."""
        chosen = {
            row: printable(names[row], _MOST_LETTERS) for row in rows[:MOST_LABELS] if names[row]
        }
        for row in [row for row, label in self._labels.items() if chosen.get(row) != label.text]:
            self._labels.pop(row).remove()
        for row, name in chosen.items():
            if row not in self._labels:
                self._labels[row] = self._page.scene.add_label(
                    f"/labels/{row}", name, anchor="bottom-center"
                )

    def show(self, p_map: FloatArray) -> None:
        """Move them to their robots, (n, 3) [m]."""
        for row, label in self._labels.items():
            label.position = p_map[row] + _ABOVE_M


def shown_names(names: Sequence[str]) -> list[str]:
    """Return the names of robots to choose from; one without a namespace is called robot.

    >>> shown_names(["", "uav1"]), shown_names(["", "robot"])
    (['robot', 'uav1'], ['(no name)', 'robot'])
    """
    unnamed = "robot" if "robot" not in names else "(no name)"
    return [name or unnamed for name in names]
