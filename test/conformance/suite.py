# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of a simulator: each feature of simulation_interfaces, announced or not, and true."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from conformance.checks import CHECKS, GENERAL, REFUSALS
from conformance.client import FEATURES, UNSUPPORTED, SimulatorClient, Unanswered
from conformance.expectations import expect
from conformance.run_checks import quitting_ends_it

PASSED, FAILED, REFUSED, ABSENT, UNCHECKED = "passed", "FAILED", "refused", "absent", "not checked"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    feature: str
    is_announced: bool
    result: str
    duration_s: float
    note: str = ""

    @property
    def is_conform(self) -> bool:
        """Whether what is announced is true, and what is not is refused."""
        return self.result != FAILED


def run_suite(
    sim: SimulatorClient,
    *,
    only: Collection[str] = (),
    quits: bool = False,
    on_row: Callable[[Row], None] = lambda _: None,
) -> list[Row]:
    """Return the rows of all features, or of `only` some; `quits` ends the simulator at last."""
    announced = set(sim.features())
    rows: list[Row] = []

    def add(name: str, is_announced: bool, check: Callable[[], str]) -> None:
        if only and name not in only:
            return
        begin = time.monotonic()
        try:
            result, note = check(), ""
        except (AssertionError, Unanswered, StopIteration, IndexError) as error:
            result, note = FAILED, str(error) or type(error).__name__
        rows.append(Row(name, is_announced, result, time.monotonic() - begin, note))
        on_row(rows[-1])

    def passing(check: Callable[[SimulatorClient], None]) -> Callable[[], str]:
        def run() -> str:
            check(sim)
            return PASSED

        return run

    for name, check in GENERAL.items():
        add(name, True, passing(check))
    order = [*CHECKS, *(feature for feature in FEATURES if feature not in CHECKS)]
    for feature in order:
        name = FEATURES[feature]
        if feature not in announced:
            add(name, False, lambda feature=feature: _refusal(sim, feature))
        elif feature in CHECKS:
            add(name, True, passing(CHECKS[feature]))
        else:
            add(name, True, lambda: UNCHECKED)
    for unknown in announced - set(FEATURES):
        add(f"feature {unknown}", True, _unknown)
    if quits:
        add("STATE_QUITTING", True, passing(quitting_ends_it))
    return rows


def _refusal(sim: SimulatorClient, feature: int) -> str:
    if feature not in REFUSALS:
        return ABSENT
    kind, fields = REFUSALS[feature]
    if not sim.is_offered(kind):
        return ABSENT
    response: Any = sim.call(kind, **fields)
    expect(response, UNSUPPORTED)
    return REFUSED


def _unknown() -> str:
    raise AssertionError("no feature of simulation_interfaces 2.1 has this number")


def table(rows: list[Row]) -> str:
    """Return the table as text."""
    width = max(len(row.feature) for row in rows)
    lines = [f"{'feature':{width}}  announced  result       time [s]"]
    for row in rows:
        is_announced = "yes" if row.is_announced else "no"
        line = f"{row.feature:{width}}  {is_announced:9}  {row.result:11}  {row.duration_s:8.2f}"
        lines.append(f"{line}  {row.note}".rstrip())
    failed = sum(not row.is_conform for row in rows)
    lines.append(f"{len(rows)} rows, {failed} not conform")
    return "\n".join(lines)
