# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The schema of scenario files: by jsonschema, it accepts what is read and refuses the rest."""

import copy
import json

import jsonschema
import pytest
import yaml

from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_scenarios.flights.scenario import read_scenario
from aerotwin_scenarios.flights.schema import scenario_schema
from aerotwin_scenarios.flights.shipped import shipped_scenarios

SHIPPED = shipped_scenarios()
RIGHT = """
text: all kinds of keys
world: meadow
wind: {east_m_s: 3}
camera:
mission: {is_anchored: false, waypoints: [{position_m: [1.0, 0, 2.0]}]}
events:
  lost: {when: east_m > 15, do: gnss_loss, ramp_s: 1.0}
  person: {at_s: 3, do: obstacle, parameters: {waypoints_m: [[0, 1], [2, 3]]}}
  home: {at_s: 4, do: set_mode, parameters: {mode: LAND}}
  here: {at_s: 5, do: mark}
expect: [landed at end]
"""
WRONG = [
    ("wolrd", "x"), ("seed", -1), ("seed", "five"), ("record", "some"), ("wind.east", 1.0),
    ("wind.east_m_s", 99.0), ("wind.east_m_s", True), ("wind", "strong"), ("expect", "landed"),
    ("expect", [3]), ("fleet.instances", 2001), ("controller.kind", 5), ("mission.waypoint", []),
    ("mission.waypoints", [{"position_m": [1.0, 2.0]}]), ("mission.waypoints", [{}]),
    ("mission.speed_m_s", 0.0), ("events", [1]), ("events.1st", {"at_s": 1, "do": "mark"}),
    ("events.lost.do", "gnss_los"), ("events.lost.at_s", 3.0), ("events.lost.ramp_s", -1.0),
    ("events.lost.whn", "landed"), ("events.lost.parameters", {"x": 1}),
    ("events.person.parameters", {}), ("events.person.parameters.speed_m_s", 99.0),
    ("events.person.parameters.waypoints_m", [[1.0]]), ("events.person.duration_s", 3.0),
    ("events.home.parameters.mode", "FLIP"), ("events.home.parameters", None),
    ("events.here.parameters", {"x": 1}), ("events.here", {"do": "mark"}), ("events.here", 3),
]  # fmt: skip


@pytest.fixture(scope="module")
def validator():
    schema = scenario_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_scenario_is_valid(validator, name):
    validator.validate(yaml.safe_load(SHIPPED[name].read_text()))


def test_what_is_read_is_valid(validator):
    document = yaml.safe_load(RIGHT)
    read_scenario(document, name="x", where="x")
    validator.validate(document)
    validator.validate({"mission": {"file": "none"}, "events": None})
    validator.validate({})


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_what_is_refused_when_read_is_not_valid(validator, path, value):
    document = copy.deepcopy(yaml.safe_load(RIGHT))
    *groups, last = path.split(".")
    inner = document
    for group in groups:
        inner = inner.setdefault(group, {})
    inner[last] = value
    with pytest.raises(UserError):
        read_scenario(document, name="x", where="x")
    assert not validator.is_valid(document)


def test_descriptions_have_texts_and_units():
    schema = scenario_schema()
    east = schema["properties"]["wind"]["properties"]["east_m_s"]
    assert east["description"] == "steady wind towards east [m/s]"
    assert (east["type"], east["minimum"], east["default"]) == ("number", -60.0, 0.0)


def test_the_command_writes_it(tmp_path, capsys):
    path = tmp_path / "scenario.schema.json"
    assert main(["scenario", "schema", "-o", str(path)]) == 0
    assert json.loads(path.read_text()) == json.loads(json.dumps(scenario_schema()))
    assert main(["scenario", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "aerotwin scenario"
