# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensors that a user brings: each sampled at its exact due times, its messages handed out."""

import re
from collections.abc import Sequence

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.messages import serialize
from aerotwin_core.time import Schedule
from aerotwin_multirotor_dynamics import layout
from aerotwin_sensor_models import (
    ExtraSensor,
    SensorTruth,
    extra_message,
    make_extra_sensor,
)
from aerotwin_simulator import topics
from aerotwin_simulator.outlets import Outlets
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.truth import TruthStep, rotation

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
"""A part of a relative topic name: as ROS has it, but without hidden (`_x`) parts."""
_TAKEN = frozenset(
    topic.name
    for topic in (
        *topics.ALL,
        *topics.FROM_SLAM,
        topics.EXTERNAL_ODOM,
        topics.ROTOR_COMMAND,
    )
)


class SensorFailed(Exception):
    """A sensor of a user's own raised, or gave what is no message; the flight ends."""


class ExtraSensors:
    """The sensors that the parameter `extra_sensors` names.

    Parameters
    ----------
    parameters : SimulatorParameters
        Which sensors, and the seed.
    origin_altitude_m : float
        Altitude of the origin of map above mean sea level [m].
    inputs : (m,) array
        Inputs of the dynamics, for the wind.
    outlets : Outlets
        Who gets the messages.
    vehicle : str
        Name in a fleet, "" for a single vehicle.
    start_ns : int
        When they are switched on [ns].

    Attributes
    ----------
    topics : list of Topic
        Theirs.

    Raises
    ------
    UserError
        If a sensor cannot be found or made.
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        origin_altitude_m: float,
        inputs: np.ndarray,
        outlets: Outlets,
        vehicle: str = "",
        start_ns: int = 0,
    ) -> None:
        self._altitude = origin_altitude_m
        self._wind = inputs[layout.WIND : layout.WIND + 3]
        self._outlets = outlets
        sensors = make_extra_sensors(parameters)
        place = topics.below(vehicle)
        self.topics = [place(topics.Topic(s.topic, s.msgtype, float(s.rate_hz))) for s in sensors]
        for sensor in sensors if vehicle else ():
            frame_id = topics.frame(vehicle, getattr(sensor, "frame_id", "base_link"))
            sensor.frame_id = frame_id  # type: ignore[attr-defined]  # optional in the protocol
        dues = [Schedule(float(sensor.rate_hz), start_ns) for sensor in sensors]
        self._entries = list(zip(sensors, self.topics, dues, strict=True))

    def sample(self, step: TruthStep) -> None:
        """Sample what is due in a step and hand it out.

        Raises
        ------
        SensorFailed
            If a sensor raises, or returns what is not the fields of its message.
        """
        for sensor, topic, due in self._entries:
            for stamp_ns in due.until(step.end_ns):
                cdr = _message(sensor, stamp_ns, self._truth(step.at(stamp_ns)))
                if cdr is not None:
                    self._outlets.emit(topic, stamp_ns, cdr)

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
        )


def make_extra_sensors(parameters: SimulatorParameters) -> Sequence[ExtraSensor]:
    """Return the sensors that the parameters name.

    Raises
    ------
    UserError
        If one cannot be found or made, or its topic is no relative name of its own.
    """
    seed, vehicle = parameters.seed, parameters.instance
    sensors: list[ExtraSensor] = []
    for line in parameters.extra_sensors:
        sensor = make_extra_sensor(line, seed=seed, vehicle=vehicle)
        _check_topic(line, sensor.topic, [other.topic for other in sensors])
        sensors.append(sensor)
    return sensors


def _check_topic(line: str, name: object, others: Sequence[str]) -> None:
    if not isinstance(name, str) or not all(_NAME.fullmatch(part) for part in name.split("/")):
        raise ParameterError(
            f"extra_sensors: {line}: topic: expected a relative name such as sonar/range, found "
            f"{name!r}; correct the class"
        )
    if name in _TAKEN or name in others:
        whose = "the vehicle" if name in _TAKEN else "another sensor"
        raise ParameterError(
            f"extra_sensors: {line}: topic: expected one of its own, found {name}, which is that "
            f"of {whose}; rename it"
        )


def _message(sensor: ExtraSensor, stamp_ns: int, truth: SensorTruth) -> bytes | None:
    """Return the serialised message of a sample; whatever a user's class does is told."""
    try:
        fields = sensor.sample(stamp_ns, truth)
        if fields is None:
            return None
        return bytes(serialize(extra_message(sensor, stamp_ns, fields)))
    except Exception as error:
        raise SensorFailed(
            f"extra sensor {type(sensor).__name__} failed at t = {stamp_ns * 1e-9:.3f} s: "
            f"{type(error).__name__}: {error}"
        ) from error
