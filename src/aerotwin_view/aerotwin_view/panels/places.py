# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Places on the page: clicked, measured, dragged, ordered, raised, saved as way-points."""

import threading
from collections.abc import Callable

import numpy as np
import viser

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_rendering import WorldQueries
from aerotwin_view.page import Page
from aerotwin_view.panels.saved_waypoints import (
    area_text,
    level_area_m2,
    mission_text,
    route_text,
)
from aerotwin_view.panels.waypoints import WaypointList
from aerotwin_worlds import World

FIRST_HEIGHT_M = 5.0
_COLOUR, _CHOSEN = (230, 80, 30), (255, 200, 0)
_MARK_M = 0.004
"""Radius of a mark over the distance from which it was set."""
_LEAST_MARK_M = 0.1
_ARROWS = 25.0
"""Length of the arrows that drag a place, over the radius of its mark."""
_FAR_M = 1e6
_HELP = "Click the ground to read where it is; more clicks make a path."
_NONE = "none"


class Places:
    """The panel of the clicked places, for all pages of a page.

    `queries` are those of the world.
    """

    def __init__(self, page: Page, world: World, queries: WorldQueries) -> None:
        self._page, self._queries, self._world = page, queries, world
        self._plane = LocalTangentPlane(world.origin)
        self._list = WaypointList(queries)
        self._lock = threading.RLock()  # setting a value of the panel calls back
        self._arrows: viser.TransformControlsHandle | None = None
        with page.gui.add_folder("Places"):
            self._text = page.gui.add_markdown(_HELP)
            self._choice = page.gui.add_dropdown("Place", (_NONE,), hint="which can be dragged")
            self._height = page.gui.add_number(
                "Height [m]", FIRST_HEIGHT_M, min=0.0, max=1000.0, step=0.5,
                hint="of the way-point above what was clicked: of the place that is chosen",
            )  # fmt: skip
            self._add_buttons(
                {
                    "Earlier": lambda: self._list.shift(-1),
                    "Later": lambda: self._list.shift(1),
                }
            )
            self._add_buttons({"Remove place": self._list.remove, "Remove all": self._list.clear})
            self._saves = (
                page.gui.add_button("Save as mission (YAML)", disabled=True),
                page.gui.add_button("Save as route (YAML)", disabled=True),
                page.gui.add_button("Save as area (GeoJSON)", disabled=True),
            )
            self._notice = page.add_text("")
        mission, route, area = self._saves
        mission.on_click(lambda event: self._save(event, "mission.yaml", self._mission))
        route.on_click(lambda event: self._save(event, "route.yaml", self._route))
        area.on_click(lambda event: self._save(event, "area.geojson", self._area))
        self._choice.on_update(lambda _: self._choose())
        self._height.on_update(lambda _: self._raise())
        page.scene.on_click()(self._click)
        self._show()

    @property
    def ground_points(self) -> list[FloatArray]:
        """What was clicked, (3,) each in map [m], in the order of the way-points."""
        with self._lock:
            return [point.p_map_ground for point in self._list.points]

    @property
    def waypoints(self) -> list[FloatArray]:
        """The way-points above, (3,) each in map [m]."""
        with self._lock:
            return list(self._list.positions())

    def set_waypoints(self, positions: FloatArray) -> None:
        """Have way-points at these (n, 3) [m] in place of those before."""
        with self._lock:
            self._list.clear()
            for p_map in positions:
                self._list.place(p_map, _LEAST_MARK_M)
            self._show()

    def _click(self, event: viser.SceneClickEvent) -> None:
        origin, direction = np.array(event.ray_origin), np.array(event.ray_direction)
        if not (np.isfinite([origin, direction]).all() and np.linalg.norm(direction) > 0.0):
            return
        with self._lock:
            distance_m = self._queries.cast_one(origin, direction)
            if not np.isfinite(distance_m):
                return
            p_map = origin + distance_m * direction / np.linalg.norm(direction)
            self._list.add(
                p_map, float(self._height.value), max(_MARK_M * distance_m, _LEAST_MARK_M)
            )
            self._show()

    def _choose(self) -> None:
        with self._lock:
            if self._choice.value != _NONE and int(self._choice.value) - 1 != self._list.chosen:
                self._list.choose(int(self._choice.value) - 1)
                self._show()

    def _raise(self) -> None:
        with self._lock:
            k, height_m = self._list.chosen, float(self._height.value)
            if k is not None and height_m != round(self._list.points[k].height_m, 2):
                self._list.set_height(height_m)
                self._show()

    def _drag(self, event: viser.TransformControlsEvent) -> None:
        with self._lock:
            if self._list.chosen is None:
                return
            self._list.move(self._list.chosen, np.array(event.target.position, dtype=np.float64))
            if event.phase == "end":
                self._show()
            else:
                self._draw_marks()

    # -- what is shown ------------------------------------------------------------------------

    def _show(self) -> None:
        self._draw_marks()
        if self._arrows is not None:
            self._arrows.remove()
            self._arrows = None
        points, k = self._list.points, self._list.chosen
        names = tuple(str(number) for number in range(1, len(points) + 1)) or (_NONE,)
        if names != tuple(self._choice.options):
            self._choice.options = names
        self._choice.value = _NONE if k is None else str(k + 1)
        for button in self._saves:
            button.disabled = not points
        self._text.content = self._description()
        self._notice.set("")
        if k is None:
            return
        self._height.value = round(points[k].height_m, 2)
        self._arrows = self._page.scene.add_transform_controls(
            "/place_arrows",
            scale=_ARROWS * points[k].size_m,
            disable_rotations=True,
            depth_test=False,
            position=points[k].p_map,
            translation_limits=((-_FAR_M, _FAR_M),) * 3,
        )
        self._arrows.on_update(self._drag)

    def _draw_marks(self) -> None:
        scene = self._page.scene
        scene.remove_by_name("/places")
        points = self._list.points
        for k, point in enumerate(points):
            name = f"/places/{k + 1}"
            colour = _CHOSEN if k == self._list.chosen else _COLOUR
            scene.add_icosphere(name, radius=point.size_m, color=colour, position=point.p_map)
            scene.add_label(f"{name}/number", str(k + 1))
        up = np.array([point.p_map for point in points]).reshape(-1, 3)
        below = np.array([point.p_map_ground for point in points]).reshape(-1, 3)
        self._draw_lines("poles", np.stack([below, up], axis=1), 1.0)
        self._draw_lines("path", np.stack([up[:-1], up[1:]], axis=1), 3.0)

    def _draw_lines(self, name: str, ends: FloatArray, thickness: float) -> None:
        if len(ends):
            self._page.scene.add_line_segments(
                f"/places/{name}", ends, _COLOUR, thickness=thickness, thickness_units="screen"
            )

    def _description(self) -> str:
        k = self._list.chosen
        if k is None:
            return _HELP
        ground = np.array([point.p_map_ground for point in self._list.points])
        latitude, longitude, altitude = self._plane.to_geodetic(ground[k])
        x, y, z = ground[k]
        lines = [
            f"**Place {k + 1}** ({x:.2f}, {y:.2f}, {z:.2f}) m in map",
            f"{latitude:.7f}°, {longitude:.7f}°, {altitude:.2f} m",
        ]
        if len(ground) > 1:
            steps = np.diff(ground, axis=0)
            lengths = np.linalg.norm(steps, axis=1)
            path = f"path {lengths.sum():.2f} m"
            if k:
                step = steps[k - 1]
                path = (
                    f"from place {k}: {lengths[k - 1]:.2f} m "
                    f"({np.linalg.norm(step[:2]):.2f} m level, {step[2]:+.2f} m up); {path}"
                )
            lines.append(path)
        if len(ground) > 2:
            lines.append(f"area within: {level_area_m2(ground):.1f} m², level")
        return "\n\n".join(lines)

    # -- buttons ------------------------------------------------------------------------------

    def _add_buttons(self, row: dict[str, Callable[[], None]]) -> None:
        buttons = self._page.gui.add_button_group("", tuple(row))

        @buttons.on_click
        def _(_: object) -> None:
            with self._lock:
                row[buttons.value]()
                self._show()

    def _mission(self) -> str:
        return mission_text(self._list.positions(), self._queries)

    def _route(self) -> str:
        return route_text(self._list.positions(), self._world.name)

    def _area(self) -> str:
        return area_text(np.array(self.ground_points), self._plane, self._world.name)

    def _save(self, event: viser.GuiEvent, name: str, text: Callable[[], str]) -> None:
        try:
            with self._lock:
                content = text().encode()
        except ParameterError as error:
            self._notice.set(f"not saved: {error}")
            return
        self._notice.set("")
        if event.client is not None:
            event.client.send_file_download(name, content, save_immediately=True)
