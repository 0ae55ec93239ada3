# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths of installed packages and their executables, by the ament index.

A prefix of `AMENT_PREFIX_PATH` holds a package if it has the marker file
`share/ament_index/resource_index/packages/<package>`; the first prefix wins.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from aerotwin_launch.errors import suggestion

MARKERS = Path("share/ament_index/resource_index/packages")


class LookupFailure(Exception):
    """A package or an executable is not installed; the message says what to do."""


def package_prefix(package: str, environment: Mapping[str, str]) -> Path:
    """Return the prefix under which a package is installed."""
    prefixes = _prefixes(environment)
    if not prefixes:
        raise LookupFailure(
            f"package '{package}': AMENT_PREFIX_PATH is not set; source install/setup.bash first"
        )
    for prefix in prefixes:
        if package and (prefix / MARKERS / package).is_file():
            return prefix
    known = [entry.name for prefix in prefixes for entry in _entries(prefix / MARKERS)]
    raise LookupFailure(
        f"package '{package}' is not installed under any prefix of AMENT_PREFIX_PATH"
        f"{suggestion(package, known) or '; build it and source install/setup.bash'}"
    )


def package_share(package: str, environment: Mapping[str, str]) -> Path:
    """Return the share folder of a package."""
    return package_prefix(package, environment) / "share" / package


def package_executable(package: str, executable: str, environment: Mapping[str, str]) -> str:
    """Return the path of an executable that a package installs in `lib/<package>`."""
    folder = package_prefix(package, environment) / "lib" / package
    path = shutil.which(executable, path=str(folder))
    if path is not None:
        return path
    if (folder / executable).is_file():
        raise LookupFailure(f"{folder / executable} is not executable; do chmod +x")
    known = [entry.name for entry in _entries(folder)]
    raise LookupFailure(
        f"package '{package}' has no executable '{executable}' in {folder}"
        f"{suggestion(executable, known) or '; it has: ' + (', '.join(sorted(known)) or 'none')}"
    )


def share_file(package: str, name: str, environment: Mapping[str, str]) -> Path:
    """Return the only file of a name below a package's share folder, as `ros2 launch` does."""
    share = package_share(package, environment)
    found = [
        Path(folder) / name
        for folder, _, names in os.walk(share, followlinks=True)
        if name in names
    ]
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(str(path) for path in found)
        raise LookupFailure(f"'{name}' stands more than once in package '{package}': {places}")
    known = launch_files(package, environment)
    hint = suggestion(name, known) or f"; it has: {', '.join(known) or 'none'}"
    raise LookupFailure(f"package '{package}' has no file '{name}' in {share}{hint}")


def launch_files(package: str, environment: Mapping[str, str]) -> list[str]:
    """Return the names of the launch files below a package's share folder."""
    share = package_share(package, environment)
    return sorted(
        name
        for _, _, names in os.walk(share, followlinks=True)
        for name in names
        if name.endswith((".launch.yaml", ".launch.yml"))
    )


def _prefixes(environment: Mapping[str, str]) -> list[Path]:
    return [
        Path(item) for item in environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if item
    ]


def _entries(folder: Path) -> list[os.DirEntry]:
    try:
        return list(os.scandir(folder))
    except OSError:
        return []
