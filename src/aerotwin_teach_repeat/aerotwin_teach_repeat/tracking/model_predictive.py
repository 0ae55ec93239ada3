# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Receding-horizon control along a route, in the coordinates of the route.

Cost, horizon, limits and corridor are those of VTR3's unicycle MPC (there by CasADi and IPOPT).
Here the program is linearised about the last solution and solved as a quadratic program by OSQP, a
fixed number of times per command, which bounds the computation time. Unlike there, commands are
weighted as deviations from those that keep the reference, with the vehicle's gains estimated: no
steady-state error remains in turns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_teach_repeat.tracking.horizon_program import HorizonProgram, Solution, StageData
from aerotwin_teach_repeat.tracking.motion_model import CommandResponse, State
from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
from aerotwin_teach_repeat.tracking.path_tracker import PathTracker, TrackerCommand, speed_at
from aerotwin_teach_repeat.tracking.pure_pursuit import pursuit_command
from aerotwin_teach_repeat.tracking.route_path import FloatArray, RoutePath, Segment


@dataclass(frozen=True, kw_only=True)
class Horizon:
    """Reference poses at n + 1 instants and the commands that would keep them.

    `points` (n + 1, 2) lie on the route [m], `heading_rad` (n + 1,) is continuous, `commands`
    (n, 2) are speed and turn (rate or curvature), compensated for the vehicle's response, and
    `direction` is +1 forward, -1 reverse.
    """

    points: FloatArray
    heading_rad: FloatArray
    commands: FloatArray
    direction: int


def plan_horizon(
    route: RoutePath,
    schedule: FloatArray,
    segment: Segment,
    s_m: float,
    speed_m_s: float,
    response: CommandResponse,
    parameters: TrackerParameters,
) -> Horizon:
    """Return the reference from arc length s on, for a vehicle at a speed along the route.

    The reference follows the speed schedule, within the vehicle's acceleration at the start, and
    waits at the end of the segment.
    """
    dt, speed = parameters.step_s, max(speed_m_s, 0.0)
    stations, speeds = [s_m], []
    for _ in range(parameters.n_steps):
        faster = speed + parameters.max_acceleration_m_s2 * dt
        speed = min(speed_at(route, schedule, stations[-1], segment), faster)
        stations.append(min(stations[-1] + dt * speed, segment.stop_s_m))
        speeds.append((stations[-1] - stations[-2]) / dt)
    points, heading, curvature = route.at(stations, segment)
    v = np.array(speeds)
    if parameters.vehicle == "bicycle":
        turn = segment.direction * 0.5 * (curvature[1:] + curvature[:-1])
    else:
        turn = np.diff(heading) / dt
    v_command = segment.direction * v / response.speed_gain
    turn_command = (turn - response.turn_bias) / response.turn_gain
    return Horizon(
        points=points[:, :2],
        heading_rad=heading,
        commands=np.column_stack([v_command, turn_command]),
        direction=segment.direction,
    )


