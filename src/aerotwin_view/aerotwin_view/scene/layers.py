# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of switches that show and hide what is drawn beside the robots."""

from collections.abc import Callable

import viser

from aerotwin_view.page import Page


class Layers:
    """Switches of the panel, one for each kind of what is drawn."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._folder = page.gui.add_folder("Show")

    def add(self, label: str, hint: str, on_change: Callable[[bool], None]) -> "LayerSwitch":
        """Return a new switch, which is on; `on_change` gets whether it is, when it is switched."""
        with self._folder:
            switch = self._page.gui.add_checkbox(label, initial_value=True, hint=hint)
        switch.on_update(lambda _: on_change(bool(switch.value)))
        return LayerSwitch(switch)


class LayerSwitch:
    """Whether something is shown."""

    def __init__(self, switch: viser.GuiInputHandle[bool]) -> None:
        self._switch = switch

    @property
    def is_on(self) -> bool:
        """Whether it is shown."""
        return bool(self._switch.value)
