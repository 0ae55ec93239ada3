# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sent commands, the vehicle's response to them, and its state when the next command acts.

A pose is old when it is used (scan, computation) and a command acts late (transport, actuators).
Between the two the vehicle executes commands already sent, which are known: the pose is predicted
through them. Gains and turn bias of the vehicle are estimated online, so that steady slip leaves
no steady-state error.
"""

import math
from collections import deque

import numpy as np

from aerotwin_teach_repeat.tracking.motion_model import CommandResponse, MotionModel, State
from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
from aerotwin_teach_repeat.tracking.route_path import FloatArray

PREDICTION_STEP_S = 0.025
RETAINED_S = 5.0
"""Commands older than this are dropped: no latency is that long."""
SPEED_NOISE_M_S = 0.1
TURN_NOISE_RAD_S = 0.05
"""Spread of a measured twist: lidar odometry over 0.1 s, 1 cm and 0.3 degrees."""
GAIN_LIMITS = (0.5, 1.5)


class AxisResponse:
    """Estimates gain and bias of measured = gain * modelled + bias; a Kalman filter of two states.

    Both are first-order Gauss-Markov around (1, 0) with the prior spread, so that unobservable
    states (a gain while nothing turns) return to the prior.
    """

    def __init__(self, *, gain_std: float, bias_std: float, noise_std: float, memory_s: float):
        self._prior = np.array([1.0, 0.0])
        self._prior_covariance = np.diag([gain_std**2, bias_std**2])
        self._noise, self._memory_s = noise_std**2, memory_s
        self._mean, self._covariance = self._prior.copy(), self._prior_covariance.copy()

    @property
    def gain(self) -> float:
        """Measured per modelled, within GAIN_LIMITS."""
        return float(np.clip(self._mean[0], *GAIN_LIMITS))

    @property
    def bias(self) -> float:
        """Measured value where the model predicts 0."""
        return float(self._mean[1])

    def update(self, modelled: float, measured: float, dt: float) -> None:
        """Update with one measurement, dt seconds after the last."""
        keep = math.exp(-dt / self._memory_s)
        self._mean = self._prior + keep * (self._mean - self._prior)
        self._covariance = keep**2 * self._covariance + (1.0 - keep**2) * self._prior_covariance
        h = np.array([modelled, 1.0])
        spread = self._covariance @ h
        gain = spread / (h @ spread + self._noise)
        self._mean = self._mean + gain * (measured - h @ self._mean)
        self._covariance = self._covariance - np.outer(gain, spread)


class VehicleMemory:
    """Stores the commands sent and predicts the vehicle through them."""

    def __init__(self, parameters: TrackerParameters) -> None:
        p = parameters
        self.model, self._delay_s = MotionModel.of(p), p.command_delay_s
        self._share, self._sent = p.twist_share, deque([(-math.inf, (0.0, 0.0))])
        self._speed = AxisResponse(
            gain_std=p.gain_std, bias_std=0.0, noise_std=SPEED_NOISE_M_S,
            memory_s=p.response_memory_s,
        )  # fmt: skip
        self._turn = AxisResponse(
            gain_std=p.gain_std, bias_std=p.turn_bias_std_rad_s, noise_std=TURN_NOISE_RAD_S,
            memory_s=p.response_memory_s,
        )  # fmt: skip
        self._time_s: float | None = None
        self._modelled: State = (0.0,) * 5

    @property
    def response(self) -> CommandResponse:
        """The estimated gains and bias."""
        return CommandResponse(
            speed_gain=self._speed.gain, turn_gain=self._turn.gain, turn_bias=self._turn.bias
        )

    @property
    def last_command(self) -> tuple[float, float]:
        """The command (v, w) sent last."""
        return self._sent[-1][1]

    def sent(self, time_s: float, command: tuple[float, float]) -> None:
        """Remember a command (v, w) that left at time_s."""
        self._sent.append((time_s, command))
        while len(self._sent) > 1 and self._sent[1][0] < time_s - RETAINED_S:
            self._sent.popleft()

    def observe(self, time_s: float, speed_m_s: float, omega_rad_s: float) -> None:
        """Compare a measured twist with the one predicted from the commands at that time."""
        before, self._time_s = self._time_s, time_s
        if before is None or not 0.0 < time_s - before < RETAINED_S:
            self._modelled = (0.0, 0.0, 0.0, *self._in_force(time_s))
            return
        self._modelled = self._roll(self._modelled, before, time_s, CommandResponse())
        v, w = self._modelled[3:]
        self._speed.update(v, speed_m_s, time_s - before)
        if not self.model.is_bicycle or abs(speed_m_s) > SPEED_NOISE_M_S:
            self._turn.update(w, self.model.turn_of(speed_m_s, omega_rad_s), time_s - before)

    def predict(
        self, T_map_base: FloatArray, speed_m_s: float, omega_rad_s: float, *,
        time_s: float, until_s: float,
    ) -> State:  # fmt: skip
        """Return the state at until_s of a vehicle measured at time_s."""
        model, r, share = self.model, self.response, self._share
        v_model = r.speed_gain * self._modelled[3]
        w_model = r.turn_gain * self._modelled[4] + r.turn_bias
        v = share * speed_m_s + (1.0 - share) * v_model
        w = share * model.turn_of(speed_m_s, omega_rad_s) + (1.0 - share) * w_model
        theta = math.atan2(T_map_base[1, 0], T_map_base[0, 0])
        start: State = (float(T_map_base[0, 3]), float(T_map_base[1, 3]), theta, v, w)
        return self._roll(start, time_s, until_s, r)

    def _in_force(self, time_s: float) -> tuple[float, float]:
        """Return the command that acts at a time: the last one sent at least a delay earlier."""
        for sent_s, command in reversed(self._sent):
            if sent_s <= time_s - self._delay_s + 1e-9:
                return command
        return 0.0, 0.0

    def _roll(
        self, state: State, start_s: float, until_s: float, response: CommandResponse
    ) -> State:
        n = math.ceil((until_s - start_s) / PREDICTION_STEP_S - 1e-9)
        dt = (until_s - start_s) / max(n, 1)
        for k in range(n):
            command = self._in_force(start_s + (k + 0.5) * dt)
            state = self.model.step(state, command, dt, response)
        return state
