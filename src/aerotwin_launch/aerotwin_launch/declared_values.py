# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What arguments of a launch file are by default, and which parameters of nodes they set."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from aerotwin_launch.errors import LaunchError
from aerotwin_launch.expand import every_action
from aerotwin_launch.schema import Action, Entry
from aerotwin_launch.scope import Scope
from aerotwin_launch.substitutions import Call, Parts, Template

_ALONE = re.compile(r"\$\(var (\w+)\)")


def default_values(
    actions: Iterable[Action], path: Path, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the defaults of the arguments of a launch file, evaluated in their order.

    An argument without a default, or with one that has no value here, is left out.
    """
    scope = Scope(
        variables={},
        environment=dict(environment),
        initial_environment=dict(environment),
        folder=str(path.parent),
    )
    for action in actions:
        default: Template | None = action.get("default") if action.kind == "arg" else None
        if default is not None:
            try:
                scope.variables[action.get("name")] = default.evaluate(scope)
            except LaunchError:
                continue
    return scope.variables


def followed_arguments(actions: Iterable[Action]) -> dict[str, tuple[str, ...]]:
    """Return, by argument, the other arguments from whose values its default is made."""
    return {
        action.get("name"): tuple(dict.fromkeys(_variables(action.get("default").parts)))
        for action in actions
        if action.kind == "arg" and action.get("default") is not None
    }


def parameter_arguments(actions: tuple[Action, ...]) -> dict[str, str]:
    """Return arguments by the names of the parameters that are set to their values alone."""
    found: dict[str, str] = {}
    for action in every_action(actions):
        for entry in action.get("param") or ():
            if (argument := _argument_alone(entry)) is not None:
                found.setdefault(entry.get("name").source, argument)
    return found


def _argument_alone(entry: Entry) -> str | None:
    value = entry.get("value")
    if entry.get("name") is None or not isinstance(value, str):
        return None
    match = _ALONE.fullmatch(value)
    return None if match is None else match[1]


def _variables(parts: Parts) -> Iterator[str]:
    """Yield the names of variables, those in other substitutions included."""
    for part in parts:
        if isinstance(part, Call):
            first = part.arguments[0] if part.arguments else ()
            if part.name == "var" and len(first) == 1 and isinstance(first[0], str):
                yield first[0]
            for argument in part.arguments:
                yield from _variables(argument)
