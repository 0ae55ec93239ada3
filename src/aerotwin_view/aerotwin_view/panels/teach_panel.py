# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A route that is taught by driving: recorded, shown as it grows, saved, or made way-points."""

import threading
from collections.abc import Callable

import numpy as np
import viser

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.panels.taught_path import TaughtPath
from aerotwin_view.scene.path_lines import segments_of

_COLOUR = (0, 150, 60)
_RAISED_M = np.array([0.0, 0.0, 0.1])
"""The line is drawn above the ground."""
_MOST_DRAWN = 3000
"""Points of the line, which every page is sent anew as it grows."""
_HELP = "Record, then drive: what is driven becomes a route for aerotwin teach."


class TeachPanel:
    """The panel of a taught path."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._edit: Callable[[FloatArray], None] | None = None
        self._lock = threading.Lock()
        self._path, self._robot = TaughtPath(), ""
        self._is_recording = False
        self._n_drawn = 0
        with page.gui.add_folder("Teach by driving", expand_by_default=False):
            self._text = page.add_text(_HELP)
            buttons = page.gui.add_button_group("", ("Record", "Stop recording"))
            self._to_waypoints = page.gui.add_button("Make it way-points to edit", disabled=True)
            self._save = page.gui.add_button("Save driven path (TUM)", disabled=True)
        buttons.on_click(lambda _: self._record(is_on=buttons.value == "Record"))
        self._to_waypoints.on_click(lambda _: self._hand_over())
        self._save.on_click(self._send)

    def edit_by(self, edit: Callable[[FloatArray], None]) -> None:
        """Let `edit` take way-points (n, 3) along the path [m] when that is asked for."""
        with self._lock:
            self._edit = edit
            self._n_drawn = -1  # the button is offered at the next drawing

    def add(self, robot: str, stamp_ns: int, p_map: FloatArray, q_xyzw: FloatArray) -> None:
        """Record the pose of the robot that is steered, if recording is on."""
        with self._lock:
            if not self._is_recording:
                return
            if not len(self._path):
                self._robot = robot
            if robot != self._robot or not self._path.add(stamp_ns, p_map, q_xyzw):
                self._is_recording = False
                self._text.set(f"recording ended after {self._path.length_m:.1f} m: the robot "
                               "is another one, was reset, or the path is too long")  # fmt: skip

    def draw(self) -> None:
        """Show what was recorded since the last time."""
        with self._lock:
            if len(self._path) == self._n_drawn:
                return
            self._n_drawn = len(self._path)
            if self._n_drawn < 2:
                self._page.scene.remove_by_name("/taught")
                return
            points = self._path.thinned_positions(_MOST_DRAWN) + _RAISED_M
            ends = segments_of(points, _MOST_DRAWN)
            self._page.scene.add_line_segments(
                "/taught", ends, _COLOUR, thickness=5.0, thickness_units="screen"
            )
            if self._is_recording:
                self._text.set(f"recording: {self._path.length_m:.1f} m")
            self._save.disabled = False
            self._to_waypoints.disabled = self._edit is None

    def _record(self, *, is_on: bool) -> None:
        with self._lock:
            if is_on:
                self._path, self._n_drawn = TaughtPath(), -1
                self._save.disabled = self._to_waypoints.disabled = True
                self._text.set("recording: drive")
            elif self._is_recording:
                self._text.set(f"recorded: {self._path.length_m:.1f} m")
            self._is_recording = is_on

    def _hand_over(self) -> None:
        with self._lock:
            path = self._path.copied()
        if self._edit is not None and len(path) > 1:
            self._edit(path.waypoints())

    def _send(self, event: viser.GuiEvent) -> None:
        if event.client is not None:
            with self._lock:
                path = self._path.copied()
            content = path.tum_text().encode()
            event.client.send_file_download("drive.tum", content, save_immediately=True)
