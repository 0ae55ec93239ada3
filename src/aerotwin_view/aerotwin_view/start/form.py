# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The form, from what launch files declare; and the command that its values mean."""

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed, printable, shown
from aerotwin_launch import expand_launch_file
from aerotwin_launch.arguments import SEPARATOR
from aerotwin_launch.errors import suggestion
from aerotwin_launch.plan import Argument
from aerotwin_launch.shipped import ShippedLaunchFile, shipped_launch_files

VIEW, VIEW_PORT, RUNS_DIR = "view", "view_port", "runs_dir"
OF_THE_PAGE = (VIEW, VIEW_PORT, RUNS_DIR)
"""Arguments that the page sets itself."""
WORLD = "world"
FIRST = "sitl_flight"
"""The launch file that is chosen at first."""
START = ("start_east_m", "start_north_m", "start_turn_deg")
"""Where vehicles start, from the world's start: chosen on a map, too."""
OPEN_GROUPS = {
    "World": (WORLD,),
    "Start": START,
    "Vehicle": ("airframe", "vehicle", "autopilot", "vehicles", "instances"),
    "Sensors and SLAM": ("camera", "lidar", "gnss", "slam"),
    "Wind": ("wind_east_m_s", "wind_north_m_s", "wind_turbulence_m_s"),
    "Run": ("seed", "duration_s", "speed", "name"),
}
"""What most people set, in the order of the form; all else is below "More"."""
REQUIRED, MORE = "Needed", "More arguments"
MOST_LETTERS = 1000
_FLAGS = ("true", "false")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_PRESET = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_SEPARATORS = re.compile(r"[,;]|:\s| or | = ")
_WORDS = {"empty", "none", *_FLAGS}


@dataclass(frozen=True, kw_only=True)
class FormField:
    """One argument as a control of the form."""

    name: str
    kind: str  # world, choice, flag, suggested, number, text
    default: str | None  # None if it must be given
    is_computed: bool  # its default is worked out when the launch file runs
    shown_default: str  # what that is at present; empty if it follows from other arguments
    follows: tuple[str, ...]  # these arguments
    options: tuple[str, ...]
    description: str


def fields_of(file: ShippedLaunchFile) -> dict[str, FormField]:
    """Return the fields of a launch file by name: all arguments that the page does not set."""
    return {
        argument.name: _field(argument, file)
        for argument in file.arguments
        if argument.name not in OF_THE_PAGE
    }


def _field(argument: Argument, file: ShippedLaunchFile) -> FormField:
    default = argument.default
    is_computed = default is not None and "$(" in default
    follows = file.followed.get(argument.name, ())
    options = argument.choices or suggestions(argument.description, default)
    if argument.name == WORLD:
        kind = "world"
    elif argument.choices:
        kind = "choice"
    elif default in _FLAGS:
        kind = "flag"
    elif default is not None and _NUMBER.fullmatch(default):
        kind = "number"
    else:
        kind = "suggested" if options else "text"
    return FormField(
        name=argument.name,
        kind=kind,
        default=default,
        is_computed=is_computed,
        shown_default=_shown_default(file.default_values.get(argument.name, ""), follows),
        follows=follows,
        options=options if kind in ("choice", "suggested") else (),
        description=argument.description,
    )


def _shown_default(value: str, follows: tuple[str, ...]) -> str:
    """Return a default as a person reads it: a path without detours."""
    return "" if follows else os.path.normpath(value) if "/" in value else value


def suggestions(description: str, default: str | None) -> tuple[str, ...]:
    """Return the values that a description lists, with the default first; none if it lists none.

    >>> suggestions("lidar preset: spinning_16, navtech, or path of a file; none = none", "none")
    ('none', 'spinning_16', 'navtech')
    >>> suggestions("who flies: embedded, px4, python:module:Class", "embedded")
    ('embedded', 'px4')
    """
    if not default or not _PRESET.fullmatch(default):
        return ()
    parts = [part.partition(" (")[0].strip() for part in _SEPARATORS.split(description)]
    found = [part for part in parts if _PRESET.fullmatch(part) and part not in _WORDS]
    return tuple(dict.fromkeys([default, *found])) if found else ()