class ModelPredictiveTracker(PathTracker):
    """Follows a route by model-predictive control.

    If the solver fails, the command is that of pure pursuit, and its reason says so.
    """

    def __init__(self, route: RoutePath, parameters: TrackerParameters) -> None:
        super().__init__(route, parameters)
        self._program = HorizonProgram(parameters)

    def reset(self) -> None:
        """Clear the sent commands: the vehicle stands."""
        super().reset()
        self._planned: FloatArray | None = None

    def command(
        self, T_map_base: ArrayLike, twist: ArrayLike, s_m: float, *,
        time_s: float | None = None, age_s: float = 0.0,
    ) -> TrackerCommand:  # fmt: skip
        """Return the command that leaves at time_s; see `PathTracker.command`."""
        now, p = self._now(time_s), self.parameters
        state, s_m, segment = self._where(T_map_base, twist, s_m, now, age_s)
        response = self._memory.response
        speed = segment.direction * state[3]
        horizon = plan_horizon(self.route, self.schedule, segment, s_m, speed, response, p)
        solution = self._solve(state, horizon, response)
        if solution.is_usable:
            v, turn = solution.commands[0].tolist()
            return self._send(v, self._memory.model.omega_of(v, turn), now)
        v, omega = pursuit_command(state, self.route, self.schedule, segment, s_m, response, p)
        reason = f"pure pursuit: {solution.reason}"
        return self._send(v, omega, now, is_fallback=True, reason=reason)

    def _solve(self, state: State, horizon: Horizon, response: CommandResponse) -> Solution:
        """Return and remember the solution after a fixed number of linearisations."""
        turns = np.round((state[2] - horizon.heading_rad[0]) / (2.0 * np.pi))
        start = (*state[:2], state[2] - 2.0 * np.pi * float(turns), *state[3:])
        commands = self._guess(horizon)
        for _ in range(self.parameters.n_linearisations):
            data = self._linearise(start, commands, horizon, response)
            solution = self._program.solve(self._program.build(data))
            if not solution.is_usable:
                self._planned = None
                break
            commands = self._planned = solution.commands
        return solution

    def _guess(self, horizon: Horizon) -> FloatArray:
        """Return the last plan shifted by a control period, or the reference's commands."""
        if self._planned is None:
            low, high, _ = self._limits(horizon)
            return np.clip(horizon.commands, low, high)
        p = self.parameters
        times = p.step_s * np.arange(p.n_steps)
        later = times + p.control_period_s
        return np.column_stack([np.interp(later, times, column) for column in self._planned.T])

    def _linearise(
        self, start: State, commands: FloatArray, horizon: Horizon, response: CommandResponse
    ) -> StageData:
        """Return e_{k+1} = A_k e_k + B_k u_k + c_k about the states predicted for the commands.

        With e = S (z - r), S the rotation into the frame of the reference pose and r its position,
        and z_{k+1} = f_k + F_k (z_k - zbar_k) + G_k (u_k - ubar_k): A = S' F S^-1, B = S' G.
        """
        model, dt = self._memory.model, self.parameters.step_s
        states = model.rollout(start, commands, dt, response)
        F, G = model.jacobians(states[:-1], commands, dt, response)
        S = _into_frames(horizon.heading_rad)
        origin = np.zeros_like(states)
        origin[:, :2], origin[:, 2] = horizon.points, horizon.heading_rad
        errors = np.einsum("kij,kj->ki", S, states - origin)
        A = S[1:] @ F @ S[:-1].transpose(0, 2, 1)
        B = S[1:] @ G
        c = errors[1:] - np.einsum("kij,kj->ki", A, errors[:-1])
        c -= np.einsum("kij,kj->ki", B, commands)
        low, high, change = self._limits(horizon)
        return StageData(
            e_start=errors[0], A=A, B=B, c=c, u_reference=horizon.commands, u_low=low,
            u_high=high, change=change, u_before=np.array(self._memory.last_command),
        )  # fmt: skip

    def _limits(self, horizon: Horizon) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return lower and upper limits of the commands and of their changes, (n, 2) each."""
        p, n = self.parameters, self.parameters.n_steps
        turn = np.full(n, p.max_turn_rate_rad_s)
        turn_change = np.full(n, p.max_turn_acceleration_rad_s2)
        if p.vehicle == "bicycle":
            speed = np.maximum(np.abs(horizon.commands[:, 0]), p.creep_speed_m_s)
            turn = np.minimum(turn / speed, p.max_curvature_1_m)
            turn_change = turn_change / speed
        forward = (0.0, p.max_speed_m_s) if horizon.direction > 0 else (-p.max_speed_m_s, 0.0)
        low = np.column_stack([np.full(n, forward[0]), -turn])
        high = np.column_stack([np.full(n, forward[1]), turn])
        change = np.column_stack([np.full(n, p.max_acceleration_m_s2), turn_change]) * p.step_s
        change[0] *= p.control_period_s / p.step_s
        # A vehicle still rolling the other way, or above a limit, must be allowed to brake.
        before = np.array(self._memory.last_command)
        low[:] = np.minimum(low, before + np.cumsum(change, axis=0))
        high[:] = np.maximum(high, before - np.cumsum(change, axis=0))
        return low, high, change


def _into_frames(heading_rad: FloatArray) -> FloatArray:
    """Return the matrices (n, 5, 5) that rotate map coordinates into the frame of each heading."""
    S = np.tile(np.eye(5), (len(heading_rad), 1, 1))
    c, s = np.cos(heading_rad), np.sin(heading_rad)
    S[:, 0, 0], S[:, 0, 1], S[:, 1, 0], S[:, 1, 1] = c, s, -s, c
    return S
