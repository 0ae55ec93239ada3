# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration in the folder of a run, from which it can be repeated."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.parameters import read_yaml
from aerotwin_core.run_folder import software_versions
from aerotwin_simulator.sensor_setup import Setup
from aerotwin_worlds import World


def run_configuration(parameters: dict[str, Any], world: World) -> str:
    """Return the YAML text that repeats a run: every parameter, the world and the versions."""
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

    A single vehicle has no name: its sensors are directly below `sensors`.
    """
    path = folder / "config.yaml"
    if path.is_file():
        content = read_yaml(path)
        content["sensors"] = setups.get("", dict(setups))
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        write_text_atomically(path, text)
