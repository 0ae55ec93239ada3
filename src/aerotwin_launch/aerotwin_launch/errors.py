# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors in a launch file: always with the file and the line."""

import difflib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import UserError


@dataclass(frozen=True, kw_only=True)
class FileLine:
    """A line of a launch file."""

    path: Path
    line: int

    def __str__(self) -> str:
        """Return `file:line`, the file relative to the working folder when it lies below it."""
        path = os.path.relpath(self.path)
        return f"{self.path if path.startswith('..') else path}:{self.line}"


class LaunchError(UserError):
    """A launch file or a launch argument is invalid; nothing was started."""

    def __init__(self, place: FileLine | None, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place


def suggestion(token: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for a likely typing error, else ""."""
    near = difflib.get_close_matches(token, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""
