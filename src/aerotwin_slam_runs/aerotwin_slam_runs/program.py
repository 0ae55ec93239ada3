# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A program in a folder of its own: started, measured, ended in time, its output in a log."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.foreign_text import printable
from aerotwin_trajectory_evaluation.measured_program import MeasuredProgram
from aerotwin_trajectory_evaluation.resources import ResourceRecorder, ResourceUsage

PATIENCE_S = 5.0
"""From SIGTERM to SIGKILL."""
_LOOK_S, _FOLDER_LOOK_S = 0.1, 1.0
_MARK = "AEROTWIN_SLAM_RUN"
_LAST_LINES, _LAST_BYTES = 12, 4096
LARGEST_LOG_BYTES = 64 * 2**20
"""Of a log; of a longer one as much is kept, half from its begin and half from its end."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProgramEnd:
    """How a program ended: "" in `problem` where nothing is to be said of it.

    `has_failed`: it did not end by itself with code 0.
    """

    code: int | None
    has_failed: bool
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
    largest_output_bytes: float,
    on_wait: Callable[[float], None],
) -> ProgramEnd:
    """Run a program in a folder until it ends, or its time or the space of the folder is used up.

    It has no input, and its output goes into `log`. `on_wait` is called with the wall time so far
    [s]. Its environment is `environment` over that of this process, of which a program made by
    others gets what the user's shell has (`callers_environment`). Nothing that it started outlives
    the call, or a caller that is killed.

    Raises `UserError` if it cannot be started.
    """
    begin = time.monotonic()
    problem, next_look_s = "", 0.0
    with log.open("wb") as output:
        program = MeasuredProgram(
            command, mark=_MARK, patience_s=PATIENCE_S, cwd=folder,
            env={**callers_environment(command[0], os.environ), **environment},
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        with program, ResourceRecorder(pid=program.popen.pid) as recorder:
            while program.popen.poll() is None and not problem:
                time.sleep(_LOOK_S)
                wall_s = time.monotonic() - begin
                on_wait(wall_s)
                if wall_s > timeout_s:
                    problem = f"it had not ended after {timeout_s:g} s and was ended"
                elif log.stat().st_size > LARGEST_LOG_BYTES:
                    problem = f"it was ended: its log is above {LARGEST_LOG_BYTES >> 20} MB"
                elif wall_s > next_look_s:
                    used = _bytes_below(folder)
                    next_look_s = wall_s + _FOLDER_LOOK_S
                    if used > largest_output_bytes:
                        limit = largest_output_bytes / 1e9
                        problem = (
                            f"it was ended: its files are above {limit:g} GB (output_limit_gb)"
                        )
    shorten(log)
    code = program.popen.returncode
    if not problem and code != 0:
        problem = f"it ended with {_words(code)}"
    has_failed = bool(problem)
    if not problem and program.n_left:
        problem = "it left processes running, which were ended"
    return ProgramEnd(
        code=code,
        has_failed=has_failed,
        wall_s=time.monotonic() - begin,
        usage=recorder.usage,
        problem=problem,
        log=log,
    )


def callers_environment(program: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program without what this workspace has added.

    A Python of its own would import the packages of this workspace, and a C++ program load the
    libraries of its ROS wheels. What lies in the virtual environment of this Python gets all.
    """
    found, kept = shutil.which(program, path=environment.get("PATH")), dict(environment)
    if found is None or _is_in_own_environment(found):
        return kept
    for name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH"):
        entries = [entry for entry in environment.get(name, "").split(os.pathsep) if entry]
        left = [entry for entry in entries if not _is_in_own_environment(entry)]
        if name == "PYTHONPATH":
            left = [entry for entry in left if not any(Path(entry).glob("aerotwin_*"))]
        if left != entries:
            kept[name] = os.pathsep.join(left)
            if not left:
                del kept[name]
    kept.pop("_ROS_WHEELS_BOOTSTRAP_COMPLETE", None)  # those wheels are not on its path
    if _is_in_own_environment(kept.get("VIRTUAL_ENV", "/")):
        del kept["VIRTUAL_ENV"]
    return kept


def _is_in_own_environment(path: str) -> bool:
    """Return whether a path lies in the virtual environment of this Python, if it runs in one."""
    is_virtual = sys.prefix != sys.base_prefix
    return is_virtual and Path(path).absolute().is_relative_to(sys.prefix)


def _bytes_below(folder: Path) -> int:
    """Return what the files below a folder take on the disk; links are not followed."""
    total, folders = 0, [os.fspath(folder)]
    while folders:  # os.walk calls itself: folders may be nested deeper than Python's stack
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                    continue
                with suppress(OSError):  # it was removed meanwhile
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


def shorten(log: Path) -> None:
    """Leave out the middle of a log that grew too long between two looks."""
    half = LARGEST_LOG_BYTES // 2
    with log.open("rb+") as file:
        n_left_out = os.fstat(file.fileno()).st_size - 2 * half
        if n_left_out <= 0:
            return
        file.seek(-half, os.SEEK_END)
        end = file.read(half)
        file.seek(half)
        file.write(f"\n[{n_left_out / 2**20:.1f} MB were left out here]\n".encode() + end)
        file.truncate()


def last_lines(log: Path) -> str:
    """Return the end of a log, as it may be shown in a terminal."""
    with log.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
        text = file.read().decode("utf-8", errors="replace")
    return "\n".join(printable(line) for line in text.splitlines()[-_LAST_LINES:])


def _words(code: int) -> str:
    return f"code {code}" if code >= 0 else f"signal {-code}"
