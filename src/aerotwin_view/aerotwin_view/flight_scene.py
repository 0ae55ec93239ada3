# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight on a page, at any time: its robots, and the paths of their estimates."""

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.trajectory import Trajectory
from aerotwin_view.page import Page
from aerotwin_view.path_lines import FLOWN, PathLines
from aerotwin_view.robots_scene import RobotsScene
from aerotwin_view.shown_flight import ShownFlight

_MOST_POINTS = 2000
"""Of a path."""


class FlightScene:
    """The robots of a flight, and the paths of their motion and their estimates."""

    def __init__(self, page: Page, flight: ShownFlight) -> None:
        self._trajectories = [robot.trajectory for robot in flight.robots]
        self._robots = RobotsScene(page)
        self._robots.set_robots(
            [robot.name for robot in flight.robots], [robot.model for robot in flight.robots]
        )
        paths = {FLOWN: self._trajectories}
        for path in flight.paths:
            placed = " (placed at its first pose)" if path.is_placed else ""
            paths.setdefault(f"{path.kind}{placed}", []).append(path.trajectory)
        lines = PathLines(page)
        for kind, trajectories in paths.items():
            lines.set(kind, np.concatenate([_segments(each) for each in trajectories]))

    def show_at(self, stamp_ns: int) -> None:
        """Show every robot where it was at a time [ns]; before and after its motion, at an end."""
        poses = [_pose_at(trajectory, stamp_ns) for trajectory in self._trajectories]
        self._robots.show(np.array([p for p, _ in poses]), np.array([q for _, q in poses]))


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
