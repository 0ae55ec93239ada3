# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The runs of a campaign as the test cases of a JUnit file, which build servers show.

    testsuites > testsuite (one for each value of the first axis of texts) > testcase (a run)

A run that was no success is a failure, one that could not be made an error, one that is not made
yet is skipped. Attributes and elements are those that pytest writes and Jenkins's schema has.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from aerotwin_campaign.campaign_results import MOST_TEXTS, ResultColumns, shown_value
from aerotwin_campaign.spec import RunSpec, short_id
from aerotwin_core.foreign_text import printable

FAILURE, ERROR, SKIPPED = "failure", "error", "skipped"
_COUNTS = {FAILURE: "failures", ERROR: "errors", SKIPPED: "skipped"}
_NOT_MADE_YET = "is not made yet"


@dataclass(frozen=True, kw_only=True)
class TestCase:
    """A run: in which suite, its name, and what is wrong with it, if anything.

    `kind` is one of `FAILURE`, `ERROR`, `SKIPPED` or "", `message` one line of `text`.
    """

    __test__ = False  # pytest collects classes of such names

    suite: str
    name: str
    time_s: float = 0.0
    kind: str = ""
    message: str = ""
    text: str = ""


def junit_xml(
    name: str,
    results: ResultColumns,
    left: Iterable[tuple[RunSpec, Mapping[str, Any]]] = (),
    not_made: Mapping[str, str] | None = None,
) -> str:
    """Return the JUnit file of a campaign.

    Parameters
    ----------
    name : str
        Of the campaign.
    results : ResultColumns
    left : iterable of (RunSpec, axis values)
        Runs that are not made.
    not_made : mapping of str to str
        Why some of them could not be made, by their id.
    """
    suite_axis = _suite_axis(results)
    cases = [*_done(name, results, suite_axis), *_left(name, left, suite_axis, not_made or {})]
    suites: dict[str, list[TestCase]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    root = ElementTree.Element(
        "testsuites", {"name": _text(name)} | _counts(cases, has_skipped=False)
    )
    for suite, members in (suites or {name: []}).items():
        node = ElementTree.SubElement(root, "testsuite", {"name": _text(suite)} | _counts(members))
        for case in members:
            node.append(_element(case))
    ElementTree.indent(root, " ")
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _suite_axis(results: ResultColumns) -> str | None:
    """Return the first axis of a few texts, such as the scenario."""
    for path, values in results.axes.items():
        if all(isinstance(x, str) for x in values) and 1 < len(set(values)) <= MOST_TEXTS:
            return path
    return None


def _done(name: str, results: ResultColumns, axis: str | None) -> Iterator[TestCase]:
    wall_s = np.nan_to_num(results.cost("wall_s"))
    for k, run_id in enumerate(results.run_ids):
        suite = name if axis is None else f"{name}.{results.axes[axis][k]}"
        values = {path: each[k] for path, each in results.axes.items()}
        title = _title(values, results.seeds[k], results.repeats[k], run_id)
        if results.is_success[k]:
            yield TestCase(suite=suite, name=title, time_s=float(wall_s[k]))
            continue
        outcome = results.outcomes[k] or "no success"
        yield TestCase(
            suite=suite, name=title, time_s=float(wall_s[k]), kind=FAILURE,
            message=outcome.splitlines()[0],
            text="\n".join([outcome, *results.unmet(k), f"run {run_id}"]),
        )  # fmt: skip


def _left(
    name: str,
    left: Iterable[tuple[RunSpec, Mapping[str, Any]]],
    axis: str | None,
    not_made: Mapping[str, str],
) -> Iterator[TestCase]:
    for spec, values in left:
        suite = name if axis is None else f"{name}.{values.get(axis)}"
        why = not_made.get(spec.id)
        yield TestCase(
            suite=suite, name=_title(values, spec.seed, spec.repeat, spec.id),
            kind=SKIPPED if why is None else ERROR, message=why or _NOT_MADE_YET,
            text="" if why is None else f"{why}\nrun {spec.id}",
        )  # fmt: skip


def _title(values: Mapping[str, Any], seed: int, repeat: int, run_id: str) -> str:
    parts = [f"{path}={shown_value(value)}" for path, value in values.items()]
    again = [f"repeat={repeat}"] if repeat else []
    return " ".join([*parts, f"seed={seed}", *again, f"({short_id(run_id)})"])


def _counts(cases: list[TestCase], *, has_skipped: bool = True) -> dict[str, str]:
    kinds = [case.kind for case in cases]
    found = {"tests": str(len(cases))}
    for kind, attribute in _COUNTS.items():
        if has_skipped or kind != SKIPPED:
            found[attribute] = str(kinds.count(kind))
    return found | {"time": f"{sum(case.time_s for case in cases):.3f}"}


def _element(case: TestCase) -> ElementTree.Element:
    node = ElementTree.Element(
        "testcase", classname=_text(case.suite), name=_text(case.name), time=f"{case.time_s:.3f}"
    )
    if case.kind:
        inner = ElementTree.SubElement(
            node, case.kind, type=f"campaign.{case.kind}", message=_text(case.message)
        )
        inner.text = _text(case.text) or None
    return node


def _text(text: str) -> str:
    """Return text that XML 1.0 can hold: control characters are escaped as a terminal gets them."""
    return printable(text, keep="\n")
