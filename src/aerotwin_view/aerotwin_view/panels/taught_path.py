# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The path of a robot while a person drives it, to be taught: its poses, its way-points."""

from copy import copy

import numpy as np

from aerotwin_core.charts import thinned
from aerotwin_core.frames import FloatArray
from aerotwin_core.tum import tum_line
from aerotwin_view.panels.waypoints import MOST_POINTS

STEP_M = 0.05
"""Of a path; six poses to a vertex of a taught route."""
MOST_M_S = 40.0
"""Between two poses that are heard; what is faster was put elsewhere."""
JUMP_M = 0.5
"""More than that is allowed for, as poses are stamped a little before or after they hold."""
BACK_NS = 500_000_000
"""A time so far before the last is that of a new run; less is a pose that came late."""
MOST_POSES = 100_000
SPACING_M = 4.0
"""Of way-points, more where there would be too many."""


class TaughtPath:
    """Poses T_map_base in the order of driving."""

    def __init__(self) -> None:
        self._stamps_ns: list[int] = []
        self._p: list[FloatArray] = []
        self._q_xyzw: list[FloatArray] = []
        self._heard: tuple[int, FloatArray] | None = None  # the last pose, recorded or not
        self.length_m = 0.0

    def add(self, stamp_ns: int, p_map: FloatArray, q_xyzw: FloatArray) -> bool:
        """Add a pose if the robot has moved; return False if the path cannot go on there."""
        if not self._goes_on(stamp_ns, p_map) or len(self._p) >= MOST_POSES:
            return False
        if self._heard is not None and stamp_ns <= self._heard[0]:
            return True
        p_map = np.array(p_map)
        self._heard = stamp_ns, p_map
        step_m = float(np.linalg.norm(p_map - self._p[-1])) if self._p else 0.0
        if self._p and step_m < STEP_M:
            return True
        self._stamps_ns.append(stamp_ns)
        self._p.append(p_map)
        self._q_xyzw.append(np.array(q_xyzw))
        self.length_m += step_m
        return True

    def _goes_on(self, stamp_ns: int, p_map: FloatArray) -> bool:
        """Return whether the robot may have driven there since it was heard last."""
        if self._heard is None:
            return bool(np.isfinite(p_map).all())
        last_ns, p_last = self._heard
        way_m = MOST_M_S * abs(stamp_ns - last_ns) * 1e-9 + JUMP_M
        return stamp_ns > last_ns - BACK_NS and bool(np.linalg.norm(p_map - p_last) <= way_m)

    def __len__(self) -> int:
        return len(self._p)

    def copied(self) -> "TaughtPath":
        """Return the path as it is now, which does not grow with this one."""
        path = copy(self)
        path._stamps_ns, path._p, path._q_xyzw = self._stamps_ns[:], self._p[:], self._q_xyzw[:]
        return path

    @property
    def positions(self) -> FloatArray:
        """The path (n, 3) in map [m]."""
        return np.array(self._p).reshape(-1, 3)

    def thinned_positions(self, most: int) -> FloatArray:
        """Return at most so many of its positions (n, 3), evenly, with both ends [m]."""
        which = thinned(len(self._p), most) if self._p else ()
        return np.array([self._p[k] for k in which]).reshape(-1, 3)

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
