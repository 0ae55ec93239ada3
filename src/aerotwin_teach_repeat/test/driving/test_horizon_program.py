# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The program and OSQP's answer against an independent dense solver: SciPy's interior point."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize

from aerotwin_teach_repeat.tracking import TrackerParameters
from aerotwin_teach_repeat.tracking.horizon_program import (
    SLACK_CURVATURE,
    HorizonProgram,
    StageData,
)

N = 4
SMALL = TrackerParameters(n_steps=N, max_iterations=4000)
SOLVER_ERROR = 2e-3  # OSQP stops at residuals of 1e-4; weights of 1 to 10 turn them into commands


def stages(rng, *, e_start, n=N):
    """Return a horizon of random, stable dynamics."""
    A = np.tile(np.eye(5), (n, 1, 1)) + rng.normal(0.0, 0.15, (n, 5, 5))
    return StageData(
        e_start=np.asarray(e_start), A=A, B=rng.normal(0.0, 0.3, (n, 5, 2)),
        c=rng.normal(0.0, 0.02, (n, 5)), u_reference=rng.normal(0.3, 0.3, (n, 2)),
        u_low=np.tile([0.0, -0.5], (n, 1)), u_high=np.tile([1.5, 0.5], (n, 1)),
        change=np.tile([0.125, 0.3], (n, 1)), u_before=np.array([0.2, 0.1]),
    )  # fmt: skip


def across(u, data):
    """Return the errors across the route and the cost of all errors, stage by stage."""
    e, found = data.e_start, []
    for k in range(N):
        e = data.A[k] @ e + data.B[k] @ u[k] + data.c[k]
        found.append(e)
    return np.array(found)


def cost_of(x, data, p):
    """Return the cost as the text states it; x holds the commands, then how far each is out."""
    u, left = x[: 2 * N].reshape(N, 2), x[2 * N :]
    e, off = across(u, data), u - data.u_reference
    change = np.diff(np.vstack([data.u_before, u]), axis=0)
    return (
        (e[:, :3] ** 2 @ [p.along_weight, p.across_weight, p.heading_weight]).sum()
        + (off**2 @ [p.speed_weight, p.turn_weight]).sum()
        + (change**2 @ [p.speed_change_weight, p.turn_change_weight]).sum()
        + (p.corridor_weight * left + SLACK_CURVATURE / 2.0 * left**2).sum()
    )


def oracle(data, p):
    """Return the commands that SciPy finds; every margin is affine, the cost quadratic."""

    def margins(x):
        u, left = x[: 2 * N].reshape(N, 2), x[2 * N :]
        e = across(u, data)[:, 1]
        change = np.diff(np.vstack([data.u_before, u]), axis=0)
        room = p.corridor_m + left
        rates = [(data.change - change).ravel(), (data.change + change).ravel()]
        return np.concatenate([room - e, room + e, *rates])

    none, unit = np.zeros(3 * N), np.eye(3 * N)
    slopes = np.stack([margins(axis) - margins(none) for axis in unit], axis=1)
    cost = [cost_of(axis, data, p) for axis in unit]
    curvature = np.array([
        [cost_of(a + b, data, p) - cost[i] - cost[j] + cost_of(none, data, p)
         for j, b in enumerate(unit)] for i, a in enumerate(unit)
    ])  # fmt: skip
    low, high = np.full(3 * N, 0.0), np.full(3 * N, np.inf)
    low[: 2 * N], high[: 2 * N] = data.u_low.ravel(), data.u_high.ravel()
    start = np.r_[np.clip(np.tile(data.u_before, N), low[: 2 * N], high[: 2 * N]), np.ones(N)]
    found = minimize(
        cost_of, start, args=(data, p), method="trust-constr", jac="3-point",
        hess=lambda *_: curvature, bounds=Bounds(low, high),
        constraints=LinearConstraint(slopes, lb=-margins(none)),
        options={"gtol": 1e-7, "xtol": 1e-12, "barrier_tol": 1e-9, "maxiter": 3000},
    )  # fmt: skip
    assert found.status in (1, 2) and found.optimality < 1e-4, found.message
    return found.x[: 2 * N]


@pytest.mark.parametrize("seed", range(6))
def test_the_solution_is_that_of_a_dense_solver(seed):
    rng = np.random.default_rng(seed)
    data = stages(rng, e_start=rng.normal(0.0, 0.2, 5))
    program = HorizonProgram(SMALL)
    solution = program.solve(program.build(data))
    assert solution.is_usable
    expected = oracle(data, SMALL)
    np.testing.assert_allclose(solution.commands.ravel(), expected, atol=SOLVER_ERROR)


def test_a_start_outside_the_corridor_has_a_solution_that_leads_back():
    data = stages(np.random.default_rng(7), e_start=[0.0, 1.0, 0.0, 0.0, 0.0])
    program = HorizonProgram(SMALL)
    solution = program.solve(program.build(data))
    assert solution.is_usable
    expected = oracle(data, SMALL)
    assert abs(across(expected.reshape(N, 2), data)[:, 1]).max() > SMALL.corridor_m
    np.testing.assert_allclose(solution.commands.ravel(), expected, atol=SOLVER_ERROR)


def test_a_second_program_of_other_numbers_is_solved_as_if_it_were_the_first():
    first, second = (stages(np.random.default_rng(k), e_start=np.full(5, 0.1)) for k in (1, 2))
    used = HorizonProgram(SMALL)
    used.solve(used.build(first))
    fresh = HorizonProgram(SMALL)
    np.testing.assert_allclose(
        used.solve(used.build(second)).commands, fresh.solve(fresh.build(second)).commands,
        atol=SOLVER_ERROR,
    )  # fmt: skip


def test_limits_that_contradict_each_other_are_a_reason_and_not_a_command():
    data = stages(np.random.default_rng(0), e_start=np.zeros(5))
    program = HorizonProgram(SMALL)
    impossible = dataclasses.replace(data, u_before=np.array([9.0, 0.1]))
    solution = program.solve(program.build(impossible))
    assert not solution.is_usable and solution.reason
    assert program.solve(program.build(data)).is_usable
