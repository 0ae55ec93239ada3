# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fly a scenario in this process, without ROS, and judge it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import replaced
from aerotwin_px4_bridge import AutopilotLost
from aerotwin_scenarios.flights.metrics import flight_metrics, with_metrics
from aerotwin_scenarios.flights.scenario import NO_SLAM, FlightScenario, plain_mission
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.fleet import plan_vehicles
from aerotwin_simulator.preflight import check_before_flight
from aerotwin_simulator.recording import BagSink, bag_sink, write_configuration
from aerotwin_simulator.topics import MessageSink
from aerotwin_temporal_logic import Trace, Verdict, judge
from aerotwin_worlds import World, load_world

if TYPE_CHECKING:
    from aerotwin_scenarios.flights.slam import OdometryInTheLoop

MISSION_FILE, SCENARIO_FILE = "mission.yaml", "scenario.yaml"


@dataclass(frozen=True, kw_only=True)
class ScenarioResult:
    """What became of a scenario.

    Attributes
    ----------
    outcome : str
        How the flight ended.
    verdicts : tuple of (str, Verdict)
        Text and verdict of each expectation, in their order.
    metrics : mapping
        Numbers of the flight; None for what is not known.
    instants_s : mapping
        When each event happened; None if it did not.
    refusals : tuple of str
        Orders that were not followed, and why.
    is_repeatable : bool
        Whether every wait for the autopilot was answered.
    trace : Trace
        The recorded signals.
    """

    outcome: str
    verdicts: tuple[tuple[str, Verdict], ...]
    metrics: dict[str, float | None]
    instants_s: dict[str, float | None]
    refusals: tuple[str, ...]
    is_repeatable: bool
    trace: Trace

    @property
    def is_success(self) -> bool:
        """Whether all expectations are met, and every order was followed."""
        return all(verdict.is_met for _, verdict in self.verdicts) and not self.refusals

    def plain(self) -> dict[str, Any]:
        """Return it for JSON; a robustness or metric that is not finite is None."""
        return {
            "outcome": self.outcome,
            "is_success": self.is_success,
            "is_repeatable": self.is_repeatable,
            "expectations": [_plain_verdict(*each) for each in self.verdicts],
            "events": dict(self.instants_s),
            "refusals": list(self.refusals),
            "metrics": {name: _finite(value) for name, value in self.metrics.items()},
        }


def fly_scenario(
    scenario: FlightScenario,
    folder: Path,
    *,
    port_shift: int = 0,
) -> ScenarioResult:
    """Fly a scenario and judge it.

    Parameters
    ----------
    folder : Path
        Of the run, which exists: it gets the scenario, the configuration, the autopilot's log, and
        the bag if the scenario records one.
    port_shift : int
        Added to the vehicles' numbers for their ports; the result does not depend on it.

    Raises
    ------
    UserError
        If the flight cannot begin: a file, a world or an autopilot is missing, a port is in use.
    """
    parameters = replaced(scenario.parameters, {"fleet.port_shift": port_shift})
    if scenario.mission is not None:
        path = folder / MISSION_FILE
        write_text_atomically(path, yaml.safe_dump(plain_mission(scenario.mission)))
        parameters = replaced(parameters, {"mission.file": str(path)})
    text = yaml.safe_dump(dict(scenario.document), sort_keys=False, allow_unicode=True)
    write_text_atomically(folder / SCENARIO_FILE, text)
    check_before_flight(parameters)
    world = _world(parameters.world)
    write_configuration(folder, parameters, world)
    slam = _slam(scenario.slam, parameters)
    sinks: list[MessageSink] = [slam] if slam is not None else []
    if parameters.record != "none":
        sinks.append(bag_sink(folder / "bag", parameters))
    try:
        simulation = Simulation(parameters, world, folder, sinks, events=scenario.events)
        try:
            _fly(simulation)
        finally:
            simulation.close()
    finally:
        for sink in sinks:
            if isinstance(sink, BagSink):
                sink.close()
    return _judged(scenario, simulation, {} if slam is None else slam.metrics())


def _slam(name: str, parameters: SimulatorParameters) -> "OdometryInTheLoop | None":
    if name == NO_SLAM:
        return None
    from aerotwin_scenarios.flights.slam import OdometryInTheLoop

    return OdometryInTheLoop(parameters, plan_vehicles(parameters)[0].name)


def _fly(simulation: Simulation) -> None:
    try:
        simulation.start()
        while simulation.outcome is None:
            simulation.advance()
    except AutopilotLost as error:
        simulation.abort(str(error))


def _judged(
    scenario: FlightScenario, simulation: Simulation, of_slam: Mapping[str, float | None]
) -> ScenarioResult:
    events = simulation.events
    assert events is not None
    trace = events.trace()
    if len(trace.times_s) == 0:
        raise UserError(f"{scenario.name}: nothing was flown: {simulation.outcome}")
    metrics = {**flight_metrics(trace), **of_slam}
    whole = with_metrics(trace, metrics)
    return ScenarioResult(
        outcome=simulation.outcome or "",
        verdicts=tuple((each.text, judge(each, whole)) for each in scenario.expectations),
        metrics=metrics,
        instants_s=dict(trace.events),
        refusals=tuple(events.refusals),
        is_repeatable=simulation.is_repeatable,
        trace=trace,
    )


@lru_cache(maxsize=2)
def _world(name: str) -> World:
    """Return a world; a process that flies many scenarios in it loads it once."""
    world = load_world(name)
    if world.stream is not None:
        raise UserError(
            f"world {name}: it streams, which scenarios cannot share; choose another one"
        )
    return world


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _plain_verdict(text: str, verdict: Verdict) -> dict[str, Any]:
    return {
        "text": text,
        "is_met": verdict.is_met,
        "robustness": _finite(verdict.robustness),
        "unit": verdict.unit,
        "at_s": verdict.at_s,
        "time_margin_s": verdict.time_margin_s,
        "reason": verdict.reason,
    }