def groups_of(fields: Mapping[str, FormField]) -> dict[str, list[FormField]]:
    """Return the fields of each group of the form, in its order; the last one is closed at first.

    A field without a default, which must be given, is never below "More".
    """
    groups = {
        title: [fields[name] for name in names if name in fields]
        for title, names in OPEN_GROUPS.items()
    }
    shown = {name for names in OPEN_GROUPS.values() for name in names}
    rest = [field for name, field in fields.items() if name not in shown]
    needed = [field for field in rest if field.default is None]
    others = [field for field in rest if field.default is not None]
    found = {REQUIRED: needed, **groups, MORE: others}
    return {title: members for title, members in found.items() if members}


class StartForm:
    """The launch files that can be started with a view, and their commands.

    `runs` is the folder in which runs are made and looked for.
    """

    def __init__(self, runs: Path) -> None:
        found = shipped_launch_files(os.environ, declaring=(WORLD, VIEW, VIEW_PORT))
        self.files = {
            file.name: file for file in sorted(found, key=lambda file: file.name != FIRST)
        }
        self._runs = runs

    def known_launch(self, launch: Any) -> dict[str, Any] | None:
        """Return a launch of a past run with what has a field here; None if it has no form."""
        if launch is None or launch["scenario"] not in self.files:
            return None
        fields = fields_of(self.files[launch["scenario"]])
        values = {name: value for name, value in launch["values"].items() if name in fields}
        return {"scenario": launch["scenario"], "values": values}

    def arguments(self, name: Any, values: Any) -> tuple[str, list[str]]:
        """Return the launch file of this name and `name:=value` of each value that differs.

        Raises
        ------
        UserError
            If there is no such launch file, or it refuses a name or a value.
        """
        if not isinstance(name, str) or name not in self.files:
            raise UserError(
                f"scenario: expected one of {', '.join(self.files)}, "
                f"found {shown(name)}; choose one"
            )
        file, fields = self.files[name], fields_of(self.files[name])
        changed = changed_values(fields, values)
        missing = [each for each in fields if fields[each].default is None and each not in changed]
        if missing:
            raise UserError(f"{', '.join(missing)}: no default; give a value above to start")
        own = {argument.name: argument.default for argument in file.arguments}
        if own.get(RUNS_DIR, str(self._runs)) != str(self._runs):
            changed[RUNS_DIR] = str(self._runs)
        expand_launch_file(file.path, changed, os.environ)
        return name, [f"{key}{SEPARATOR}{value}" for key, value in changed.items()]


def changed_values(fields: Mapping[str, FormField], values: Any) -> dict[str, str]:
    """Return the values that differ from the defaults, in the order of the declarations.

    An empty text means the default, as a launch argument cannot be empty.

    Raises
    ------
    UserError
        If the values are no mapping of short texts, or one has an unknown name.
    """
    if not isinstance(values, dict):
        raise UserError(f"values: expected names with values, found {type(values).__name__}")
    for name, value in values.items():
        if name not in fields:
            raise UserError(
                f"argument '{printable(name, 60)}': expected one of {listed(fields, 60)}, "
                f"found another{suggestion(name, fields)}; correct it"
            )
        if not isinstance(value, str) or len(value) > MOST_LETTERS or not value.isprintable():
            raise UserError(
                f"{name}: expected a text of at most {MOST_LETTERS} letters without control "
                f"characters, found {shown(value)}; shorten it"
            )
    stripped = {name: values[name].strip() for name in fields if name in values}
    return {
        name: value
        for name, value in stripped.items()
        if value and not _is_same(value, fields[name].default)
    }


def _is_same(value: str, default: str | None) -> bool:
    """Return whether a value is the default, or the same number written otherwise."""
    are_numbers = all(_NUMBER.fullmatch(text) for text in (value, default or ""))
    return value == default or (are_numbers and float(value) == float(default or ""))


def shown_line(name: str, arguments: list[str]) -> str:
    """Return the command, which shows a view, as a line for a shell."""
    return shlex.join(["aerotwin", "launch", name, *arguments, f"{VIEW}{SEPARATOR}true"])
