# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The obstacles of a simulation, and what is published of them."""

from collections.abc import Sequence
from dataclasses import replace

from aerotwin_core.errors import ParameterError
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.frames import quaternion_from_rotation
from aerotwin_core.messages import odometry_message
from aerotwin_core.time import Schedule
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import PlacedObject, WorldQueries
from aerotwin_simulator import topics
from aerotwin_simulator.topics import SinkGroup, Topic
from aerotwin_worlds.obstacle import MovingObstacle, Obstacle

MOST_OBSTACLES = 1000


class _PublishedObstacle(MovingObstacle):
    """An obstacle with the topic of its true odometry."""

    def __init__(
        self, obstacle: Obstacle, start_ns: int, number: int, queries: WorldQueries
    ) -> None:
        super().__init__(obstacle, start_ns, number, queries)
        frame = f"obstacles/{obstacle.name}"
        self.topic = replace(
            topics.OBSTACLE_ODOM,
            name=topics.OBSTACLE_ODOM.name.replace("NAME", obstacle.name),
            frame_id=f"map -> {frame}",
        )
        self._odometry = FixedLayout(
            lambda stamp_ns, v: odometry_message(
                stamp_ns, "map", frame, v[:3], v[3:7], v[7:10], v[10:]
            ),
            13,
        )

    def odometry(self, stamp_ns: int) -> bytes:
        """Return its true pose and velocity as nav_msgs/Odometry, serialised."""
        T = self.T_map_object(stamp_ns)
        q = quaternion_from_rotation(T[:3, :3])
        return self._odometry.pack(stamp_ns, [*T[:3, 3], *q, *self.twist(stamp_ns)])


class ObstacleCourse:
    """The obstacles of a simulation: where they are is a function of simulated time alone.

    It is told the ground by ``queries``, and publishes the true odometry of each obstacle.
    """

    def __init__(self, queries: WorldQueries, sinks: SinkGroup) -> None:
        self._queries, self._sinks = queries, sinks
        self.clear(0)

    def clear(self, stamp_ns: int) -> None:
        """Remove all obstacles at an instant [ns]."""
        self._moving: dict[str, _PublishedObstacle] = {}
        self._due = Schedule(topics.OBSTACLE_ODOM.rate_hz, stamp_ns)
        self._last: tuple[int, tuple[PlacedObject, ...]] = (-1, ())

    @property
    def is_empty(self) -> bool:
        """Whether no obstacle was added."""
        return not self._moving

    def add(self, obstacle: Obstacle, start_ns: int) -> Topic:
        """Add an obstacle that is in the world from an instant on [ns]; return its topic.

        Raises
        ------
        ParameterError
            If its name is taken, its way leaves the world, or there are too many.
        UserError
            If its kind is not known, or its file is wrong.
        """
        what = f"obstacle {obstacle.name}"
        if obstacle.name in self._moving:
            raise ParameterError(f"{what}: expected a name of its own, found another one with it")
        if (n := len(self._moving)) >= MOST_OBSTACLES:
            raise ParameterError(f"{what}: expected at most {MOST_OBSTACLES} obstacles; leave some")
        try:
            moving = _PublishedObstacle(obstacle, start_ns, n, self._queries)
        except ParameterError as error:
            raise ParameterError(f"{what}: {error}") from None
        self._moving[obstacle.name] = moving
        self._last = (-1, ())
        self._sinks.add([moving.topic])
        return moving.topic

    def check(self, obstacle: Obstacle) -> None:
        """Refuse what `add` would refuse in this world; errors as there."""
        MovingObstacle(obstacle, 0, 0, self._queries)

    def at(self, stamp_ns: int) -> tuple[PlacedObject, ...]:
        """Return the obstacles that are in the world at an instant [ns]."""
        if not self._moving:
            return ()
        if self._last[0] != stamp_ns:
            moving = self._moving.values()
            there = tuple(m.at(stamp_ns) for m in moving if m.is_there(stamp_ns))
            self._last = stamp_ns, there
        return self._last[1]

    def appears(self, begin_ns: int, end_ns: int) -> bool:
        """Tell whether an obstacle comes into the world in a step (begin, end] [ns]."""
        return any(begin_ns < moving.start_ns <= end_ns for moving in self._moving.values())

    def publish(self, end_ns: int) -> None:
        """Publish the odometry that is due up to the end of a step [ns]."""
        for stamp_ns in self._due.until(end_ns):
            for moving in self._moving.values():
                if moving.is_there(stamp_ns):
                    self._sinks.publish_cdr(moving.topic, stamp_ns, moving.odometry(stamp_ns))

    def replace(self, meshes: Sequence[TexturedMesh]) -> None:
        """Stand on other ground, after the queries got the meshes of a world that streams."""
        for moving in self._moving.values():
            moving.way.stand_on(self._queries, is_first=False)
            moving.measure()
        self._last = (-1, ())
