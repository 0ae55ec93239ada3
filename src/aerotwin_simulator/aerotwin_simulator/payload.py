# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The cameras, the lidar and the radar that a robot carries, and the waiting for who reads them."""

from collections.abc import Callable, Iterator

from aerotwin_core.time import Schedule
from aerotwin_faults.fault import CAMERA
from aerotwin_multirotor_body.vehicle_faults import VehicleFaults
from aerotwin_simulator import topics
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.scanners import make_scanners
from aerotwin_simulator.sensor_setup import Setup
from aerotwin_simulator.surroundings import Surroundings
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.truth import TruthStep
from aerotwin_simulator.vehicle_cameras import make_vehicle_cameras


class Payload:
    """The sensors of a robot that look at the world; `name` is its name in a fleet, "" without.

    It begins at `stamp_ns`. `cameras` are the stereo pair, if there is one, and those of a file;
    `scanners` the lidar and the radar by `lidar` and `radar`.
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        surroundings: Surroundings,
        name: str,
        stamp_ns: int = 0,
    ) -> None:
        self._parameters, self._surroundings, self._name = parameters, surroundings, name
        self.cameras = make_vehicle_cameras(parameters, surroundings.renderer, name)
        self.scanners = make_scanners(parameters, surroundings.sight, name)
        self._frame_due = Schedule(parameters.camera.rate_hz, stamp_ns)
        if stamp_ns:
            self.restart(stamp_ns)

    @property
    def names(self) -> list[str]:
        """Names of the images of all cameras."""
        return [eye.name for camera in self.cameras for eye in camera.eyes]

    @property
    def topics(self) -> list[Topic]:
        """All that it publishes."""
        found = [topic for camera in self.cameras for topic in camera.topics]
        return found + [topic for scanner in self.scanners.values() for topic in scanner.topics]

    @property
    def is_idle(self) -> bool:
        """Whether it has nothing to publish, and nobody is waited for at it."""
        return not (self.cameras or self.scanners or self._surroundings.awaited)

    @property
    def look_back_s(self) -> float:
        """Time that the longest reading takes that is made when it is complete [s]."""
        rates = [camera.rate_hz for camera in self.cameras]
        rates += [scanner.sensor.rate_hz for scanner in self.scanners.values()]
        return max((1.0 / rate_hz for rate_hz in rates), default=0.0)

    @property
    def awaited_topics(self) -> tuple[Topic, ...]:
        """Topics of a reading, one of which nodes that answer it read; none if others render.

        A node of a radar reads its polar scans or its targets; one of a stereo pair reads all.
        """
        awaited = self._surroundings.awaited
        if awaited and (scanner := self.scanners.get(awaited.sensor)) is not None:
            return scanner.topics
        return (self.cameras[0].topics[-1],) if self.cameras else ()

    def apply_faults(self, faults: VehicleFaults) -> None:
        """Let faults act from now on; others that begin act, too."""
        for camera in self.cameras:
            camera.apply_faults(faults.of(CAMERA))
        for name, scanner in self.scanners.items():
            scanner.apply_faults(faults.of(name))

    def restart(self, stamp_ns: int) -> None:
        """Begin anew at an instant [ns], as after a jump; lidar and radar begin as switched on."""
        for camera in self.cameras:
            camera.restart(stamp_ns)
        self.scanners = make_scanners(self._parameters, self._surroundings.sight, self._name)

    def warm_up(self) -> None:
        """Render and cast once, so that no step of the flight pays for compilation."""
        for camera in self.cameras:
            camera.warm_up()
        for scanner in self.scanners.values():
            scanner.warm_up()

    def setup(self) -> Setup:
        """Return the lidar and the radar for the setup of a vehicle's sensors."""
        return {name: scanner.setup() for name, scanner in self.scanners.items()}

    def publish(
        self, step: TruthStep, reads: frozenset[str] = frozenset()
    ) -> list[tuple[Topic, bytes]]:
        """Publish what is complete at the end of a step; return the messages of the topics `reads`.

        Those are the full names of topics.
        """
        if self.is_idle:
            return []
        sent = [*self._publish_frames(step), *self._publish_turns(step)]
        return [each for each in sent if each[0].name in reads] if reads else []

    def _publish_frames(self, step: TruthStep) -> Iterator[tuple[Topic, bytes]]:
        """Publish and yield frames; nodes are waited for at the whole ones of the first camera."""
        wait, sinks = self._wait_at(topics.CAMERA), self._surroundings.sinks
        if wait is not None and not self.cameras:
            for stamp_ns in self._frame_due.until(step.end_ns):
                wait(stamp_ns)
        for camera in self.cameras:
            for frame in camera.sent_frames(step):
                if wait is not None and camera is self.cameras[0] and frame.is_whole:
                    wait(frame.stamp_ns)
                for topic, cdr in frame.messages:
                    sinks.publish_cdr(topic, frame.sent_ns, cdr)
                yield from frame.messages

    def _publish_turns(self, step: TruthStep) -> Iterator[tuple[Topic, bytes]]:
        """Publish and yield the complete turns of lidar and radar."""
        sinks = self._surroundings.sinks
        for name, scanner in self.scanners.items():
            wait = self._wait_at(name)
            for begin_ns, stamp_ns, messages in scanner.turns(step):
                if wait is not None:
                    wait(begin_ns)
                for topic, cdr in messages:
                    sinks.publish_cdr(topic, stamp_ns, cdr)
                yield from messages

    def _wait_at(self, sensor: str) -> Callable[[int], None] | None:
        """Return what waits for the nodes that answer a sensor's readings, if any do."""
        awaited = self._surroundings.awaited
        return None if awaited is None or awaited.sensor != sensor else awaited.wait
