# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight on a page, at any time: its robots, and the paths of their estimates."""

from collections.abc import Sequence

import numpy as np

from aerotwin_core import plots
from aerotwin_core.frames import FloatArray
from aerotwin_core.trajectory import Trajectory
from aerotwin_view.page import Page
from aerotwin_view.robots_scene import RobotsScene
from aerotwin_view.shown_flight import ShownFlight

FLOWN = "flown"
_COLOURS = (plots.ALIGNED, plots.ESTIMATE, plots.FLOOR, plots.ACCENT, plots.BAD)
_MOST_POINTS = 2000
"""Of a path."""


class FlightScene:
    """The robots of a flight, and the paths of their motion and their estimates."""

    def __init__(self, page: Page, flight: ShownFlight) -> None:
        self._page = page
        self._trajectories = [robot.trajectory for robot in flight.robots]
        self._robots = RobotsScene(
            page, [robot.name for robot in flight.robots], [robot.model for robot in flight.robots]
        )
        paths = {FLOWN: self._trajectories}
        for path in flight.paths:
            placed = " (placed at its first pose)" if path.is_placed else ""
            paths.setdefault(f"{path.kind}{placed}", []).append(path.trajectory)
        with page.gui.add_folder("Paths"):
            for k, (kind, trajectories) in enumerate(paths.items()):
                colour = plots.TRUTH if kind == FLOWN else _COLOURS[(k - 1) % len(_COLOURS)]
                self._add_paths(kind, k, trajectories, colour)

    def show_at(self, stamp_ns: int) -> None:
        """Show every robot where it was at a time [ns]; before and after its motion, at an end."""
        poses = [_pose_at(trajectory, stamp_ns) for trajectory in self._trajectories]
        self._robots.show(np.array([p for p, _ in poses]), np.array([q for _, q in poses]))

    def _add_paths(
        self, kind: str, number: int, trajectories: Sequence[Trajectory], colour: str
    ) -> None:
        """Add paths of a kind, and a switch that hides them."""
        rgb = tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))
        ends = np.concatenate([_segments(trajectory) for trajectory in trajectories])
        lines = self._page.scene.add_line_segments(f"/paths/{number}", ends, rgb, line_width=2.0)
        self._page.add_text(f"\u25ac {kind}", colour)
        switch = self._page.gui.add_checkbox(f"Show {kind}", initial_value=True)

        @switch.on_update
        def _(_: object) -> None:
            lines.visible = switch.value


def _pose_at(trajectory: Trajectory, stamp_ns: int) -> tuple[FloatArray, FloatArray]:
    """Return position (3,) and quaternion xyzw (4,) at a time within the motion, or next to it."""
    stamps = trajectory.stamps_ns
    at_ns = min(max(stamp_ns, int(stamps[0])), int(stamps[-1]))
    pose = trajectory.interpolate(np.array([at_ns]))
    return pose.p_ref_body[0], pose.q_ref_body[0]


def _segments(trajectory: Trajectory) -> FloatArray:
    """Return the segments (n, 2, 3) of a path, thinned evenly."""
    n = len(trajectory)
    kept = np.unique(np.linspace(0, n - 1, min(n, _MOST_POINTS)).astype(int))
    points = trajectory.p_ref_body[kept]
    return np.stack([points[:-1], points[1:]], axis=1)
