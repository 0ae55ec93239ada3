# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The path of a robot while a person drives it, to be taught: its poses, its way-points."""

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.tum import tum_line
from aerotwin_view.waypoints import MOST_POINTS

STEP_M = 0.05
"""Of a path; six poses to a vertex of a taught route."""
LONGEST_STEP_M = 2.0
"""Between two poses that are heard; what is further was a reset."""
MOST_POSES = 100_000
SPACING_M = 4.0
"""Of way-points, more where there would be too many."""


class TaughtPath:
    """Poses T_map_base in the order of driving."""

    def __init__(self) -> None:
        self._stamps_ns: list[int] = []
        self._p: list[FloatArray] = []
        self._q_xyzw: list[FloatArray] = []

    def add(self, stamp_ns: int, p_map: FloatArray, q_xyzw: FloatArray) -> bool:
        """Add a pose if the robot has moved; return False if the path cannot go on there."""
        if self._p:
            step_m = np.linalg.norm(p_map - self._p[-1])
            if not step_m <= LONGEST_STEP_M or len(self._p) >= MOST_POSES:
                return False
            if step_m < STEP_M or stamp_ns <= self._stamps_ns[-1]:
                return True
        self._stamps_ns.append(stamp_ns)
        self._p.append(np.array(p_map))
        self._q_xyzw.append(np.array(q_xyzw))
        return True

    def __len__(self) -> int:
        return len(self._p)

    @property
    def positions(self) -> FloatArray:
        """The path (n, 3) in map [m]."""
        return np.array(self._p).reshape(-1, 3)

    @property
    def length_m(self) -> float:
        """Its length."""
        return float(np.linalg.norm(np.diff(self.positions, axis=0), axis=1).sum())

    def tum_text(self) -> str:
        """Return it as a TUM file, as `aerotwin teach --route` reads it."""
        poses = zip(self._stamps_ns, self._p, self._q_xyzw, strict=True)
        return "".join(f"{tum_line(*pose)}\n" for pose in poses)

    def waypoints(self) -> FloatArray:
        """Return points (m, 3) of it at even distances along it, both ends included [m]."""
        positions = self.positions
        steps = np.linalg.norm(np.diff(positions, axis=0), axis=1)
        along = np.concatenate([[0.0], np.cumsum(steps)])
        n = min(max(round(along[-1] / SPACING_M), 1) + 1, MOST_POINTS)
        stations = np.linspace(0.0, along[-1], n)
        return np.stack([np.interp(stations, along, axis) for axis in positions.T], axis=1)
