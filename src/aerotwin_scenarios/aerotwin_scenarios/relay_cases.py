# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the relay manoeuvre, and the fleet file that flies one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters_file, parameter, to_mapping
from aerotwin_flight_control import FlightOptions, GeometricParameters, RelayController
from aerotwin_flight_control.relay import MIRROR_Y_M, RelayReference
from aerotwin_rendering import WorldQueries
from aerotwin_worlds import World

VEHICLES = ("first", "second")
CONTROLLER = f"python:aerotwin_flight_control:{RelayController.__name__}"
_RUN_UP_M = 1.0  # half of the run-up's 2 s at 1 m/s
_CLEARANCE_M = 0.7
_SPACING_M = 0.1


@dataclass(frozen=True, kw_only=True)
class RelayCase:
    """One relay to fly, and what it must reach."""

    name: str = parameter(text="key in metrics.json, folder in the run's")
    title: str = parameter(text="heading")
    text: str = parameter("", text="what is special about it")
    step_s: float = parameter(0.004, text="step of simulation and controller", unit="s")
    airframe: str = parameter(text="what flies: a name, or a file beside the file of cases")
    known_airframe: str = parameter(
        "", text="airframe that the controller assumes, as above; empty = the true one"
    )
    control: GeometricParameters = parameter(GeometricParameters(), text="gains and knowledge")
    max_rmse_m: float | None = parameter(
        None, text="position RMSE at most", unit="m", old_name="bar_rmse_m"
    )
    min_separation_m: float | None = parameter(
        None, text="separation at least", unit="m", old_name="bar_separation_m"
    )


@dataclass(frozen=True, kw_only=True)
class RelayCases:
    """A file of cases."""

    cases: tuple[RelayCase, ...] = parameter(text="what is flown, in order")

    def __post_init__(self) -> None:
        names = [case.name for case in self.cases]
        if not names or len(set(names)) < len(names):
            raise ParameterError(f"cases: expected one at least, of different names, found {names}")


def load_cases(path: str | Path) -> tuple[RelayCase, ...]:
    """Return the cases of a file; raises `ParameterError` as `load_parameters_file`."""
    return load_parameters_file(RelayCases, path).cases


def relay_origin(world: World, east_m: float, north_m: float) -> np.ndarray:
    """Return where x = y = z = 0 of eq. 17 lies in map (3,) [m].

    East and north of the world's start [m]; z is the highest ground below the relay.

    Raises `ParameterError` if the relay leaves the world or comes too near to its surface.
    """
    queries = WorldQueries(world)
    origin = world.start_p_map + np.array([east_m, north_m, 0.0])
    reach = RelayReference(origin).half_s + _RUN_UP_M
    x = origin[0] + np.arange(-reach, reach + _SPACING_M, _SPACING_M)
    y = origin[1] + np.arange(0.0, MIRROR_Y_M + _SPACING_M, _SPACING_M)
    ground = queries.height(*(axis.ravel() for axis in np.meshgrid(x, y)))
    if not np.isfinite(ground).all():
        raise ParameterError(
            f"origin_east_m, origin_north_m: the relay at ({origin[0]:.1f}, {origin[1]:.1f}) m "
            f"in map leaves the world {world.name}; choose another place"
        )
    origin[2] = float(np.max(ground))
    points = [
        RelayReference(origin, is_mirrored=mirrored).at(t).p_map
        for mirrored in (False, True)
        for t in np.arange(0.0, 10.0, _SPACING_M)
    ]
    nearest = float(queries.distance(np.array(points)).min())
    if nearest < _CLEARANCE_M:
        raise ParameterError(
            f"origin_east_m, origin_north_m: the relay at ({origin[0]:.1f}, {origin[1]:.1f}) m "
            f"in map comes within {nearest:.2f} m of the world's surface, {_CLEARANCE_M:g} m are "
            "needed; choose another place"
        )
    return origin


def write_fleet(
    case: RelayCase, folder: Path, *, cases_folder: Path, world: World, origin_map: np.ndarray
) -> Path:
    """Write the fleet file of a case, with its controllers' options, and return its path."""
    flight = FlightOptions(
        control=case.control, known_airframe=_beside(case.known_airframe, cases_folder)
    )
    start = origin_map - world.start_p_map
    entries = []
    for name, is_mirrored in zip(VEHICLES, (False, True)):
        options = {
            "origin_m": origin_map.tolist(),
            "is_mirrored": is_mirrored,
            "flight": to_mapping(flight),
        }
        path = folder / f"{name}.yaml"
        _write(path, options)
        half = RelayReference(origin_map).half_s
        entries.append(
            {
                "name": name,
                "start_east_m": float(start[0] - half - _RUN_UP_M),
                "start_north_m": float(start[1] + (MIRROR_Y_M if is_mirrored else 0.0)),
                "start_yaw_deg": 0.0,
                "airframe": _beside(case.airframe, cases_folder),
                "controller": CONTROLLER,
                "controller_options": str(path),
            }
        )
    _write(folder / "fleet.yaml", {"vehicles": entries})
    return folder / "fleet.yaml"


def _beside(name: str, folder: Path) -> str:
    """Return the path of a file that is named relative to a folder, a plain name as it is."""
    return str(folder / name) if name.endswith((".yaml", ".yml")) else name


def _write(path: Path, content: dict[str, Any]) -> None:
    write_text_atomically(path, yaml.safe_dump(content, sort_keys=False))
