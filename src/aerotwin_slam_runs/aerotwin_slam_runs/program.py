# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A program in a folder of its own: started, measured, ended in time, its output in a log."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_trajectory_evaluation.process_tree import end_tree
from aerotwin_trajectory_evaluation.resources import ResourceRecorder, ResourceUsage

PATIENCE_S = 5.0
"""From SIGTERM to SIGKILL."""
_LOOK_S = 0.1
_LAST_LINES, _LAST_BYTES = 12, 4096
LARGEST_LOG_BYTES = 64 * 2**20


@dataclass(frozen=True, kw_only=True, eq=False)
class ProgramEnd:
    """How a program ended: "" in `problem` where it ended by itself with code 0."""

    code: int | None
    wall_s: float
    usage: ResourceUsage
    problem: str
    log: Path


def run_program(
    command: Sequence[str],
    folder: Path,
    log: Path,
    *,
    environment: Mapping[str, str],
    timeout_s: float,
    on_wait: Callable[[float], None],
) -> ProgramEnd:
    """Run a program in a folder until it ends or its time is over.

    It has no input, and its output goes into `log`. `on_wait` is called with the wall time so far
    [s]. Whatever ends the caller ends the program and what it started.

    Raises `UserError` if it cannot be started.
    """
    begin = time.monotonic()
    with log.open("wb") as output:
        try:
            child = subprocess.Popen(
                command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise UserError(f"{command[0]}: cannot be started ({error.strerror})") from error
    problem = ""
    recorder = ResourceRecorder(pid=child.pid)
    try:
        with recorder:
            while child.poll() is None and not problem:
                time.sleep(_LOOK_S)
                wall_s = time.monotonic() - begin
                on_wait(wall_s)
                if wall_s > timeout_s:
                    problem = f"it had not ended after {timeout_s:g} s and was ended"
                elif log.stat().st_size > LARGEST_LOG_BYTES:
                    problem = f"it was ended: its output is above {LARGEST_LOG_BYTES >> 20} MB"
    finally:
        if child.poll() is None:
            end_tree(child.pid, patience_s=PATIENCE_S)
        child.wait()
    if not problem and child.returncode != 0:
        problem = f"it ended with {_words(child.returncode)}"
    return ProgramEnd(
        code=child.returncode,
        wall_s=time.monotonic() - begin,
        usage=recorder.usage,
        problem=problem,
        log=log,
    )


def last_lines(log: Path) -> str:
    """Return the end of a log, as it may be shown in a terminal."""
    with log.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
        text = file.read().decode("utf-8", errors="replace")
    return "\n".join(printable(line) for line in text.splitlines()[-_LAST_LINES:])


def _words(code: int) -> str:
    return f"code {code}" if code >= 0 else f"signal {-code}"
