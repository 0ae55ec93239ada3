# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories as text, one pose a line: `seconds x y z qx qy qz qw`, # begins a comment.

The format of the TUM RGB-D benchmark (Sturm et al. 2012).
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.text_lines import text_lines
from aerotwin_core.trajectory import Trajectory

MAX_POSES = 10_000_000
_COLUMNS = 8
_MAX_BYTES = 256 * MAX_POSES


def read_tum(path: str | Path) -> Trajectory:
    """Return the trajectory of a file.

    Raises
    ------
    UserError
        If it cannot be read, or a line of it; the message names it.
    """
    rows, stamps = [], []
    for number, line in enumerate(_lines(path), start=1):
        tokens = line.split()
        if not tokens or tokens[0].startswith("#"):
            continue
        try:
            if len(tokens) != _COLUMNS:
                raise ValueError(f"{_COLUMNS} numbers expected, {len(tokens)} are there")
            rows.append([float(token) for token in tokens[1:]])
            stamps.append(seconds_to_ns(tokens[0]))
        except (ValueError, OverflowError) as error:
            raise UserError(f"{path}:{number}: no line of a TUM trajectory ({error})") from None
    if not 0 < len(rows) <= MAX_POSES:
        raise UserError(f"{path}: a trajectory has 1 to {MAX_POSES} poses, got {len(rows)}")
    table = np.array(rows)
    try:
        return Trajectory(np.array(stamps), table[:, :3], table[:, 3:])
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None


def seconds_to_ns(text: str) -> int:
    """Return a time in seconds as integer nanoseconds, without the rounding of a double."""
    whole, _, part = text.partition(".")
    if whole.lstrip("-").isdigit() and (part.isdigit() or not part):
        sign = -1 if whole.startswith("-") else 1
        return int(whole) * 1_000_000_000 + sign * int((part + "0" * 9)[:9])
    return round(float(text) * 1e9)


def _lines(path: str | Path) -> Iterator[str]:
    try:
        yield from text_lines(path, max_bytes=_MAX_BYTES)
    except OSError as error:
        raise UserError(
            f"{path}: cannot be read ({error.strerror}); give a file with lines "
            "`seconds x y z qx qy qz qw`"
        ) from None
