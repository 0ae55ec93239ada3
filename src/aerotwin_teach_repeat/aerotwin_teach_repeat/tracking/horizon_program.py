# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The quadratic program of one linearisation of the horizon, and its solution by OSQP.

Unknowns, stage by stage: errors e_0 … e_N (along, across, heading, v, w), each in the frame of its
reference pose; commands u_0 … u_{N-1}; violations of the corridor s_1 … s_N.

    minimise   sum e' Q e + (u - u_ref)' R (u - u_ref) + du' R_acc du + cost of s
    subject to fixed e_0, e_{k+1} = A_k e_k + B_k u_k + c_k,
               limits of u and of du, |across_k| <= corridor + s_k, s_k >= 0.

OSQP: Stellato et al., Mathematical Programming Computation 12, 637-672 (2020).
"""

from dataclasses import dataclass

import numpy as np
import osqp
from scipy import sparse

from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
from aerotwin_teach_repeat.tracking.route_path import FloatArray

N_STATE, N_COMMAND = 5, 2
ACCURACY = 1e-4
"""Absolute and relative tolerance of the solver: 0.1 mm, 0.1 mm/s."""
ACCEPTED_RESIDUAL = 1e-2
"""A program stopped by the iteration bound is still used if its constraints hold this well."""
CHECK_EVERY = 25
SLACK_CURVATURE = 10.0


@dataclass(frozen=True, kw_only=True)
class StageData:
    """One linearisation with n stages, e_{k+1} = A_k e_k + B_k u_k + c_k.

    `e_start` (5,) is the error at the start, `u_before` (2,) the command in force before the first;
    (n, 2) are `u_reference`, the commands of the reference, `u_low` and `u_high`, limits of the
    commands, and `change`, those of |u_k - u_{k-1}|.
    """

    e_start: FloatArray
    A: FloatArray
    B: FloatArray
    c: FloatArray
    u_reference: FloatArray
    u_low: FloatArray
    u_high: FloatArray
    change: FloatArray
    u_before: FloatArray


@dataclass(frozen=True, kw_only=True)
class Program:
    """Dense QP: minimise x' P x / 2 + q' x subject to low <= C x <= high."""

    P: FloatArray
    q: FloatArray
    C: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, kw_only=True)
class Solution:
    """Solver result: commands (n, 2), or a reason why none can be used."""

    commands: FloatArray
    is_usable: bool
    reason: str = ""


class HorizonProgram:
    """Builds and solves programs of one size; the solver retains factorisation and warm start."""

    def __init__(self, parameters: TrackerParameters) -> None:
        self._parameters, n = parameters, parameters.n_steps
        self._n = n
        self._i_command = N_STATE * (n + 1)
        self._i_slack = self._i_command + N_COMMAND * n
        self._size = self._i_slack + n
        self._P = self._cost()
        self._fixed, self._dynamics = self._constraints()
        pattern = sparse.csc_matrix(self._pattern())
        self._entries = _csc_entries(pattern)
        self._pattern_matrix = pattern
        self._solver: osqp.OSQP | None = None

    def build(self, data: StageData) -> Program:
        """Return the program of one linearisation."""
        n, p = self._n, self._parameters
        C = self._fixed.copy()
        rows, states, commands = self._dynamics
        C[rows[:, :, None], states[:, None, :]] = -data.A
        C[rows[:, :, None], commands[:, None, :]] = -data.B
        q = np.zeros(self._size)
        weights = np.array([p.speed_weight, p.turn_weight])
        q[self._i_command : self._i_slack] = (-2.0 * weights * data.u_reference).ravel()
        change = np.array([p.speed_change_weight, p.turn_change_weight])
        q[self._i_command : self._i_command + 2] += -2.0 * change * data.u_before
        q[self._i_slack :] = p.corridor_weight
        equal = np.concatenate([data.e_start, data.c.ravel()])
        change_low, change_high = -data.change, data.change.copy()
        change_low[0] += data.u_before
        change_high[0] += data.u_before
        wide = np.full(n, np.inf)
        low = np.concatenate([equal, data.u_low.ravel(), change_low.ravel(),
                              np.full(n, -p.corridor_m), -wide, np.zeros(n)])  # fmt: skip
        high = np.concatenate([equal, data.u_high.ravel(), change_high.ravel(),
                               wide, np.full(n, p.corridor_m), wide])  # fmt: skip
        return Program(P=self._P, q=q, C=C, low=low, high=high)

    def solve(self, program: Program) -> Solution:
        """Return the solution; bounded iterations, warm-started from the last one."""
        if (program.low > program.high).any():
            return self._unusable("the limits contradict each other")
        values = program.C[self._entries]
        if self._solver is None:
            self._solver = self._setup(program, values)
        else:
            self._solver.update(q=program.q, l=program.low, u=program.high, Ax=values)
        result = self._solver.solve(raise_error=False)
        info = result.info
        status = osqp.SolverStatus(info.status_val)
        x = np.asarray(result.x, dtype=np.float64)
        stopped = status in (
            osqp.SolverStatus.OSQP_MAX_ITER_REACHED, osqp.SolverStatus.OSQP_SOLVED_INACCURATE
        )  # fmt: skip
        usable = status == osqp.SolverStatus.OSQP_SOLVED or (
            stopped and info.prim_res < ACCEPTED_RESIDUAL
        )
        if not usable or not np.isfinite(x).all():
            return self._unusable(f"the solver ended with '{info.status}'")
        commands = x[self._i_command : self._i_slack].reshape(-1, N_COMMAND)
        return Solution(commands=commands, is_usable=True)

    def _unusable(self, reason: str) -> Solution:
        """Return no commands and the reason; the next program starts cold."""
        self._solver = None
        return Solution(commands=np.zeros((self._n, N_COMMAND)), is_usable=False, reason=reason)

    def _setup(self, program: Program, values: FloatArray) -> osqp.OSQP:
        C = self._pattern_matrix.copy()
        C.data[:] = values
        solver = osqp.OSQP()
        solver.setup(
            sparse.triu(sparse.csc_matrix(program.P), format="csc"), program.q, C, program.low,
            program.high, verbose=False, eps_abs=ACCURACY, eps_rel=ACCURACY,
            max_iter=self._parameters.max_iterations, check_termination=CHECK_EVERY,
            # Counted in iterations, not in time: the same input gives the same command.
            adaptive_rho_interval=2 * CHECK_EVERY, warm_starting=True, polishing=False,
        )  # fmt: skip
        return solver

    def _cost(self) -> FloatArray:
        n, p = self._n, self._parameters
        error = [p.along_weight, p.across_weight, p.heading_weight, 0.0, 0.0]
        P = np.zeros((self._size, self._size))
        i = np.arange(self._size)
        P[i, i] = np.concatenate([np.zeros(N_STATE), np.tile(error, n),
                                  np.tile([p.speed_weight, p.turn_weight], n),
                                  np.full(n, SLACK_CURVATURE)])  # fmt: skip
        change = np.eye(n) - np.eye(n, k=-1)
        weights = np.diag([p.speed_change_weight, p.turn_change_weight])
        part = slice(self._i_command, self._i_slack)
        P[part, part] += np.kron(change.T @ change, weights)
        return 2.0 * P

    def _constraints(self) -> tuple[FloatArray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return the rows with the fixed entries, and rows and columns of the A_k and B_k."""
        n, size = self._n, self._size
        n_states = N_STATE * (n + 1)
        dynamics = np.eye(n_states, size)
        bounds = np.eye(N_COMMAND * n, size, k=self._i_command)
        change = np.zeros((N_COMMAND * n, size))
        change[:, self._i_command : self._i_slack] = np.kron(
            np.eye(n) - np.eye(n, k=-1), np.eye(N_COMMAND)
        )
        across = np.zeros((n, size))
        across[np.arange(n), N_STATE * np.arange(1, n + 1) + 1] = 1.0
        slack = np.eye(n, size, k=self._i_slack)
        fixed = np.vstack([dynamics, bounds, change, across + slack, across - slack, slack])
        stage = np.arange(n)[:, None]
        rows = N_STATE * (stage + 1) + np.arange(N_STATE)
        states = N_STATE * stage + np.arange(N_STATE)
        commands = self._i_command + N_COMMAND * stage + np.arange(N_COMMAND)
        return fixed, (rows, states, commands)

    def _pattern(self) -> FloatArray:
        """Return ones wherever a constraint can be nonzero."""
        pattern = (self._fixed != 0.0).astype(np.float64)
        rows, states, commands = self._dynamics
        pattern[rows[:, :, None], states[:, None, :]] = 1.0
        pattern[rows[:, :, None], commands[:, None, :]] = 1.0
        return pattern


def _csc_entries(matrix: sparse.csc_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return row and column of every stored entry, in the order of storage."""
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    return matrix.indices, columns
