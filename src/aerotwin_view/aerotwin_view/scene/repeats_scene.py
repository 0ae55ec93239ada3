# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A taught route and its repeats on the page, coloured by their lateral errors."""

import numpy as np

from aerotwin_view.page import Page
from aerotwin_view.recorded.repeated_route import RepeatedRoute, ShownRepeat
from aerotwin_view.scene.error_colours import ColourBar
from aerotwin_view.scene.path_lines import PathLines, segments_of
from aerotwin_view.scene.visibility_switch import VisibilitySwitch
from aerotwin_view.scene.world_scene import place_camera

TAUGHT = "taught"
MOST_POINTS = 5000
"""Of a path."""
_UP_M = np.array([0.0, 0.0, 0.3])
"""Above the ground, on which the paths lie."""


def show_repeats(page: Page, found: RepeatedRoute) -> None:
    """Show the route, and each repeat with a switch of its own."""
    errors = np.abs(np.concatenate([repeat.error_m for repeat in found.repeats]))
    page.add_text(
        f"lateral error from the taught route, {found.what}, at every pose; "
        "the report has the figures at the marks"
    )
    bar = ColourBar(page, errors, "lateral error")
    PathLines(page).set(TAUGHT, segments_of(found.route + _UP_M / 2.0, MOST_POINTS))
    with page.gui.add_folder("Repeats"):
        for number, repeat in enumerate(found.repeats):
            _show_repeat(page, f"/repeats/{number}", repeat, bar)
    low, high = found.route.min(axis=0), found.route.max(axis=0)
    place_camera(page, (low + high) / 2.0, np.pi / 2.0, back_m=0.8 * float((high - low).max()))


def _show_repeat(page: Page, name: str, repeat: ShownRepeat, bar: ColourBar) -> None:
    shown = page.scene.add_line_segments(
        name,
        segments_of(repeat.p_map + _UP_M, MOST_POINTS),
        segments_of(bar.colours(np.abs(repeat.error_m)), MOST_POINTS),
        thickness=4.0,
        thickness_units="screen",
    )
    VisibilitySwitch(page, f"Show {repeat.name}", shown)
    page.add_text(repeat.text())
