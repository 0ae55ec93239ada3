# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits on the memory that reading one file may take, checked before it is allocated.

A few kilobytes may claim, unpack to or expand to far more memory than a machine has. Readers
estimate the size from headers and call `check_memory` first. Large files may take memory in
proportion to their size. The environment variable `AEROTWIN_MAX_MEMORY_MB` raises the limit.
"""

import os
import stat
from functools import cache
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import whole_number

VARIABLE = "AEROTWIN_MAX_MEMORY_MB"
DEFAULT_MB = 900
"""With what the estimates leave out, reading stays below 1 GB."""
TIMES_FILE = 16
"""A file of float32 points takes 8 times its size: once read, as float64, checked and copied."""
_TO_FILE = "write what it gives to a file first, and name that"
_NO_FILES = (
    (stat.S_ISCHR, "a device", "give the path of a file"),
    (stat.S_ISBLK, "a device", "give the path of a file"),
    (stat.S_ISFIFO, "a pipe", _TO_FILE),
    (stat.S_ISSOCK, "a socket", _TO_FILE),
)


def memory_limit(file_bytes: int = 0) -> int:
    """Return how many bytes of memory a file of a size may take.

    Raises `UserError` if the environment variable is no whole number of megabytes.
    """
    text = os.environ.get(VARIABLE, str(DEFAULT_MB))
    limit_mb = whole_number(text.strip())
    if not limit_mb:
        raise UserError(f"{VARIABLE}: expected a number of megabytes, found '{text[:40]}'")
    return max(limit_mb * 1_000_000, TIMES_FILE * file_bytes)


def check_memory(n_bytes: int, *, file_bytes: int = 0, where: object, what: str) -> None:
    """Refuse to allocate more memory than a file may take.

    `n_bytes` is the estimated peak, `file_bytes` the size of the file on disk [bytes]. The message
    names the file, `where`, and what takes the memory, `what`, a plural.

    Raises `UserError` if the estimate is above `memory_limit`.
    """
    limit = memory_limit(file_bytes)
    if n_bytes > limit:
        needed_mb = -(-n_bytes // 1_000_000)
        raise UserError(
            f"{where}: {what} would take {needed_mb} MB of memory, at most {limit // 1_000_000} MB "
            f"are allowed for a file of this size; if you trust it, set {VARIABLE}={needed_mb}"
        )


def file_size(path: str | Path) -> int:
    """Return the size of a file [bytes], to be checked before it is opened.

    Raises `UserError` as `check_is_file`. Raises `OSError` if there is no such file.
    """
    status = os.stat(path)
    _check_mode(path, status.st_mode)
    return status.st_size


def check_is_file(path: str | Path, *, is_read_once: bool = False) -> None:
    """Refuse a device, a pipe or a socket; a folder or a missing file is for the caller to refuse.

    They have no size. Opening a pipe without a writer, or reading a device, may never end.
    With `is_read_once`, the file is opened once and read from start to end, or to a limit: the
    shell's ``<(command)`` is accepted, an unnamed pipe, which opens at once.

    Raises `UserError` if it is one of them.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # a name with a zero byte
        return
    if not (is_read_once and stat.S_ISFIFO(status.st_mode) and status.st_dev == _pipe_device()):
        _check_mode(path, status.st_mode)


def _check_mode(path: str | Path, mode: int) -> None:
    for is_kind, kind, way_out in _NO_FILES:
        if is_kind(mode):
            raise UserError(f"{path}: expected a file, found {kind}; {way_out}")


@cache
def _pipe_device() -> int:
    """Return the device number that all unnamed pipes have."""
    ends = os.pipe()
    try:
        return os.fstat(ends[0]).st_dev
    finally:
        for end in ends:
            os.close(end)
