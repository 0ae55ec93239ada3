# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch in the panel that shows or hides a part of the scene."""

import viser

from aerotwin_view.page import Page


class VisibilitySwitch:
    """Shows or hides a part; `is_shown` says which at first."""

    def __init__(
        self, page: Page, label: str, part: viser.SceneNodeHandle, *, is_shown: bool = True
    ) -> None:
        self._part = part
        self._part.visible = is_shown
        self._switch = page.gui.add_checkbox(label, initial_value=is_shown)
        self._switch.on_update(lambda _: self._follow())

    def _follow(self) -> None:
        self._part.visible = self._switch.value
