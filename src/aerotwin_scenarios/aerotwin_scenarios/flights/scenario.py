# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A scenario file: the parameters of a flight, its events, and what is expected of it."""

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import listed, printable, shown
from aerotwin_core.origin import Origin, as_origin
from aerotwin_core.parameters import (
    load_parameters,
    old_names,
    parameter,
    read_yaml_with_lines,
    replaced,
    to_mapping,
)
from aerotwin_px4_bridge.mission import MissionPlan
from aerotwin_scenarios.flights.metrics import METRIC_SIGNALS, OF_SLAM
from aerotwin_simulator import SimulatorParameters
from aerotwin_simulator.events.plan import Event, parse_events
from aerotwin_simulator.fleet import plan_vehicles
from aerotwin_simulator.parameters import NO_FILE
from aerotwin_simulator.signals import signals_of
from aerotwin_temporal_logic import Formula, parse

DEFAULTS: Mapping[str, Any] = {
    "camera.is_rendered": False,
    "record": "none",
    "mission.failure_ends_flight": False,
    "duration_s": 120.0,
}
"""What differs from the simulator's own defaults."""
_FILES = (
    "mission.file",
    "fleet.file",
    "camera.file",
    "px4.parameters",
    "ardupilot.parameters",
    "controller.options",
)
NO_SLAM, STEREO_ODOMETRY = "none", "stereo_odometry"
MISSION_SETTINGS = ("is_anchored", "failure_ends_flight")
"""Keys of a mission that stands in the scenario, beside those of a mission file."""


@dataclass(frozen=True, kw_only=True)
class ScenarioKeys:
    """The keys of a scenario file beside those of the simulator."""

    text: str = parameter("", text="what the scenario shows, in a sentence")
    slam: str = parameter(
        NO_SLAM,
        text="SLAM that sees the first vehicle's stereo pair in the loop",
        choices=(NO_SLAM, STEREO_ODOMETRY),
    )
    events: dict[str, Any] | None = parameter(None, text="what happens, by name")
    expect: tuple[str, ...] = parameter(
        (), text="conditions that the flight must meet, on signals in time and on metrics"
    )


@dataclass(frozen=True, kw_only=True)
class FlightScenario:
    """A flight, what happens during it, and what is expected of it.

    Attributes
    ----------
    name, text : str
        Name of its file without the suffix, and what it shows.
    parameters : SimulatorParameters
        Of the flight; the mission's file is that of `mission` if it stands in the scenario.
    slam : str
        `NO_SLAM`, or the one that sees the first vehicle's images.
    mission : MissionPlan or None
        The mission that stands in the scenario itself.
    events, expectations : tuple
        What happens, and what must hold.
    document : mapping
        The content of its file.
    """

    name: str
    text: str
    parameters: SimulatorParameters
    slam: str
    mission: MissionPlan | None
    events: tuple[Event, ...]
    expectations: tuple[Formula, ...]
    document: Mapping[str, Any]

    def with_values(self, changes: Mapping[str, Any]) -> "FlightScenario":
        """Return it with other parameters of the simulator, by their names with dots.

        Raises
        ------
        ParameterError
            If there is no such parameter, or a value is wrong.
        """
        nested: dict[str, Any] = {}
        for name, value in changes.items():
            *groups, last = name.split(".")
            inner = nested
            for group in groups:
                inner = inner.setdefault(group, {})
            inner[last] = value
        parameters = load_parameters(
            SimulatorParameters, nested, where=self.name, base=self.parameters
        )
        return dataclasses.replace(self, parameters=parameters)


def load_scenario(path: str | Path) -> FlightScenario:
    """Return the scenario of a YAML file.

    Files that it names are looked for beside it, then from the working folder.

    Raises
    ------
    UserError
        If the file cannot be read, or a key, an event or an expectation is wrong.
    """
    path = Path(path)
    content, origin = read_yaml_with_lines(path)
    if not isinstance(content, Mapping):
        raise ParameterError(f"{path}: expected the keys of a scenario, found {shown(content)}")
    return read_scenario(content, name=path.stem, where=origin, folder=path.parent)


