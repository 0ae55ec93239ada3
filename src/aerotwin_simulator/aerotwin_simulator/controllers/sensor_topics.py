# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Cameras, lidar, radar and extra sensors of a vehicle as input of its Python controller."""

from collections.abc import Iterable, Sequence
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.messages import deserialize
from aerotwin_sensor_models import FieldsReading, SensorReading, camera_reading, cloud_reading
from aerotwin_simulator.body_camera import BodyCamera, Eye
from aerotwin_simulator.extra_sensors import ExtraReading
from aerotwin_simulator.scanners import BodyScanner
from aerotwin_simulator.topics import Topic


class SensorTopics:
    """Topics of a vehicle that a controller may read, by names relative to the vehicle.

    They are the images, clouds, and those of extra sensors; readings are what the messages hold,
    so that errors, faults and delays are those of the topics.
    """

    def __init__(
        self,
        vehicle: str = "",
        cameras: Sequence[BodyCamera] = (),
        scanners: Iterable[BodyScanner] = (),
        extra: Sequence[Topic] = (),
    ) -> None:
        self._prefix = f"{vehicle}/" if vehicle else ""
        self._eyes: dict[str, tuple[Eye, Any]] = {
            sinks.image.name: (eye, info)
            for camera in cameras
            for eye, info in zip(camera.eyes, camera.infos, strict=True)
            for sinks in eye.sinks.values()
        }
        self._scanners = {t.name: s for s in scanners for t in s.topics if t.is_cloud}
        self._names = {
            name.removeprefix(self._prefix): name
            for name in (*self._eyes, *self._scanners, *(topic.name for topic in extra))
        }

    def find(self, reads: object, controller: str) -> frozenset[str]:
        """Return the topics that a controller asks for, by their full names.

        Raises ParameterError for one that no sensor on board publishes.
        """
        if isinstance(reads, str) or not isinstance(reads, Iterable):
            raise ParameterError(
                f"controller {controller}: reads: expected names of topics, found {reads!r}; "
                'write reads = ("lidar/points",) for instance'
            )
        names = list(reads)
        for name in names:
            if name not in self._names:
                raise ParameterError(
                    f"controller {controller}: reads: expected topics of sensors on board "
                    f"({', '.join(self._names) or 'there are none'}), found {name!r}; mount the "
                    "sensor by camera.is_rendered, camera.file, lidar.preset, radar.preset or "
                    "sensors.extra"
                )
        return frozenset(self._names[name] for name in names)

    def reading(self, topic: Topic, cdr: bytes) -> SensorReading:
        """Return what a message of a camera or scanner holds."""
        message = deserialize(cdr, topic.msgtype)
        name = topic.name.removeprefix(self._prefix)
        if (found := self._eyes.get(topic.name)) is not None:
            eye, info = found
            return camera_reading(name, message, info, eye.name, eye.T_body_optical)
        return cloud_reading(name, message, self._scanners[topic.name].T_body_sensor)

    def extra_readings(
        self, readings: Iterable[ExtraReading], asked: frozenset[str]
    ) -> list[SensorReading]:
        """Return those readings of extra sensors that are asked for."""
        return [
            FieldsReading(each.sensor.topic, each.stamp_ns, each.fields)
            for each in readings
            if f"{self._prefix}{each.sensor.topic}" in asked
        ]
