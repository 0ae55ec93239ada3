# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The tokens after `aerotwin launch`: file and arguments; and the arguments of a file."""

import os
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from aerotwin_core.limits import check_is_file
from aerotwin_launch import packages
from aerotwin_launch.errors import LaunchError, suggestion
from aerotwin_launch.expand import declared_arguments
from aerotwin_launch.schema import load_actions

SEPARATOR = ":="
SHIPPED = "aerotwin_bringup"
"""Package whose launch files are found by their names alone."""
ENDING = ".launch.yaml"


def split_tokens(tokens: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Separate the name of the file from `name:=value`; of two equal names the last one counts."""
    target = [token for token in tokens if SEPARATOR not in token]
    arguments = {}
    for token in tokens:
        if SEPARATOR in token:
            name, _, value = token.partition(SEPARATOR)
            if not name or not value:
                raise LaunchError(None, f"launch argument '{token}' must read name:=value")
            arguments[name] = value
    return target, arguments


def find_launch_file(target: Sequence[str], environment: Mapping[str, str]) -> Path:
    """Return the launch file that `FILE`, `PACKAGE FILE` or the `NAME` of a shipped one names."""
    if len(target) == 1:
        path = Path(target[0])
        check_is_file(path)
        if not path.is_file():
            path = _shipped(path, environment)
    elif len(target) == 2:
        path = _of_package(target[0], target[1], environment)
    else:
        raise LaunchError(None, "name one launch file, or a package and one of its launch files")
    if path.suffix not in (".yaml", ".yml"):
        message = (
            f"'{path.name}' is no YAML launch file; only those can be run without ROS's launch"
        )
        raise LaunchError(None, message)
    return path


def _of_package(package: str, name: str, environment: Mapping[str, str]) -> Path:
    """Return the launch file of a package."""
    try:
        return packages.share_file(package, name, environment)
    except packages.LookupFailure as error:
        raise LaunchError(None, str(error)) from None


def _shipped(path: Path, environment: Mapping[str, str]) -> Path:
    """Return the shipped launch file of this name, with or without its ending."""
    name = path.name if path.suffix else f"{path.name}{ENDING}"
    known: list[str] = []
    with suppress(packages.LookupFailure):
        known = packages.launch_files(SHIPPED, environment)
    if name in known and path.name == str(path):
        return _of_package(SHIPPED, name, environment)
    short = name.removesuffix(ENDING)
    if name in known:
        hint = f"; say {short} for the one that is installed"
    else:
        names = [each.removesuffix(ENDING) for each in known]
        hint = suggestion(short, names) or f"; installed are: {', '.join(names) or 'none'}"
    raise LaunchError(None, f"launch file '{path}' does not exist{hint}")


def describe_arguments(path: Path) -> str:
    """Return the arguments of a launch file, with default, choices and meaning, as text."""
    arguments = declared_arguments(load_actions(Path(os.path.abspath(path))))
    if not arguments:
        return "This launch file takes no arguments.\n"
    lines = ["Arguments (give them as name:=value):"]
    for argument in arguments:
        default = "required" if argument.default is None else f"default: {argument.default!r}"
        mark = " (depends on a condition)" if argument.is_conditional else ""
        lines.append(f"\n  {argument.name}  [{default}]{mark}")
        if argument.choices:
            lines.append(f"      one of: {', '.join(argument.choices)}")
        lines += textwrap.wrap(
            argument.description, width=94, initial_indent="      ", subsequent_indent="      "
        )
    return "\n".join(lines) + "\n"
