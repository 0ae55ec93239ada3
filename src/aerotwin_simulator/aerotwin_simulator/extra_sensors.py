# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensors that a user brings: each sampled at its exact due times, its messages handed out."""

from collections.abc import Sequence

import numpy as np

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
        """Sample what is due in a step and hand it out."""
        for sensor, topic, due in self._entries:
            for stamp_ns in due.until(step.end_ns):
                fields = sensor.sample(stamp_ns, self._truth(step.at(stamp_ns)))
                if fields is not None and not self._outlets.is_empty:
                    cdr = serialize(extra_message(sensor, stamp_ns, fields))
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
        If one cannot be found or made.
    """
    seed, vehicle = parameters.seed, parameters.instance
    return [make_extra_sensor(x, seed=seed, vehicle=vehicle) for x in parameters.extra_sensors]
