# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the vehicles of a simulation were at any instant of the last readings."""

from bisect import bisect_left
from collections import deque
from collections.abc import Mapping

import numpy as np

from aerotwin_core.time import from_seconds
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import MovingObject, ObjectsAt, PlacedObject
from aerotwin_simulator.obstacles import MOST_OBSTACLES
from aerotwin_simulator.robot import RobotShape
from aerotwin_simulator.truth import TruthStep

FIRST_NUMBER = MOST_OBSTACLES
"""Number of the first vehicle as a moving object; those below are of obstacles."""
_Step = tuple[int, int, np.ndarray, np.ndarray, tuple[MovingObject, ...]]
"""Begin, end [ns], states at both, whose they are."""
_MOST_INSTANTS = 256
"""Cached instants: a turn of a lidar has 50, and the lidars of all vehicles the same."""


class VehicleTracks:
    """The motion of all vehicles over the last steps, as objects that sensors of others see.

    A reading that takes time, as a turn of a lidar, is measured when it is complete: the steps of
    the last `look_back_s` are remembered, and `step_s` is the time of one.
    """

    def __init__(self, step_s: float) -> None:
        self._step_s = step_s
        self._known: dict[tuple[str, int], tuple[TexturedMesh, MovingObject]] = {}
        self._objects: tuple[MovingObject, ...] = ()
        self._steps: deque[_Step] = deque(maxlen=2)
        self._placed: dict[int, tuple[PlacedObject, ...]] = {}

    def set_vehicles(self, shapes: Mapping[str, RobotShape], look_back_s: float) -> None:
        """Set the vehicles by name from now on; steps of this time are remembered.

        A name of the same shape keeps its number.
        """
        for name, shape in shapes.items():
            if (name, id(shape.mesh)) not in self._known:
                number = FIRST_NUMBER + len(self._known)
                known = shape.mesh, MovingObject(name, [shape.mesh], number=number)
                self._known[name, id(shape.mesh)] = known
        self._objects = tuple(
            self._known[name, id(shape.mesh)][1] for name, shape in shapes.items()
        )
        self._placed.clear()
        n = from_seconds(look_back_s) // from_seconds(self._step_s) + 3
        self._steps = deque(self._steps, maxlen=n)

    def add(self, begin_ns: int, end_ns: int, before: np.ndarray, after: np.ndarray) -> None:
        """Add a step [ns] from states (n, k) to states (n, k) of all vehicles, which are kept."""
        self._steps.append((begin_ns, end_ns, before, after, self._objects))

    def others(self, name: str, objects_at: ObjectsAt) -> ObjectsAt:
        """Return what a vehicle sees: other objects, and all vehicles but itself."""

        def seen(stamp_ns: int) -> tuple[PlacedObject, ...]:
            others = (placed for placed in self.at(stamp_ns) if placed.object.name != name)
            return (*objects_at(stamp_ns), *others)

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
        while k + 1 < len(self._steps) and self._steps[k + 1][1] == stamp_ns:
            k += 1  # who joined or left at this instant did so after the step that ends there
        begin_ns, end_ns, before, after, objects = self._steps[k]
        stamp_ns = max(stamp_ns, begin_ns)
        return tuple(
            PlacedObject(
                object=moving, T_map_object=TruthStep(begin_ns, end_ns, start, end).pose(stamp_ns)
            )
            for moving, start, end in zip(objects, before, after, strict=True)
        )
