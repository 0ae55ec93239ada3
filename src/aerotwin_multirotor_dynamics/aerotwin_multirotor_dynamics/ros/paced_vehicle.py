# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A vehicle on a plane that owns simulated time and steps on request."""

from dataclasses import dataclass
from math import radians

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.time import from_seconds, to_seconds
from aerotwin_multirotor_dynamics import layout
from aerotwin_multirotor_dynamics.airframe import load_airframe
from aerotwin_multirotor_dynamics.multirotor import Multirotor, standing_pose
from aerotwin_multirotor_dynamics.ros.parameters import DynamicsParameters
from aerotwin_multirotor_dynamics.vibration import seeded_vibration

FELT_PLACES = layout.SPECIFIC_FORCE, layout.ANGULAR_VELOCITY, layout.ANGULAR_ACCELERATION
"""Slices of a state that vibration adds to."""


@dataclass(slots=True)
class StepCounters:
    """Steps taken, commands repeated, commands of a later time, and invalid commands."""

    n_steps: int = 0
    n_repeated: int = 0
    n_ahead: int = 0
    n_refused: int = 0

    @property
    def n_lost(self) -> int:
        """Commands that did not lead to a step."""
        return self.n_repeated + self.n_ahead + self.n_refused


class PacedVehicle:
    """One multirotor stepped under rotor speeds.

    `vibration` (9,) is the effect of the rotors in the last step on sensed specific force [m/s^2],
    angular velocity [rad/s] and its rate [rad/s^2], body axes.
    """

    def __init__(self, parameters: DynamicsParameters) -> None:
        airframe = load_airframe(parameters.airframe)
        self.n_rotors = len(airframe.rotors)
        normal = np.array(parameters.ground_normal)
        if not normal[2] > 0.0:
            raise ParameterError(
                f"ground_normal: expected one that points upwards, found {normal.tolist()}"
            )
        self._normal = normal / np.linalg.norm(normal)
        self._ground = _above(parameters.start_m, np.array(parameters.ground_point_m), normal)
        self._wind = np.array(parameters.wind_m_s)
        position, attitude = standing_pose(
            airframe,
            ground_point=self._ground,
            ground_normal=self._normal,
            yaw_rad=radians(parameters.start_yaw_deg),
        )
        self._vehicle = Multirotor(
            airframe,
            p_map_body=position,
            q_map_body=attitude,
            origin_altitude_m=parameters.origin_altitude_m,
        )
        self._shaking = seeded_vibration(
            airframe, parameters.seed, parameters.vehicle, parameters.vibration
        )
        self.vibration = np.zeros(9)
        self._step_ns = from_seconds(parameters.step_s)
        self.speeds = [0.0] * self.n_rotors
        self.stamp_ns = 0
        self.counters = StepCounters()

    @property
    def state_vector(self) -> np.ndarray:
        """The state array, laid out by `aerotwin_multirotor_dynamics.layout`."""
        return self._vehicle.state_vector

    @property
    def rotor_speed_rad_s(self) -> np.ndarray:
        """The current rotor speeds."""
        return self._vehicle.rotor_speed_rad_s

    @property
    def is_crashed(self) -> bool:
        """Whether the vehicle has crashed."""
        return self._vehicle.is_crashed

    def set_speeds(self, speeds: list[float]) -> None:
        """Set the rotor speeds from the next step on [rad/s]."""
        self.speeds = speeds

    def count_refused(self) -> None:
        """Count a command that could not be read."""
        self.counters.n_refused += 1

    def answer(self, stamp_ns: int, speeds: list[float]) -> bool:
        """Handle the command that answers the truth of `stamp_ns`; return whether to publish truth.

        A command of the current time is a step. An older one is a repetition after its result was
        lost or late: the last truth is published again. One from the future belongs to another run.
        """
        if stamp_ns > self.stamp_ns:
            self.counters.n_ahead += 1
            return False
        if stamp_ns < self.stamp_ns:
            self.counters.n_repeated += 1
            return True
        self.speeds = speeds
        self.advance()
        return True

    def advance(self) -> None:
        """Take one step under the last speeds."""
        self._vehicle.step(
            None,
            to_seconds(self._step_ns),
            rotor_speed_setpoint_rad_s=self.speeds,
            ground_point=self._ground,
            ground_normal=self._normal,
            wind_map=self._wind,
        )
        if self._shaking is not None:
            state = self._vehicle.state_vector
            motion = [state[place] for place in FELT_PLACES]
            felt = self._shaking.felt(to_seconds(self._step_ns), state)
            self.vibration = felt - np.concatenate(motion)
        self.stamp_ns += self._step_ns
        self.counters.n_steps += 1


def _above(start_m: tuple[float, float], point: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the point of a plane vertically above or below a position."""
    x, y = start_m
    along = normal[0] * (x - point[0]) + normal[1] * (y - point[1])
    return np.array([x, y, point[2] - along / normal[2]])
