# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Response of a wheeled vehicle to commands: unicycle or bicycle, both with first-order lags.

State (x, y, theta, v, w), command (v_c, w_c): w is the turn rate omega [rad/s] of a unicycle and
the curvature kappa [1/m] of a bicycle, set by its steering: omega = v kappa.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
from aerotwin_teach_repeat.tracking.route_path import FloatArray

State = tuple[float, float, float, float, float]
_STANDSTILL_M_S = 0.05
"""Below this speed a bicycle's curvature is not observable from its turn rate."""


@dataclass(frozen=True, kw_only=True)
class CommandResponse:
    """Gains and bias of the response to commands on the present ground.

    `speed_gain` 0.97 is a slip of 3 %; `turn_gain` and `turn_bias` are of turn rate (curvature),
    the bias at command zero [rad/s or 1/m].
    """

    speed_gain: float = 1.0
    turn_gain: float = 1.0
    turn_bias: float = 0.0


@dataclass(frozen=True, kw_only=True)
class MotionModel:
    """A vehicle with lags in speed and turning; exact for the lags, midpoint for the pose.

    With `is_bicycle` w is a curvature. Lags are time constants [s]; 0 = immediate.
    """

    is_bicycle: bool
    speed_lag_s: float
    turn_lag_s: float

    @classmethod
    def of(cls, parameters: TrackerParameters) -> "MotionModel":
        """Return the model described by a tracker's parameters."""
        return cls(
            is_bicycle=parameters.vehicle == "bicycle",
            speed_lag_s=parameters.speed_lag_s,
            turn_lag_s=parameters.turn_lag_s,
        )

    def turn_of(self, speed_m_s: float, omega_rad_s: float) -> float:
        """Return w for a speed and a turn rate; 0 for a bicycle at standstill."""
        if not self.is_bicycle:
            return omega_rad_s
        return omega_rad_s / speed_m_s if abs(speed_m_s) > _STANDSTILL_M_S else 0.0

    def omega_of(self, speed_m_s: float, turn: float) -> float:
        """Return the turn rate [rad/s] for a speed and w."""
        return speed_m_s * turn if self.is_bicycle else turn

    def step(
        self, state: State, command: Sequence[float], dt: float, response: CommandResponse
    ) -> State:
        """Return the state dt seconds later under a constant command."""
        x, y, theta, v, w = state
        decay_v, mean_v = _decay(dt, self.speed_lag_s)
        decay_w, mean_w = _decay(dt, self.turn_lag_s)
        v_end = response.speed_gain * command[0]
        w_end = response.turn_gain * command[1] + response.turn_bias
        v_mean, w_mean = v_end + (v - v_end) * mean_v, w_end + (w - w_end) * mean_w
        turn = dt * self.omega_of(v_mean, w_mean)
        middle = theta + 0.5 * turn
        return (
            x + dt * v_mean * math.cos(middle),
            y + dt * v_mean * math.sin(middle),
            theta + turn,
            v_end + (v - v_end) * decay_v,
            w_end + (w - w_end) * decay_w,
        )

    def rollout(
        self, state: State, commands: FloatArray, dt: float, response: CommandResponse
    ) -> FloatArray:
        """Return the states (n + 1, 5) under n commands (n, 2) of dt seconds each."""
        states = [state]
        for command in commands.tolist():
            states.append(self.step(states[-1], command, dt, response))
        return np.array(states)

    def jacobians(
        self, states: FloatArray, commands: FloatArray, dt: float, response: CommandResponse
    ) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of n steps by state (n, 5, 5) and by command (n, 5, 2)."""
        decay_v, mean_v = _decay(dt, self.speed_lag_s)
        decay_w, mean_w = _decay(dt, self.turn_lag_s)
        g_v, g_w = response.speed_gain, response.turn_gain
        v_end, w_end = g_v * commands[:, 0], g_w * commands[:, 1] + response.turn_bias
        v_mean = v_end + (states[:, 3] - v_end) * mean_v
        w_mean = w_end + (states[:, 4] - w_end) * mean_w
        # d(turn)/d(v_mean) and d(turn)/d(w_mean), then the chain to state and command.
        by_v, by_w = (dt * w_mean, dt * v_mean) if self.is_bicycle else (0.0 * v_mean, dt)
        turn = dt * (v_mean * w_mean if self.is_bicycle else w_mean)
        c, s = np.cos(states[:, 2] + 0.5 * turn), np.sin(states[:, 2] + 0.5 * turn)
        A, B = np.zeros((len(states), 5, 5)), np.zeros((len(states), 5, 2))
        A[:, 0, 0] = A[:, 1, 1] = A[:, 2, 2] = 1.0
        A[:, 0, 2], A[:, 1, 2] = -dt * v_mean * s, dt * v_mean * c
        gradient_v = np.stack([dt * c - 0.5 * dt * v_mean * s * by_v,
                               dt * s + 0.5 * dt * v_mean * c * by_v, by_v], axis=-1)  # fmt: skip
        gradient_w = np.stack([-0.5 * dt * v_mean * s * by_w, 0.5 * dt * v_mean * c * by_w,
                               by_w + 0.0 * v_mean], axis=-1)  # fmt: skip
        A[:, :3, 3], A[:, :3, 4] = mean_v * gradient_v, mean_w * gradient_w
        B[:, :3, 0] = g_v * (1.0 - mean_v) * gradient_v
        B[:, :3, 1] = g_w * (1.0 - mean_w) * gradient_w
        A[:, 3, 3], A[:, 4, 4] = decay_v, decay_w
        B[:, 3, 0], B[:, 4, 1] = g_v * (1.0 - decay_v), g_w * (1.0 - decay_w)
        return A, B


def _decay(dt: float, lag_s: float) -> tuple[float, float]:
    """Return the remaining fraction of a deviation after dt, and its mean over dt."""
    if lag_s <= 0.0:
        return 0.0, 0.0
    left = math.exp(-dt / lag_s)
    return left, lag_s / dt * (1.0 - left)
