# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the numbers of several runs may be ranked, and why not.

A run evaluated on an easier sequence, by another protocol or over a smaller part has smaller errors
without being better. The metrics of a section identify its evaluation: the `hash` of its
`protocol`, the `hash` of its `reference`, its `coverage`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aerotwin_report.runs import Run

MAX_COVERAGE_APART = 0.01
"""Coverages that differ by more mean different parts of a reference."""


def obstacles(runs: Sequence[Run], section: str) -> list[str]:
    """Return why the numbers of one section may not be ranked over runs; empty if they may."""
    return [*of_all(runs), *of_section(runs, section)]


def of_all(runs: Sequence[Run]) -> list[str]:
    """Return the reasons why no number of the runs is comparable."""
    worlds = {run.name: (run.document["world"] or {}).get("name") for run in runs}
    missions = {run.name: run.document["configuration"].get("mission") for run in runs}
    found = []
    if _are_apart(worlds):
        found.append(f"the runs are of different worlds ({_said(worlds, 'in ')})")
    if _are_apart(missions):
        found.append(f"the runs are of different missions ({_said(missions)})")
    return found


def of_section(runs: Sequence[Run], section: str) -> list[str]:
    """Return the reasons why the numbers of one section are not comparable."""
    parts = {run.name: run.document["sections"].get(section) or {} for run in runs}
    hashes = {name: _hash(part, "protocol") for name, part in parts.items()}
    found = []
    if _are_apart(hashes):
        found.append(f"judged by different protocols ({_said(hashes)})")
    if not all(run.document["world"] for run in runs) and _are_apart(
        {name: _hash(part, "reference") for name, part in parts.items()}
    ):
        found.append(f"judged against different references ({_said(_references(runs))})")
    shares = {
        name: part["coverage"]
        for name, part in parts.items()
        if isinstance(part.get("coverage"), int | float)
    }
    if shares and max(shares.values()) - min(shares.values()) > MAX_COVERAGE_APART:
        said = {name: f"{share:.0%}" for name, share in shares.items()}
        found.append(f"the estimates cover different parts of the reference ({_said(said)})")
    return found


def _hash(part: Mapping[str, Any], key: str) -> str | None:
    known = part.get(key)
    return known.get("hash") if isinstance(known, Mapping) else None


def _are_apart(values: Mapping[str, Any]) -> bool:
    """Return whether two runs report different values; runs without a value are ignored."""
    return len({str(value) for value in values.values() if value is not None}) > 1


def _references(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the last part of each run's reference."""
    named = {run.name: run.document["configuration"].get("reference") for run in runs}
    return {name: str(path).rsplit("/", 1)[-1] if path else None for name, path in named.items()}


def _said(values: Mapping[str, Any], before: str = "") -> str:
    known = {name: value for name, value in values.items() if value is not None}
    return ", ".join(f"{name} {before}{value}" for name, value in known.items())
