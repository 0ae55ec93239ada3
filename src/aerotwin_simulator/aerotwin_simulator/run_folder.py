# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of one run, and the configuration that repeats it."""

import platform
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_core.parameters import read_yaml
from aerotwin_simulator.sensor_setup import Setup
from aerotwin_worlds import World

_LONGEST_NAME = 200
"""Of the 255 bytes of a file system, without time and number."""
_VERSIONS_OF = ("numpy", "scipy", "numba", "open3d-cpu", "opencv-contrib-python-headless", "evo")


def make_run_folder(runs: Path, name: str) -> Path:
    """Make and return `runs/<time>-<name>`; a second run in the same second gets a number.

    Raises
    ------
    UserError
        If the name is no part of a folder's name, or the folder cannot be made.
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


def run_configuration(parameters: dict[str, Any], world: World) -> str:
    """Return the YAML text that repeats a run: every parameter, the place and the versions."""
    mission, fleet = parameters.get("mission", "none"), parameters.get("fleet", "none")
    content = {
        "parameters": parameters,
        "mission": None if mission == "none" else read_yaml(mission),
        "fleet": None if fleet == "none" else read_yaml(fleet),
        "world": {
            **world.credits,
            "missing": list(world.missing),
            "origin": {
                "latitude_deg": world.origin.latitude_deg,
                "longitude_deg": world.origin.longitude_deg,
                "altitude_m": world.origin.altitude_m,
            },
        },
        "versions": software_versions(),
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def add_sensors(folder: Path, setups: Mapping[str, Setup]) -> None:
    """Add the sensors of vehicles by name to the configuration in a run folder, if there is one.

    A single vehicle has no name: its sensors stand below `sensors` themselves.
    """
    path = folder / "config.yaml"
    if path.is_file():
        content = read_yaml(path)
        content["sensors"] = setups.get("", dict(setups))
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        write_text_atomically(path, text)


def software_versions() -> dict[str, str]:
    """Return what the results depend on: Python, machine and library versions."""
    versions = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("aerotwin_simulator", *_VERSIONS_OF):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions
