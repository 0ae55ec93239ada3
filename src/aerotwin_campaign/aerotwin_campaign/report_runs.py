# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The chapters of a campaign's report about single runs: the worst, the failures, the cost."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aerotwin_campaign.campaign_results import ResultColumns, number_text, percent_text
from aerotwin_campaign.spec import short_id
from aerotwin_core.gate import Condition
from aerotwin_core.section import Headline, ReportLink, Section, Table

MOST_WORST, MOST_OUTCOMES = 20, 30
_LONGEST_OUTCOME = 160
_NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")


def ranking(
    results: ResultColumns, conditions: Sequence[Condition]
) -> tuple[str, np.ndarray, bool]:
    """Return by what successes are ordered, the number (n,) of each run, and if low is worse.

    It is the smallest robustness; without, the metric that the first condition is about; without,
    the first measured metric, of which the largest is the worst.
    """
    if np.isfinite(results.margins).any():
        return "robustness", results.margins, True
    for condition in conditions:
        name = condition.name.rpartition(".")[0]
        if name in results.measured:
            return name, results.measured[name], condition.operator in ("<", "<=")
    for name, values in results.measured.items():
        return name, values, False
    return "none", np.full(len(results), np.nan), False


def worst_section(
    results: ResultColumns,
    conditions: Sequence[Condition],
    link_of: Callable[[str], ReportLink | None],
    command_of: Callable[[str], str],
) -> Section | None:
    """Return the worst runs, with links and the commands that make them again; None without runs.

    `link_of` returns the link to a run's report or folder by its id, `command_of` the command by
    its short id.
    """
    if not len(results):
        return None
    name, values, is_low_worse = ranking(results, conditions)
    badness = np.where(np.isfinite(values), -values if is_low_worse else values, -np.inf)
    order = np.lexsort((np.arange(len(results)), -badness, results.is_success))
    _, first = np.unique(results.units[order], return_index=True)  # of repeats, the worst
    order = order[np.sort(first)][:MOST_WORST]
    rows = tuple(
        (
            link_of(results.run_ids[k]) or short_id(results.run_ids[k]),
            results.shown_axes(k) or "–", str(results.seeds[k]),
            "success" if results.is_success[k] else "failure",
            number_text(float(values[k])), _cut(results.outcomes[k]),
        )
        for k in order
    )  # fmt: skip
    commands = tuple((command_of(short_id(results.run_ids[k])),) for k in order)
    way = "the smallest" if is_low_worse else "the largest"
    return Section(
        title="Worst runs",
        name="worst_runs",
        text=f"Failures first; within them and the successes, {way} {name} first; of repeats, the "
        "worst. The id of a run opens its report if it has one, else its folder.",
        tables=(
            Table(
                title="Worst runs",
                columns=("run", "axes", "seed", "result", name, "outcome"),
                rows=rows,
            ),
            Table(title="Make them again", columns=("command",), rows=commands),
        ),
        metrics={"runs": [results.run_ids[k] for k in order]},
    )


def failure_section(results: ResultColumns) -> Section | None:
    """Return the failures by outcome; None if there is none."""
    failed = np.flatnonzero(~results.is_success)
    if not len(failed):
        return None
    groups: dict[str, list[int]] = {}
    for k in failed:
        groups.setdefault(_NUMBER.sub("#", results.outcomes[k]), []).append(int(k))
    largest = sorted(groups.values(), key=lambda runs: (-len(runs), runs[0]))
    rows = tuple(
        (
            _cut(results.outcomes[runs[0]]), len(runs), percent_text(len(runs) / len(failed)),
            _mostly(results, runs), short_id(results.run_ids[runs[0]]),
        )
        for runs in largest[:MOST_OUTCOMES]
    )  # fmt: skip
    n_more = len(largest) - len(rows)
    return Section(
        title="Failures",
        name="failures",
        text="Outcomes that differ only in numbers are one; the first of each is shown.",
        tables=(
            Table(
                title="Failures by outcome",
                columns=("outcome", "runs", "share [%]", "mostly at", "first run"),
                rows=rows,
                caption=f"{n_more} rarer outcomes are not shown." if n_more else "",
            ),
        ),
        metrics={"n_outcomes": len(largest)},
    )


def _mostly(results: ResultColumns, runs: list[int]) -> str:
    """Return the value of an axis that most of some runs share, with their share."""
    found: tuple[float, str] = (0.5, "–")
    for path, grouping in results.groupings.items():
        if len(grouping.labels) < 2:
            continue
        ((code, n),) = Counter(grouping.codes[runs].tolist()).most_common(1)
        if n / len(runs) > found[0]:
            found = n / len(runs), f"{path} {grouping.labels[code]} ({n / len(runs):.0%})"
    return found[1]


def cost_section(results: ResultColumns) -> Section | None:
    """Return wall and CPU time, over all and by host; None without runs."""
    if not len(results):
        return None
    wall, cpu = results.cost("wall_s"), results.cost("cpu_s")
    hosts = [str(x) if x else "unknown" for x in results.costs.get("host", [None] * len(results))]
    rows = []
    for host in dict.fromkeys(hosts):
        which = np.array([each == host for each in hosts])
        rows.append((host, *_costs(wall[which], cpu[which])))
    if len(rows) > 1:
        rows.append(("all", *_costs(wall, cpu)))
    return Section(
        title="Cost",
        name="cost",
        headline=(
            Headline(
                label="Time", value=f"{np.nansum(wall) / 3600.0:.3g}", unit="h",
                meaning=f"of all runs together; {np.nansum(cpu) / 3600.0:.3g} h of CPU",
            ),
        ),
        tables=(
            Table(
                title="Time by host",
                columns=("host", "runs", "wall [s]", "CPU [s]", "median wall [s]", "longest [s]"),
                rows=tuple(rows),
                caption="Sums over runs, several of which may have been made at a time.",
            ),
        ),
        metrics={"wall_s": float(np.nansum(wall)), "cpu_s": float(np.nansum(cpu))},
    )  # fmt: skip


def _costs(wall: np.ndarray, cpu: np.ndarray) -> tuple[Any, ...]:
    known = wall[np.isfinite(wall)]
    middle = (float(np.median(known)), float(known.max())) if len(known) else (None, None)
    return (
        len(wall),
        number_text(np.nansum(wall)),
        number_text(np.nansum(cpu)),
        *map(number_text, middle),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_OUTCOME else f"{text[: _LONGEST_OUTCOME - 1]}…"
