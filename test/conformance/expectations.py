# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the checks have in common."""

from collections.abc import Callable
from typing import Any

from simulation_interfaces import srv
from simulation_interfaces.msg import (
    EntityFilters,
    Result,
    SimulationState,
    SimulatorFeatures,
)

from conformance.client import OK, UNSUPPORTED, SimulatorClient

F, S = SimulatorFeatures, SimulationState
NOT_FOUND, FAILED = Result.RESULT_NOT_FOUND, Result.RESULT_OPERATION_FAILED
HOSTILE_NAMES = ("", "/", "../../etc", "no such entity", "a" * 5000, "line\nbreak")
HOSTILE_PATTERNS = (
    "(a+)+$" * 20,
    "(((((a{1,255}){1,255}){1,255}){1,255}){1,255})",
    "(",
    "[",
    "*",
    "\\",
)
N_STEPS, MANY = 5, 1_000_000
Check = Callable[[SimulatorClient], None]


def expect(response: Any, *codes: int) -> None:
    """Fail unless the result is one of some codes; a refusal has a text."""
    result = response if isinstance(response, Result) else response.result
    assert result.result in codes, (
        f"result {result.result} '{result.error_message}', expected one of {codes}"
    )
    assert result.result == OK or result.error_message, f"result {result.result} without a text"


def stamp_ns(sim: SimulatorClient) -> int:
    stamp = sim.entity_state(sim.entities()[0]).header.stamp
    return stamp.sec * 10**9 + stamp.nanosec


def position(sim: SimulatorClient, name: str) -> tuple[float, float, float]:
    p = sim.entity_state(name).pose.position
    return p.x, p.y, p.z


def listed(sim: SimulatorClient, **filters: Any) -> list[str]:
    response = sim.call(srv.GetEntities, filters=EntityFilters(**filters))
    expect(response, OK)
    return list(response.entities)


def refused(sim: SimulatorClient, **filters: Any) -> None:
    request = EntityFilters(**filters)
    expect(sim.call(srv.GetEntities, filters=request), FAILED, UNSUPPORTED)
