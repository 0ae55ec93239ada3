# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight on a page, at any time: its robots, and the paths of their estimates."""

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_view.page import Page
from aerotwin_view.recorded.shown_flight import ShownFlight
from aerotwin_view.scene.clear_view import Cast
from aerotwin_view.scene.kind_colours import FLOWN
from aerotwin_view.scene.path_lines import PathLines, segments_of
from aerotwin_view.scene.robots_scene import RobotsScene

_MOST_POINTS = 2000
"""Of a path."""


class FlightScene:
    """The robots of a flight, and the paths of their motion and their estimates."""

    def __init__(self, page: Page, flight: ShownFlight) -> None:
        self._shown = flight.robots
        self._robots = RobotsScene(page)
        self._robots.set_robots(
            [robot.name for robot in flight.robots], [robot.model for robot in flight.robots]
        )
        paths = {FLOWN: [robot.trajectory for robot in flight.robots]}
        for path in flight.paths:
            placed = " (placed at its first pose)" if path.is_placed else ""
            paths.setdefault(f"{path.kind}{placed}", []).append(path.trajectory)
        self._lines = lines = PathLines(page)
        for kind, trajectories in paths.items():
            ends = [segments_of(each.p_ref_body, _MOST_POINTS) for each in trajectories]
            lines.set(kind, np.concatenate(ends))

    @property
    def colours(self) -> dict[str, str]:
        """The colour, as #rrggbb, of each kind of path."""
        return self._lines.colours

    def see_past(self, cast: Cast) -> None:
        """See `RobotsScene.see_past`."""
        self._robots.see_past(cast)

    def show_at(self, stamp_ns: int) -> None:
        """Show every robot where it was at a time [ns]; before and after its motion, at an end."""
        transforms = np.array([robot.transform_at(stamp_ns) for robot in self._shown])
        turns = Rotation.from_matrix(transforms[:, :3, :3]).as_quat()
        self._robots.show(transforms[:, :3, 3], turns)
