# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Places on the surface of a world, clicked on the page: where they are, and how far apart."""

import threading

import numpy as np
import viser
import yaml

from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_rendering import WorldQueries
from aerotwin_view.page import Page
from aerotwin_worlds import World

MOST_PLACES = 100
_COLOUR = (230, 80, 30)
_MARK_M = 0.004
"""Radius of a mark over the distance from which it was set."""
_HELP = "Click the ground to read where it is; more clicks make a path."


class Places:
    """The panel of the clicked places, for all pages of a page."""

    def __init__(self, page: Page, world: World) -> None:
        self._page, self._queries = page, WorldQueries(world)
        self._plane = LocalTangentPlane(world.origin)
        self._p_map: list[np.ndarray] = []
        self._sizes: list[float] = []
        self._lock = threading.Lock()
        with page.gui.add_folder("Places"):
            self._text = page.gui.add_markdown(_HELP)
            self._undo = page.gui.add_button("Remove last", disabled=True)
            self._clear = page.gui.add_button("Remove all", disabled=True)
            self._save = page.gui.add_button("Save as way-points (YAML)", disabled=True)
        self._undo.on_click(lambda _: self._remove(1))
        self._clear.on_click(lambda _: self._remove(MOST_PLACES))
        self._save.on_click(self._send)
        page.scene.on_click()(self._click)

    @property
    def points(self) -> list[np.ndarray]:
        """The places (3,) in map [m], in the order of the clicks."""
        with self._lock:
            return list(self._p_map)

    def _click(self, event: viser.SceneClickEvent) -> None:
        origin, direction = np.array(event.ray_origin), np.array(event.ray_direction)
        if not (np.isfinite([origin, direction]).all() and np.linalg.norm(direction) > 0.0):
            return
        with self._lock:
            distance_m = self._queries.cast_one(origin, direction)
            if not np.isfinite(distance_m) or len(self._p_map) >= MOST_PLACES:
                return
            unit = direction / np.linalg.norm(direction)
            self._p_map.append(origin + distance_m * unit)
            self._sizes.append(_MARK_M * distance_m)
            self._show()

    def _remove(self, n: int) -> None:
        with self._lock:
            del self._p_map[-n:], self._sizes[-n:]
            self._show()

    def _show(self) -> None:
        scene = self._page.scene
        scene.remove_by_name("/places")
        for k, (p_map, size_m) in enumerate(zip(self._p_map, self._sizes, strict=True), start=1):
            name = f"/places/{k}"
            scene.add_icosphere(name, radius=size_m, color=_COLOUR, position=p_map)
            scene.add_label(f"{name}/number", str(k))
        if len(self._p_map) > 1:
            raised = np.array(self._p_map) + np.outer(self._sizes, (0.0, 0.0, 1.0))
            ends = np.stack([raised[:-1], raised[1:]], axis=1)
            scene.add_line_segments(
                "/places/path", ends, _COLOUR, thickness=3.0, thickness_units="screen"
            )
        for button in (self._undo, self._clear, self._save):
            button.disabled = not self._p_map
        self._text.content = self._description()

    def _description(self) -> str:
        if not self._p_map:
            return _HELP
        last = self._p_map[-1]
        latitude, longitude, altitude = self._plane.to_geodetic(last)
        lines = [
            f"**Place {len(self._p_map)}** ({last[0]:.2f}, {last[1]:.2f}, {last[2]:.2f}) m in map",
            f"{latitude:.7f}°, {longitude:.7f}°, {altitude:.2f} m",
        ]
        if len(self._p_map) > 1:
            steps = np.diff(self._p_map, axis=0)
            lengths = np.linalg.norm(steps, axis=1)
            lines.append(
                f"from place {len(self._p_map) - 1}: {lengths[-1]:.2f} m "
                f"({np.linalg.norm(steps[-1, :2]):.2f} m level, {steps[-1, 2]:+.2f} m up); "
                f"path {lengths.sum():.2f} m"
            )
        return "\n\n".join(lines)

    def _send(self, event: viser.GuiEvent) -> None:
        if event.client is not None:
            with self._lock:
                points = [{"position_m": [round(float(v), 3) for v in p]} for p in self._p_map]
            text = yaml.safe_dump({"waypoints": points}, sort_keys=False, default_flow_style=None)
            event.client.send_file_download("waypoints.yaml", text.encode(), save_immediately=True)
