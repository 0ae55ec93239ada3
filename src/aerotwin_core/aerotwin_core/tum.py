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
from aerotwin_core.time import stamp_of_text
from aerotwin_core.trajectory import Trajectory

MAX_POSES = 10_000_000
_COLUMNS = 8
_MAX_BYTES = 256 * MAX_POSES


def read_tum(path: str | Path) -> Trajectory:
    """Return the trajectory of a file.

    Raises `UserError` if the file or one of its lines cannot be read; the message names it.
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
            stamps.append(stamp_of_text(tokens[0]))
        except (ValueError, OverflowError) as error:
            raise UserError(f"{path}:{number}: no line of a TUM trajectory ({error})") from None
    if not 0 < len(rows) <= MAX_POSES:
        raise UserError(f"{path}: a trajectory has 1 to {MAX_POSES} poses, got {len(rows)}")
    table = np.array(rows)
    try:
        return Trajectory(np.array(stamps), table[:, :3], table[:, 3:])
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None


def write_tum(path: str | Path, trajectory: Trajectory) -> None:
    """Write a trajectory, atomically and exact to the nanosecond."""
    from aerotwin_core.cli import write_text_atomically

    lines = ["# stamp_s x_m y_m z_m qx qy qz qw"]
    for stamp, p, q in zip(trajectory.stamps_ns, trajectory.p_ref_body, trajectory.q_ref_body):
        lines.append(tum_line(int(stamp), p, q))
    write_text_atomically(Path(path), "\n".join(lines) + "\n")


def tum_line(stamp_ns: int, p: np.ndarray, q_xyzw: np.ndarray) -> str:
    """Return one pose as a line, without its end: nanoseconds, and nine decimals of the others."""
    numbers = " ".join(f"{value:.9f}" for value in (*p, *q_xyzw))
    return f"{stamp_ns // 10**9}.{stamp_ns % 10**9:09d} {numbers}"


def _lines(path: str | Path) -> Iterator[str]:
    try:
        yield from text_lines(path, max_bytes=_MAX_BYTES)
    except OSError as error:
        raise UserError(
            f"{path}: cannot be read ({error.strerror}); give a file with lines "
            "`seconds x y z qx qy qz qw`"
        ) from None
