# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files and folders that are complete or absent, whatever happens while they are written."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from aerotwin_core.errors import UserError

_UNFINISHED: set[Path] = set()


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing under a temporary name; rename it at the end, or remove it.

    What a link leads to is written, not the link. A device or a pipe, such as /dev/null, is written
    to as it is: a rename would replace it for all programs.

    Raises `UserError` if it cannot be written.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if _is_device(path):
            with _opened_device(path) as file:
                yield file
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        _UNFINISHED.add(temporary)
        with temporary.open("wb") as file:
            yield file
        os.replace(temporary, target)
    except OSError as error:
        reason, way_out = error.strerror or str(error), "free space or name another place"
        raise UserError(f"{path}: cannot be written ({reason}); {way_out}") from error
    finally:
        with suppress(OSError):  # it was renamed, or never there
            temporary.unlink()
        _UNFINISHED.discard(temporary)


def _is_device(path: Path) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:  # not there yet
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _opened_device(path: Path) -> BinaryIO:
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)  # a pipe that nobody reads is an error
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "wb")


@contextmanager
def atomic_folder(path: Path, *, replaces: Callable[[Path], bool] | None = None) -> Iterator[Path]:
    """Yield a folder of the same name to be filled; move it to its path at the end, or remove it.

    `replaces` tells whether an existing folder may be replaced; without it none may.

    Raises `UserError` if the path exists and may not be replaced, or it cannot be written.
    """
    if path.exists() or path.is_symlink():
        if replaces is None:
            raise UserError(f"{path}: exists already; name another folder or remove it")
        if not (path.is_dir() and not path.is_symlink() and replaces(path)):
            raise UserError(f"{path}: exists and is not what would be written; name another folder")
    path = path.resolve()
    shelter = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _UNFINISHED.add(shelter)
        inside = shelter / path.name
        inside.mkdir(parents=True)
        yield inside
        if path.exists():
            os.replace(path, shelter / f"{path.name}.old")
        os.replace(inside, path)
    except OSError as error:
        reason, way_out = error.strerror or str(error), "free space or name another place"
        raise UserError(f"{path}: cannot be written ({reason}); {way_out}") from error
    finally:
        shutil.rmtree(shelter, ignore_errors=True)
        _UNFINISHED.discard(shelter)


def discard_unfinished() -> None:
    """Remove files and folders that are being written: the process ends immediately."""
    for temporary in [*_UNFINISHED]:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        with suppress(OSError):
            temporary.unlink()
