# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of one run, and the versions and files that its results depend on."""

import hashlib
import pkgutil
import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable

_LONGEST_NAME = 200
"""Of the 255 bytes of a file system, without time and number."""
_LIBRARIES = ("numpy", "scipy", "numba", "opencv-contrib-python-headless", "evo", "open3d-cpu")
OURS = "aerotwin_"
_VERSIONED = "aerotwin_simulator"  # its version is that of all our packages
_MISSING = "not installed"


def check_run_name(name: str) -> None:
    """Raise `UserError` if the name is not valid in a folder's name."""
    if not name.isprintable() or "/" in name or len(name.encode()) > _LONGEST_NAME:
        raise UserError(
            f"name: expected a part of a folder's name, without / and control characters and of "
            f"{_LONGEST_NAME} bytes at most, found {printable(name, _LONGEST_NAME)!r}"
        )


def make_run_folder(runs: Path, name: str) -> Path:
    """Make and return `runs/<time>-<name>`; a second run in the same second gets a number.

    Raises `UserError` if the name is not valid in a folder's name, or the folder cannot be made.
    """
    check_run_name(name)
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


def named_files(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of every file that a mapping names, at any depth, by its name there.

    `campus` is no file; `my_world.yaml` or a preset of one's own is.
    """
    found: dict[str, str] = {}
    for text in sorted(set(_texts(values))):
        path = Path(text)
        with suppress(OSError, ValueError):  # cannot be read; too long, or with a null character
            if path.is_file():
                with path.open("rb") as file:
                    found[text] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def software_versions() -> dict[str, str]:
    """Return what repeats a run: Python, machine, aerotwin, and libraries, also missing ones."""
    return _machine() | {name: _version(name) for name in (_VERSIONED, *_LIBRARIES)}


@cache
def packages_digest(only: tuple[str, ...] = ()) -> str:
    """Return the SHA-256 of all files of aerotwin's packages that are installed, by their names.

    If `only` has names, it is of these packages alone.
    """
    digest = hashlib.sha256()
    found = [each.name for each in pkgutil.iter_modules() if each.ispkg]
    for name in sorted(only or {name for name in found if name.startswith(OURS)}):
        spec = find_spec(name)
        assert spec is not None and spec.submodule_search_locations
        folder = Path(spec.submodule_search_locations[0])
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{name}/{path.relative_to(folder)} {content}\n".encode())
    return digest.hexdigest()


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
