# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of scenario files, from the classes that read them."""

from collections.abc import Iterator
from typing import Any

from aerotwin_core.metric import Schema
from aerotwin_faults import KINDS
from aerotwin_px4_bridge.ground_station import ORDERS
from aerotwin_px4_bridge.mission import MissionPlan
from aerotwin_scenarios.flights.parameter_schema import parameter_schema
from aerotwin_scenarios.flights.scenario import MISSION_SETTINGS, ScenarioKeys
from aerotwin_simulator import SimulatorParameters
from aerotwin_simulator.events.plan import LONGEST_NAME, MARK, OBSTACLE, EventParameters
from aerotwin_worlds import Obstacle

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NOTHING: Schema = {"enum": [None, {}]}


def scenario_schema() -> Schema:
    """Return the JSON schema (2020-12) of a scenario file.

    The texts of conditions are only texts to it: `load_scenario` reads them.
    """
    parameters, own = parameter_schema(SimulatorParameters), parameter_schema(ScenarioKeys)
    properties = {**own["properties"], **parameters["properties"]}
    properties["mission"] = _mission_schema(properties["mission"])
    properties["events"] = {
        "type": ["object", "null"],
        "description": properties["events"]["description"],
        "propertyNames": {"pattern": "^[^\\W\\d]\\w*$", "maxLength": LONGEST_NAME},
        "additionalProperties": _event_schema(),
    }
    return {
        "$schema": DIALECT,
        "title": "aerotwin scenario",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _mission_schema(settings: Schema) -> Schema:
    """Return the schema of a mission: one of a file, or one that stands in the scenario."""
    inline = parameter_schema(MissionPlan)
    own = {name: settings["properties"][name] for name in MISSION_SETTINGS}
    inline["properties"] = {**inline["properties"], **own}
    is_inline = {"anyOf": [{"required": ["waypoints"]}, {"required": ["track"]}]}
    return {"if": is_inline, "then": inline, "else": settings}


def _event_schema() -> Schema:
    event = parameter_schema(EventParameters)
    actions = dict(_actions())
    event["properties"]["do"] = {
        "description": event["properties"]["do"]["description"],
        "oneOf": [
            {"const": name, "description": schema.get("description", "names an instant")}
            for name, schema in actions.items()
        ],
    }
    event["oneOf"] = [{"required": ["at_s"]}, {"required": ["when"]}]
    event["allOf"] = [
        {"if": {"properties": {"do": {"const": name}}}, "then": _with_parameters(name, schema)}
        for name, schema in actions.items()
    ]
    return event


def _actions() -> Iterator[tuple[str, Schema]]:
    for name, cls in {**KINDS, **ORDERS}.items():
        yield name, parameter_schema(cls)
    yield OBSTACLE, parameter_schema(Obstacle, optional=("name",))
    yield MARK, _NOTHING


def _with_parameters(name: str, schema: Schema) -> Schema:
    """Return what an event of a kind must be, beside what each event must be."""
    needs = "required" in schema
    properties: dict[str, Any] = {
        "parameters": schema
        if needs or schema is _NOTHING
        else {**schema, "type": ["object", "null"]}
    }
    if name not in KINDS:
        properties |= {"ramp_s": {"const": 0}, "duration_s": {"type": "null"}}
    return {"properties": properties, **({"required": ["parameters"]} if needs else {})}
