# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensors besides the inertial ones, packaged or a user's: sampled at their exact due times."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.messages import serialize
from aerotwin_core.parameters import to_mapping
from aerotwin_core.time import Schedule
from aerotwin_multirotor_dynamics import layout
from aerotwin_sensor_models import (
    Airspeed,
    ExtraSensor,
    OpticalFlow,
    RangeFinder,
    SensorTruth,
    extra_message,
    load_preset,
    make_extra_sensor,
    seed_sequence,
)
from aerotwin_simulator import topics
from aerotwin_simulator.parameters import NO_PRESET, SimulatorParameters
from aerotwin_simulator.topics import SinkGroup
from aerotwin_simulator.truth import TruthStep, rotation

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
"""A part of a relative topic name, as in ROS but without hidden (`_x`) parts."""
_TAKEN = frozenset(
    topic.name
    for topic in (
        *topics.ALL,
        *topics.FROM_SLAM,
        topics.EXTERNAL_ODOM,
        topics.ROTOR_COMMAND,
        topics.JOY,
    )
)


PACKAGED: dict[str, Callable[..., Any]] = {
    "range_finder": RangeFinder,
    "optical_flow": OpticalFlow,
    "airspeed": Airspeed,
}
"""Parameter that names a preset -> the sensor that it mounts on the vehicle."""


Mountings = list[tuple[str, np.ndarray]]
"""Frame and T_body_sensor (4, 4) of sensors."""


@dataclass(frozen=True, slots=True)
class ExtraReading:
    """One sample of a sensor, for the autopilot; `fields` are those of its message."""

    sensor: ExtraSensor
    stamp_ns: int
    fields: Mapping[str, Any]


class SensorFailed(Exception):
    """A user's sensor raised, or returned an invalid message; the flight ends."""


class ExtraSensors:
    """The packaged sensors that parameters name, and those of `extra`.

    `origin_altitude_m` is that of map above mean sea level; `inputs` (m,) of the dynamics have the
    wind; `cast` is as `SensorTruth.cast`. Raises UserError if a sensor cannot be found or made.
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        origin_altitude_m: float,
        inputs: np.ndarray,
        cast: Callable[[np.ndarray, np.ndarray], float],
        sinks: SinkGroup,
        vehicle: str = "",
        start_ns: int = 0,
    ) -> None:
        self._altitude = origin_altitude_m
        self._wind = inputs[layout.WIND : layout.WIND + 3]
        self._cast = cast
        self._sinks = sinks
        sensors = make_extra_sensors(parameters)
        place = topics.below(vehicle)
        self.topics = [place(topics.Topic(s.topic, s.msgtype, float(s.rate_hz))) for s in sensors]
        for sensor in sensors if vehicle else ():
            frame_id = topics.frame(vehicle, getattr(sensor, "frame_id", "base_link"))
            sensor.frame_id = frame_id  # type: ignore[attr-defined]  # optional in the protocol
        dues = [Schedule(float(sensor.rate_hz), start_ns) for sensor in sensors]
        self._entries = list(zip(sensors, self.topics, dues, strict=True))
        self.is_empty = not sensors

    def mountings(self) -> Mountings:
        """Return those of the sensors that have a frame of their own."""
        return mountings_of([sensor for sensor, _, _ in self._entries])

    def sample(self, step: TruthStep) -> list[ExtraReading]:
        """Sample all sensors due in a step, publish the readings and return them.

        Raises SensorFailed if a sensor raises, or does not return the fields of its message.
        """
        readings: list[ExtraReading] = []
        for sensor, topic, due in self._entries:
            for stamp_ns in due.until(step.end_ns):
                try:
                    fields = sensor.sample(stamp_ns, self._truth(step.at(stamp_ns)))
                    if fields is None:
                        continue
                    cdr = bytes(serialize(extra_message(sensor, stamp_ns, fields)))
                except Exception as error:
                    raise SensorFailed(
                        f"extra sensor {type(sensor).__name__} failed at t = "
                        f"{stamp_ns * 1e-9:.3f} s: {type(error).__name__}: {error}"
                    ) from error
                self._sinks.publish_cdr(topic, stamp_ns, cdr)
                readings.append(ExtraReading(sensor, stamp_ns, fields))
        return readings

    def _truth(self, state: np.ndarray) -> SensorTruth:
        return SensorTruth(
            p_map_body=state[layout.POSITION].copy(),
            v_map_body=state[layout.VELOCITY].copy(),
            q_map_body=state[layout.QUATERNION].copy(),
            R_map_body=rotation(state).copy(),
            omega_map_body_in_body=state[layout.ANGULAR_VELOCITY].copy(),
            specific_force_in_body=state[layout.SPECIFIC_FORCE].copy(),
            wind_map=self._wind.copy(),
            altitude_amsl_m=self._altitude + float(state[layout.POSITION.start + 2]),
            cast=self._cast,
        )


def mountings_of(sensors: Sequence[ExtraSensor], vehicle: str = "") -> Mountings:
    """Return the mountings of the sensors that have a frame of their own."""
    mounted: list[Any] = [sensor for sensor in sensors if hasattr(sensor, "T_body_sensor")]
    return [(topics.frame(vehicle, s.frame_id), np.asarray(s.T_body_sensor)) for s in mounted]


def make_extra_sensors(parameters: SimulatorParameters) -> Sequence[ExtraSensor]:
    """Return the sensors that the parameters name.

    Raises UserError if a sensor cannot be found or made, or its topic is not relative and its own.
    """
    seed, vehicle = parameters.seed, parameters.fleet.instance
    sensors: list[ExtraSensor] = []
    for name, make in PACKAGED.items():
        preset = getattr(parameters.sensors, name)
        if preset != NO_PRESET:
            values = to_mapping(load_preset(name, preset))
            sensors.append(make(values, seed_sequence(seed, vehicle, name)))
    for line in parameters.sensors.extra:
        sensor = make_extra_sensor(line, seed=seed, vehicle=vehicle)
        _check_topic(line, sensor.topic, [other.topic for other in sensors])
        sensors.append(sensor)
    return sensors


def _check_topic(line: str, name: object, others: Sequence[str]) -> None:
    if not isinstance(name, str) or not all(_NAME.fullmatch(part) for part in name.split("/")):
        raise ParameterError(
            f"sensors.extra: {line}: topic: expected a relative name such as sonar/range, found "
            f"{name!r}; correct the class"
        )
    if name in _TAKEN or name in others:
        whose = "the vehicle" if name in _TAKEN else "another sensor"
        raise ParameterError(
            f"sensors.extra: {line}: topic: expected one of its own, found {name}, which is that "
            f"of {whose}; rename it"
        )
