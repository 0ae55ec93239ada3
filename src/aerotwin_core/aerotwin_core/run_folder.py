# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of one run, and the versions that its results depend on."""

import platform
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable

_LONGEST_NAME = 200
"""Of the 255 bytes of a file system, without time and number."""
_LIBRARIES = ("numpy", "scipy", "numba", "opencv-contrib-python-headless", "evo", "open3d-cpu")
_OURS = "aerotwin_simulator"  # its version is that of all our packages
_MISSING = "not installed"


def make_run_folder(runs: Path, name: str) -> Path:
    """Make and return `runs/<time>-<name>`; a second run in the same second gets a number.

    Raises `UserError` if the name is not valid in a folder's name, or the folder cannot be made.
    """
    if not name.isprintable() or "/" in name or len(name.encode()) > _LONGEST_NAME:
        raise UserError(
            f"name: expected a part of a folder's name, without / and control characters and of "
            f"{_LONGEST_NAME} bytes at most, found {printable(name, _LONGEST_NAME)!r}"
        )
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{name}"
    for attempt in range(100):
        folder = runs / (stem if attempt == 0 else f"{stem}-{attempt}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(
                f"runs_dir: {folder} cannot be made ({error.strerror}); name a folder you may write"
            ) from error
    raise UserError(f"runs_dir: {runs} has a hundred runs of this second; wait or choose a name")


def software_versions() -> dict[str, str]:
    """Return what repeats a run: Python, machine, aerotwin, and libraries, also missing ones."""
    return _machine() | {name: _version(name) for name in (_OURS, *_LIBRARIES)}


def library_versions() -> dict[str, str]:
    """Return Python, machine and the libraries that compute the numbers, where installed."""
    found = {name: _version(name) for name in _LIBRARIES}
    return _machine() | {name: text for name, text in found.items() if text != _MISSING}


def _machine() -> dict[str, str]:
    return {"python": platform.python_version(), "machine": platform.machine()}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return _MISSING
