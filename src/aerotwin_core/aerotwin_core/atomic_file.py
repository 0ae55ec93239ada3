# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that are complete or absent, whatever happens while they are written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from aerotwin_core.errors import UserError

_UNFINISHED: set[Path] = set()


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing under a temporary name; rename it at the end, or remove it.

    Raises `UserError` if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _UNFINISHED.add(temporary)
        with temporary.open("wb") as file:
            yield file
        os.replace(temporary, path)
    except OSError as error:
        reason, way_out = error.strerror or str(error), "free space or name another place"
        raise UserError(f"{path}: cannot be written ({reason}); {way_out}") from error
    finally:
        with suppress(OSError):  # it was renamed, or never there
            temporary.unlink()
        _UNFINISHED.discard(temporary)


def discard_unfinished() -> None:
    """Remove files that are being written: the process ends immediately."""
    for temporary in [*_UNFINISHED]:
        with suppress(OSError):
            temporary.unlink()