def read_scenario(
    document: Mapping[str, Any], *, name: str, where: str | Origin, folder: Path | None = None
) -> FlightScenario:
    """Return the scenario of the content of a file; `where` is its origin, for messages.

    Raises
    ------
    UserError
        If a key, an event or an expectation is wrong.
    """
    where = as_origin(where)
    own_names = {field.name for field in dataclasses.fields(ScenarioKeys)}
    own = {key: value for key, value in document.items() if key in own_names}
    rest = {key: value for key, value in document.items() if key not in own_names}
    _refuse_unknown(rest, where)
    keys = load_parameters(ScenarioKeys, own, where=where)
    mission, rest["mission"] = _split_mission(rest.get("mission"), where)
    has_slam = keys.slam != NO_SLAM
    base = replaced(SimulatorParameters(), {**DEFAULTS, "camera.is_rendered": has_slam})
    parameters = load_parameters(SimulatorParameters, rest, where=where, base=base)
    if folder is not None:
        parameters = _with_files_beside(parameters, folder)
    if has_slam and not parameters.camera.is_rendered:
        raise ParameterError(
            f"{where.at('camera')}: is_rendered: expected true with slam {keys.slam}, which sees "
            "the images; leave it out"
        )
    vehicles = _vehicle_names(parameters, where)
    events = parse_events(keys.events, where=where, vehicles=vehicles)
    names = [event.name for event in events]
    metrics = {name: s for name, s in METRIC_SIGNALS.items() if has_slam or name not in OF_SLAM}
    signals = {**signals_of(vehicles), **metrics}
    expectations = tuple(
        parse(text, signals, names, where=where.at(f"expect[{k}]"))
        for k, text in enumerate(keys.expect)
    )
    for formula in expectations:
        formula.check_says_when()
    return FlightScenario(
        name=name,
        text=keys.text,
        parameters=parameters,
        slam=keys.slam,
        mission=mission,
        events=events,
        expectations=expectations,
        document=document,
    )


def _refuse_unknown(document: Mapping[str, Any], where: Origin) -> None:
    classes = (ScenarioKeys, SimulatorParameters)
    known = [field.name for cls in classes for field in dataclasses.fields(cls)]
    before = old_names(SimulatorParameters)
    for key in document:
        if key not in known and key not in before:
            name = printable(str(key), 60)
            near = difflib.get_close_matches(name, known, n=1)
            way_out = (
                f"did you mean '{near[0]}'?" if near else f"known keys are {listed(known, 99)}"
            )
            raise ParameterError(f"{where.place(str(key))}: unknown key '{name}'; {way_out}")


def _vehicle_names(parameters: SimulatorParameters, where: Origin) -> list[str]:
    try:
        return [plan.name for plan in plan_vehicles(parameters)]
    except ParameterError as error:
        raise ParameterError(f"{where.at('fleet')}: {error}") from None


def _split_mission(values: Any, where: Origin) -> tuple[MissionPlan | None, Any]:
    """Return the mission that stands in a scenario, and the mission settings that are left."""
    if not isinstance(values, Mapping) or "file" in values:
        return None, values
    settings = {key: value for key, value in values.items() if key in MISSION_SETTINGS}
    plan = {key: value for key, value in values.items() if key not in MISSION_SETTINGS}
    if not plan:
        return None, values
    return load_parameters(MissionPlan, plan, where=where.below("mission")), settings


def _with_files_beside(parameters: SimulatorParameters, folder: Path) -> SimulatorParameters:
    """Return parameters whose files are found beside the scenario, where they are there."""
    changes = {}
    for name in _FILES:
        group, _, key = name.partition(".")
        file = getattr(getattr(parameters, group), key)
        if file not in ("", NO_FILE) and (folder / file).exists():
            changes[name] = str((folder / file).resolve())
    return replaced(parameters, changes) if changes else parameters


def plain_mission(mission: MissionPlan) -> Any:
    """Return a mission as the content of a mission file."""
    return to_mapping(mission)
