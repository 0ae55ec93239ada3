# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios and their results as lines for a terminal."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from aerotwin_core.parameters import flat_parameters
from aerotwin_faults import KINDS
from aerotwin_px4_bridge.ground_station import ORDERS
from aerotwin_scenarios.flights.fly import ScenarioResult
from aerotwin_scenarios.flights.metrics import METRIC_SIGNALS
from aerotwin_scenarios.flights.scenario import load_scenario
from aerotwin_scenarios.flights.shipped import shipped_scenarios
from aerotwin_simulator.events.plan import OBSTACLE
from aerotwin_simulator.signals import FLEET_SIGNALS, SIGNALS
from aerotwin_temporal_logic import Verdict
from aerotwin_worlds import Obstacle


def result_lines(name: str, seed: int, result: ScenarioResult) -> Iterator[str]:
    """Yield the lines of one flight: its end, and the verdicts."""
    duration_s = result.metrics["duration_s"] or 0.0
    yield f"{name}, seed {seed}: {result.outcome} ({duration_s:.1f} s)"
    for text, verdict in result.verdicts:
        mark = "met   " if verdict.is_met else "MISSED"
        yield f"  {mark}  {text}: {margin_text(verdict)}"
    for refusal in result.refusals:
        yield f"  order not followed: {refusal}"
    if not result.is_repeatable:
        yield "  not repeatable: waits for the autopilot timed out"


def margin_text(verdict: Verdict) -> str:
    """Return by how much an expectation is met or missed, and what decided it."""
    if verdict.time_margin_s is not None:
        return f"{verdict.time_margin_s:.1f} s to spare"
    if not math.isfinite(verdict.robustness):
        return verdict.reason
    unit = f" {verdict.unit}" if verdict.unit else ""
    side = "to spare" if verdict.is_met else "short"
    return f"{abs(verdict.robustness):.3g}{unit} {side} ({verdict.reason})"


def table_lines(flights: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table of flights as `--json` has them: one line a scenario, one column an autopilot.

    A cell says whether everything expected was met, and the smallest robustness of those
    expectations that decide it: the missed ones if there are any.
    """
    autopilots = list(dict.fromkeys(row["autopilot"] for row in flights))
    cells: dict[str, dict[str, str]] = {}
    for row in flights:
        name = f"{row['scenario']}, seed {row['seed']}"
        cells.setdefault(name, {})[row["autopilot"]] = _cell(row)
    width = max(len(name) for name in cells)
    for name, cell in [("scenario", {kind: kind for kind in autopilots}), *cells.items()]:
        columns = "".join(f"  {cell.get(kind, '-'):<24}" for kind in autopilots)
        yield f"{name:<{width}}{columns}".rstrip()


def _cell(row: Mapping[str, Any]) -> str:
    missed = [each for each in row["expectations"] if not each["is_met"]]
    asked = [each for each in missed or row["expectations"] if each["robustness"] is not None]
    least = min(asked, key=lambda each: each["robustness"], default=None)
    margin = "" if least is None else f" {least['robustness']:.3g} {least['unit']}".rstrip()
    if row["is_success"]:
        return f"met{margin}"
    return f"MISSED{margin}" if missed else "ORDER NOT FOLLOWED"


def shipped_lines() -> Iterator[str]:
    """Yield name and meaning of each shipped scenario."""
    for name, path in shipped_scenarios().items():
        yield _entry(name, load_scenario(path).text)


def signal_lines() -> Iterator[str]:
    """Yield name, unit and meaning of each signal and metric."""
    for title, signals in (
        ("signals over time; in a fleet also as uav1.height_m", SIGNALS),
        ("of a fleet", FLEET_SIGNALS),
        ("metrics", METRIC_SIGNALS),
    ):
        yield f"{title}:"
        for name, signal in signals.items():
            unit = f" [{signal.unit}]" if signal.unit else ""
            yield _entry(name, f"{signal.meaning[:1].lower()}{signal.meaning[1:]}{unit}")


def event_lines() -> Iterator[str]:
    """Yield what events may do, and the parameters of each."""
    for name, cls in {**KINDS, **ORDERS, OBSTACLE: Obstacle}.items():
        yield _entry(name, (cls.__doc__ or "").splitlines()[0])
        for parameter, field, default in flat_parameters(cls):
            unit = f" [{field.metadata['unit']}]" if field.metadata["unit"] else ""
            usual = "" if default is dataclasses.MISSING else f" ({default})"
            yield f"      {parameter}: {field.metadata['text']}{unit}{usual}"
    yield _entry("mark", "Nothing: the event names an instant.")


def _entry(name: str, text: str) -> str:
    return fill(f"{name:<24} {text}", 100, initial_indent="  ", subsequent_indent=" " * 27)
