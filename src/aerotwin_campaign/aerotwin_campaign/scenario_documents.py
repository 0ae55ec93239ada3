# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenarios of a campaign: what its runs receive, checked before any is flown.

Scenarios are of the package aerotwin_scenarios, which is above this one: it is asked by its name.
"""

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_campaign.axes import Axis, ListedAxis
from aerotwin_campaign.paths import with_value
from aerotwin_campaign.results_table import COUNTS, metric_statistics
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.foreign_text import shown
from aerotwin_core.gate import Condition

SCENARIO = "scenario"
_MODULE = "aerotwin_scenarios.flights.campaign_run"
FLIGHT = f"{_MODULE}:fly"
"""The function of a run that flies a scenario."""
_MIDDLE = 0.5
_EXPECTATION = re.compile(r"expect\.\d+\.(is_met|robustness)")


def scenario_documents(asked: Any, place: str, file: Path) -> dict[str, dict[str, Any]]:
    """Return the documents of scenarios by name: one, a list, or `all` that come with aerotwin.

    `place` begins the messages; files are looked for beside the campaign `file`. Raises `UserError`
    if there is no such scenario.
    """
    names = [asked] if isinstance(asked, str) else asked
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise ParameterError(
            f"{place}: expected a name, a file, a list of these, or all, found {shown(asked)}"
        )
    try:
        found: dict[str, dict[str, Any]] = _module().documents(names, file.parent)
    except UserError as error:
        raise ParameterError(f"{place}: {error}") from None
    return found


def check_scenarios(
    documents: Mapping[str, Mapping[str, Any]],
    axes: Mapping[str, Axis],
    place_of: Callable[[str], str],
) -> None:
    """Refuse axes that make no scenario: each value of a list, and the middle of a distribution.

    `place_of` returns where an axis stands. Raises `ParameterError`.
    """
    check = _module().check
    for document in documents.values():
        for path, axis in axes.items():
            values = axis.values if isinstance(axis, ListedAxis) else (axis.value(_MIDDLE),)
            for value in values:
                try:
                    check(with_value(document, path.split("."), value))
                except (UserError, TypeError, AttributeError) as error:
                    raise ParameterError(f"{place_of(path)} = {shown(value)}: {error}") from None


def check_conditions(conditions: Sequence[Condition], place: str) -> None:
    """Refuse conditions on numbers that no campaign of scenarios has, before anything flies.

    `place` begins the messages. Raises `ParameterError`.
    """
    metrics = {*(each.path for each in _module().METRICS.metrics), "is_repeatable"}
    statistics = metric_statistics(np.zeros(1))
    known = {*COUNTS, *(f"{metric}.{name}" for metric in metrics for name in statistics)}
    for number, condition in enumerate(conditions):
        metric, _, statistic = condition.name.rpartition(".")
        is_expectation = _EXPECTATION.fullmatch(metric) and statistic in statistics
        if condition.name not in known and not is_expectation:
            near = get_close_matches(condition.name, sorted(known), n=3) or sorted(metrics)
            raise ParameterError(
                f"{place}[{number}]: there is no number '{condition.name}'; expected "
                f"{', '.join(COUNTS)}, or of a metric {', '.join(statistics)}; did you mean "
                f"{', '.join(near)}?"
            )


def _module() -> Any:
    return importlib.import_module(_MODULE)
