# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the vehicles of a simulation were at any instant of the last readings."""

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence

import numpy as np

from aerotwin_core.time import from_seconds
from aerotwin_multirotor_dynamics import Airframe
from aerotwin_rendering import MovingObject, ObjectsAt, PlacedObject
from aerotwin_simulator.airframe_mesh import airframe_mesh
from aerotwin_simulator.obstacles import MOST_OBSTACLES
from aerotwin_simulator.truth import TruthStep

FIRST_NUMBER = MOST_OBSTACLES
"""Number of the first vehicle as a moving object; those below are of obstacles."""
_MOST_INSTANTS = 256
"""Cached instants: a turn of a lidar has 50, and the lidars of all vehicles the same."""


class VehicleTracks:
    """The motion of all vehicles over the last steps, as objects that sensors of others see.

    A reading that takes time, as a turn of a lidar, is measured when it is complete: the steps of
    the last `look_back_s` are remembered, and `step_s` is the time of one.
    """

    def __init__(self, names: Sequence[str], airframes: Sequence[Airframe], step_s: float) -> None:
        self._step_s = step_s
        shapes = {airframe: airframe_mesh(airframe) for airframe in {*airframes}}
        self._objects = [
            MovingObject(name, [shapes[airframe]], number=FIRST_NUMBER + k)
            for k, (name, airframe) in enumerate(zip(names, airframes, strict=True))
        ]
        self._steps: deque[tuple[int, int, np.ndarray, np.ndarray]] = deque(maxlen=2)
        self._placed: dict[int, tuple[PlacedObject, ...]] = {}

    def remember(self, look_back_s: float) -> None:
        """Remember the steps of this time from now on."""
        n = from_seconds(look_back_s) // from_seconds(self._step_s) + 3
        self._steps = deque(self._steps, maxlen=n)

    def add(self, begin_ns: int, end_ns: int, before: np.ndarray, after: np.ndarray) -> None:
        """Add a step [ns] from states (n, k) to states (n, k) of all vehicles, which are kept."""
        self._steps.append((begin_ns, end_ns, before, after))

    def others(self, index: int, objects_at: ObjectsAt) -> ObjectsAt:
        """Return what a vehicle sees: other objects, and all vehicles but itself."""

        def seen(stamp_ns: int) -> tuple[PlacedObject, ...]:
            placed = self.at(stamp_ns)
            return (*objects_at(stamp_ns), *placed[:index], *placed[index + 1 :])

        return seen

    def at(self, stamp_ns: int) -> tuple[PlacedObject, ...]:
        """Return all vehicles at an instant [ns], interpolated as the truth of each is."""
        if not self._steps:
            return ()
        stamp_ns = min(stamp_ns, self._steps[-1][1])
        if (placed := self._placed.get(stamp_ns)) is None:
            if len(self._placed) >= _MOST_INSTANTS:
                self._placed.clear()
            placed = self._placed[stamp_ns] = self._at(stamp_ns)
        return placed

    def _at(self, stamp_ns: int) -> tuple[PlacedObject, ...]:
        k = bisect_left(self._steps, stamp_ns, key=lambda step: step[1])
        begin_ns, end_ns, before, after = self._steps[k]
        stamp_ns = max(stamp_ns, begin_ns)
        return tuple(
            PlacedObject(
                object=moving, T_map_object=TruthStep(begin_ns, end_ns, start, end).pose(stamp_ns)
            )
            for moving, start, end in zip(self._objects, before, after, strict=True)
        )
