# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that arguments name: what does not exist is refused at its field, before anything runs."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_core.home_path import expanded
from aerotwin_launch.plan import Argument
from aerotwin_view.start.form import WORLD
from aerotwin_worlds.loading import find_world

_INPUT = re.compile(r"\b(file|tree)\b", re.IGNORECASE)
_OUTPUT = re.compile(r"must not exist|to write")
_PRESET = re.compile(r"\bpreset\b")
_MOST_LETTERS = 200
_EXPANDED = {"px4_dir", "ardupilot"}
"""Arguments whose reader knows `~`; to all others it is a letter, except to worlds."""


class FieldError(UserError):
    """The value of one field is refused."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def names_a_file(argument: Argument) -> bool:
    """Return whether the value of an argument is the path of something that must exist.

    Launch files declare texts only; what they are is in their descriptions.
    """
    text = argument.description
    return _INPUT.search(text) is not None and _OUTPUT.search(text) is None


def check_named_files(arguments: Iterable[Argument], values: Mapping[str, str]) -> None:
    """Check the values that differ from the defaults.

    Raises
    ------
    FieldError
        For the first one that names a world or a file that does not exist.
    """
    for argument in arguments:
        value = values.get(argument.name)
        if value is None:
            continue
        if argument.name == WORLD:
            _check_world(value)
        elif names_a_file(argument) and not _is_found(argument, value):
            raise FieldError(
                argument.name,
                f"{argument.name}: expected {argument.description}; found no file "
                f"'{printable(value, _MOST_LETTERS)}' (relative paths begin in {Path.cwd()})",
            )


def world_file(spec: str) -> Path:
    """Return the file of a world that may have a seed behind an @; UserError if there is none."""
    try:
        return find_world(spec)
    except ValueError as error:  # a null byte
        shown = printable(spec, _MOST_LETTERS)
        raise UserError(f"world '{shown}': no such file ({error}); name another") from None


def _check_world(value: str) -> None:
    try:
        world_file(value)
    except UserError as error:
        raise FieldError(WORLD, str(error)) from None


def _is_found(argument: Argument, value: str) -> bool:
    """Return whether a value is a path that exists, or a name that the description may mean."""
    if re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", argument.description):
        return True
    if _PRESET.search(argument.description) and re.fullmatch(r"\w+", value):
        return True  # of which the description lists the usual ones
    try:
        return (expanded(value) if argument.name in _EXPANDED else Path(value)).exists()
    except (OSError, ValueError, UserError):  # the last of ~nobody, who has no home
        return False
