# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Conditions that fail a command, for continuous integration: ``--fail-if "ape_rmse_m > 0.1"``."""

import argparse
import difflib
import operator
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aerotwin_core.errors import UserError

EXIT_GATE = 3
_OPERATORS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_CONDITION = re.compile(
    r"\s*([A-Za-z_][\w.%-]*)\s*(>=|<=|==|!=|>|<)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*"
)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition under which a result is not accepted: *name operator limit*."""

    name: str
    operator: str
    limit: float

    def __str__(self) -> str:
        return f"{self.name} {self.operator} {self.limit:g}"

    def holds(self, value: float) -> bool:
        """Return whether it holds for a value."""
        return bool(_OPERATORS[self.operator](value, self.limit))


def parse_condition(text: str) -> Condition:
    """Return the condition of a text such as ``ape_rmse_m > 0.1``.

    Raises `argparse.ArgumentTypeError` if the text is not *name, one of > >= < <= == !=, number*.
    """
    match = _CONDITION.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        return Condition(name=match[1], operator=match[2], limit=float(match[3]))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected NAME > NUMBER (or >= < <= == !=), found {text!r}"
        ) from None


def add_gate_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--fail-if``; it may be repeated."""
    parser.add_argument(
        "--fail-if",
        metavar="CONDITION",
        type=parse_condition,
        action="append",
        default=[],
        help=f'exit code {EXIT_GATE} when it holds or was not judged, as "ape_rmse_m > 0.1"; '
        "names are those of the JSON, parts joined by dots, or the short ones that "
        "docs/reference/metrics lists",
    )


def check_gate_names(
    conditions: Sequence[Condition], aliases: Mapping[str, str], names: Iterable[str] = ()
) -> None:
    """Refuse misspelt short names before the evaluation starts.

    Dotted names are paths in the result and can be checked only afterwards. `aliases` maps short to
    dotted names, `names` are the numbers at the top level of the result.

    Raises `UserError` if a name without a dot is neither.
    """
    known = {*aliases, *aliases.values(), *names}
    for condition in conditions:
        if "." not in condition.name and condition.name not in known:
            raise _unknown(condition.name, aliases, sorted(known))


def exit_code_of_gates(
    conditions: Sequence[Condition],
    metrics: Mapping[str, Any],
    aliases: Mapping[str, str],
    label: str = "",
) -> int:
    """Print which conditions hold on standard error; return 0 when none does.

    A number that the evaluation could not determine (None) fails: a missing result is not a pass.
    The dots of a name are levels of the nested `metrics`; `aliases` maps short to dotted names;
    `label` says in messages which of several results these are.

    Raises `UserError` if a name is unknown or is not a number.
    """
    whose = f"{label}: " if label else ""
    failed = [each for each in judged(conditions, metrics, aliases) if each[2]]
    for condition, value, _ in failed:
        what = "was not judged" if value is None else f"it is {value:.6g}"
        sys.stderr.write(f"--fail-if: {whose}{condition}: {what}\n")
    return EXIT_GATE if failed else 0


def judged(
    conditions: Sequence[Condition], metrics: Mapping[str, Any], aliases: Mapping[str, str]
) -> list[tuple[Condition, float | None, bool]]:
    """Return conditions, the number of each (None if it was not judged), and whether it fails.

    Parameters and errors are those of `exit_code_of_gates`.
    """
    numbers = _numbers(metrics)
    values = [_value_of(condition, numbers, aliases) for condition in conditions]
    return [
        (each, value, value is None or each.holds(value)) for each, value in zip(conditions, values)
    ]


def _value_of(
    condition: Condition, numbers: Mapping[str, float | None], aliases: Mapping[str, str]
) -> float | None:
    name = aliases.get(condition.name, condition.name)
    if name in numbers:
        return numbers[name]
    if condition.name in aliases:  # a part of the result that is absent as a whole
        return None
    raise _unknown(condition.name, aliases, [*aliases, *numbers])


def _unknown(name: str, aliases: Mapping[str, str], known: Sequence[str]) -> UserError:
    close = difflib.get_close_matches(name, known, n=3)
    listed = ", ".join(close or sorted(aliases) or sorted(known))
    return UserError(f"--fail-if: the result has no number '{name}'; it has {listed}")


def _numbers(metrics: Mapping[str, Any], prefix: str = "") -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for key, value in metrics.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found |= _numbers(value, f"{name}.")
        elif value is None or isinstance(value, bool | int | float):
            found[name] = None if value is None or value != value else float(value)
    return found
