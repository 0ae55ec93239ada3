# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenario files: what is read, what is refused, what a flight by one leaves, and its numbers."""

import json
import math
import os

import numpy as np
import pytest
import yaml

from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_scenarios.flights import printing
from aerotwin_scenarios.flights.fly import ScenarioResult, fly_scenario
from aerotwin_scenarios.flights.metrics import METRIC_SIGNALS, OF_SLAM, flight_metrics
from aerotwin_scenarios.flights.scenario import load_scenario, read_scenario
from aerotwin_scenarios.flights.shipped import find_scenario, find_scenarios, shipped_scenarios
from aerotwin_simulator.signals import SIGNALS
from aerotwin_temporal_logic import Trace

SHIFT = 86
SHIPPED = shipped_scenarios()
SHORT = """
world: meadow
mission: {takeoff_altitude_m: 3.0, waypoints: [{position_m: [6.0, 0.0, 3.0]}]}
events:
  home: {when: east_m > 3, do: set_mode, parameters: {mode: LAND}}
expect:
  - landed within 20 s of home
  - max_height_m < 4
"""


def read(text, **options):
    return read_scenario(yaml.safe_load(text), name="test", where="my.yaml", **options)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_scenario_says_what_it_shows_and_expects_something(name):
    scenario = load_scenario(SHIPPED[name])
    assert scenario.text
    assert scenario.expectations
    events = {event.name for event in scenario.events}
    assert events or name in ("nominal", "odometry_loop")


def test_there_is_one_scenario_for_most_kinds_of_faults():
    done = {
        type(e.action).__name__ for path in SHIPPED.values() for e in load_scenario(path).events
    }
    assert len(done) >= 15


def test_the_parameters_of_the_simulator_stand_beside_the_events():
    scenario = read(SHORT + "wind: {east_m_s: 3.0}\nseed: 5\n")
    assert scenario.parameters.wind.east_m_s == 3.0
    assert scenario.parameters.seed == 5
    assert scenario.parameters.record == "none"
    assert not scenario.parameters.mission.failure_ends_flight
    assert scenario.mission.takeoff_altitude_m == 3.0
    changed = scenario.with_values({"wind.east_m_s": 4.0, "seed": 6})
    assert (changed.parameters.wind.east_m_s, changed.parameters.seed) == (4.0, 6)


def test_a_file_that_lies_beside_the_scenario_is_found(tmp_path):
    (tmp_path / "there.yaml").write_text("waypoints: [{position_m: [1.0, 0.0, 2.0]}]\n")
    path = tmp_path / "scenario.yaml"
    path.write_text("mission: {file: there.yaml}\n")
    assert load_scenario(path).parameters.mission.file == str(tmp_path / "there.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wolrd: cliff", "my.yaml: unknown key 'wolrd'; did you mean 'world'?"),
        ("wind: {east: 3}", "my.yaml: unknown key 'wind.east'"),
        (
            "expect: [hight_m > 2]",
            "my.yaml: expect[0]: column 1: no signal or event 'hight_m'; did you mean height_m",
        ),
        ("expect: landed", "expected a list"),
        ("expect: [landed within 3 s of gone]", "expected an event"),
        ("events: {gone: {at_s: 1, do: gnss_los}}", "events.gone.do: no 'gnss_los'"),
        ("mission: {waypoints: []}", "waypoints: expected at least one"),
        ("mission: {waypoints: [{position_m: [1, 2]}]}", "expected 3 values, found 2"),
        ("seed: -1", "seed: expected at least 0"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, words):
    with pytest.raises(UserError) as error:
        read(text)
    assert words in str(error.value)


def test_signals_and_metrics_have_names_of_their_own():
    assert not SIGNALS.keys() & METRIC_SIGNALS.keys()


def made_up_trace():
    """Up to 10 m in 5 s, 20 m ahead in 10 s, down in 5 s, then 5 s on the ground."""
    t = np.arange(0.0, 25.001, 0.04)
    n = len(t)
    height = np.interp(t, [0.0, 5.0, 15.0, 20.0], [0.2, 10.2, 10.2, 0.2])
    east = np.interp(t, [5.0, 15.0], [0.0, 20.0])
    zero = np.zeros(n)
    values = dict.fromkeys(SIGNALS, zero) | {
        "east_m": east, "up_m": height, "height_m": height, "home_distance_m": east,
        "speed_m_s": np.where((t > 5.0) & (t < 15.0), 2.0, 0.0),
        "distance_to_world_m": np.minimum(height, 5.0 + np.abs(t - 10.0)),
        "position_error_m": np.where(t < 2.0, np.nan, 0.5),
        "setpoint_error_m": np.full(n, np.nan),
        "battery_percent": 100.0 - t, "tilt_deg": np.where(t == 10.0, 12.0, 3.0),
        "flying": (height > 0.5), "landed": t > 21.0, "crashed": np.zeros(n, bool),
    }  # fmt: skip
    return Trace(times_s=t, values=values)


def test_the_numbers_of_a_flight_are_those_of_its_signals():
    found = flight_metrics(made_up_trace())
    assert set(found) == set(METRIC_SIGNALS) - set(OF_SLAM)
    assert found["duration_s"] == pytest.approx(25.0)
    assert found["airborne_s"] == pytest.approx(20.0 - 0.3, abs=0.1)  # 0.3 m at 2 m/s, twice
    assert found["path_m"] == pytest.approx(20.0 + 2.0 * 9.7, abs=0.2)
    assert found["max_height_m"] == pytest.approx(10.2)
    assert found["max_tilt_deg"] == 12.0
    assert found["min_distance_to_world_m"] == pytest.approx(1.5, abs=0.1)
    assert found["max_position_error_m"] == found["rms_position_error_m"] == pytest.approx(0.5)
    assert found["max_setpoint_error_m"] is None
    assert found["landing_offset_m"] == pytest.approx(20.0)
    assert found["battery_used_percent"] == pytest.approx(25.0)
    assert (found["has_landed"], found["has_crashed"]) == (1.0, 0.0)


def test_a_flight_that_left_the_world_can_be_written():
    """There is no ground below it: its height is infinite."""
    result = ScenarioResult(
        outcome="it left", verdicts=(), metrics={"max_height_m": math.inf, "path_m": 3.0},
        instants_s={}, refusals=(), is_repeatable=True, trace=made_up_trace(),
    )  # fmt: skip
    assert result.plain()["metrics"] == {"max_height_m": None, "path_m": 3.0}
    json.dumps(result.plain(), allow_nan=False)


class TestFlights:
    """Flown by the embedded autopilot."""

    def test_the_result_is_that_of_the_flight_and_is_the_same_twice(self, tmp_path):
        scenario, results = read(SHORT), []
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            results.append(fly_scenario(scenario, tmp_path / name, port_shift=SHIFT))
        first, second = (result.plain() for result in results)
        assert json.dumps(first) == json.dumps(second)
        assert first["is_success"], first
        assert first["is_repeatable"]
        assert first["metrics"]["has_landed"] == 1.0
        assert 2.5 < first["metrics"]["max_height_m"] < 3.5
        assert first["events"]["home"] > 5.0
        for name in ("scenario.yaml", "config.yaml", "mission.yaml", "autopilot_86.log"):
            assert (tmp_path / "first" / name).is_file()
        again = load_scenario(tmp_path / "first" / "scenario.yaml")
        assert [e.text for e in again.expectations] == [e.text for e in scenario.expectations]

    def test_the_command_says_what_was_missed_and_fails(self, tmp_path, capsys):
        path = tmp_path / "mine.yaml"
        path.write_text(SHORT + "  - always height_m < 2\n")
        json_file, out = tmp_path / "found.json", tmp_path / "runs"
        tokens = ["scenario", "run", str(path), "--seeds", "1000", "1001", "--port-shift"]
        tokens += [str(SHIFT), "-p", "wind.east_m_s=2.0", "-o", str(out)]
        assert main([*tokens, "--json", str(json_file)]) == 1
        text = capsys.readouterr().out
        assert "mine, seed 1000: the mission failed" in text
        assert "MISSED  always height_m < 2: " in text
        assert "0 of 2 flights were as expected" in text
        found = json.loads(json_file.read_text())["flights"]
        assert [row["seed"] for row in found] == [1000, 1001]
        assert found[0]["expectations"][2]["robustness"] < -1.0
        assert len(list(out.glob("*/result.json"))) == 2

    def test_the_named_autopilot_flies_in_place_of_the_files(self, tmp_path, capsys):
        path, out = tmp_path / "mine.yaml", tmp_path / "runs"
        path.write_text(SHORT + "controller: {kind: px4}\n")
        tokens = ["scenario", "run", str(path), "--autopilot", "embedded", "--json", "-"]
        assert main([*tokens, "--port-shift", str(SHIFT), "-o", str(out)]) == 0
        (row,) = json.loads(capsys.readouterr().out)["flights"]
        assert (row["autopilot"], row["is_success"]) == ("embedded", True)
        (result,) = out.glob("*/result.json")
        assert "mine-embedded-0" in result.parent.name


def test_a_table_sets_autopilots_side_by_side():
    def row(autopilot, *robustness, **values):
        expected = [
            {"is_met": r is None or r > 0, "robustness": r, "unit": "m"} for r in robustness
        ]
        row = {"scenario": "gust", "seed": 3, "autopilot": autopilot, "expectations": expected}
        return row | {"is_success": all(e["is_met"] for e in expected)} | values

    both = [row("embedded", 2.0, 0.51, None), row("px4", 0.2, -1.5, -0.5)]
    head, line = printing.table_lines(both)
    assert head.split() == ["scenario", "embedded", "px4"]
    assert line.split("  ")[0] == "gust, seed 3"
    assert "met 0.51 m" in line and line.endswith("MISSED -1.5 m")
    assert head.index("px4") == line.index("MISSED")
    refused = row("px4", 1.0, is_success=False)
    assert list(printing.table_lines([refused]))[1].endswith("ORDER NOT FOLLOWED")
    (_, alone) = printing.table_lines([row("embedded", None)])
    assert alone.endswith("  met")


def test_all_stands_for_the_shipped_scenarios():
    assert list(find_scenarios(["all"])) == list(SHIPPED.values())
    assert [path.stem for path in find_scenarios(["gust", "nominal"])] == ["gust", "nominal"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--autopilot", "px5"], "--autopilot: expected embedded or px4 or ardupilot, found 'px5'"),
        (["--autopilot", "px4", "-p", "controller.kind=ros2"], "leave out one"),
    ],
)
def test_a_wrong_autopilot_is_refused_before_anything_is_flown(options, words, capsys):
    assert main(["scenario", "run", "nominal", *options]) != 0
    assert words in capsys.readouterr().err


def test_a_scenario_that_is_not_there_is_named_with_those_that_are(capsys):
    assert main(["scenario", "run", "gnss_los"]) != 0
    assert "no scenario 'gnss_los'" in capsys.readouterr().err
    assert find_scenario("nominal").name == "nominal.yaml"


def test_the_lists_teach_the_words_of_scenario_files(capsys):
    assert main(["scenario", "list"]) == 0
    assert "nominal" in capsys.readouterr().out
    signals, events = "\n".join(printing.signal_lines()), "\n".join(printing.event_lines())
    assert all(name in signals for name in (*SIGNALS, *METRIC_SIGNALS))
    assert "thrust_share: remaining thrust" in events
    assert "set_mode" in events


def test_a_verdict_is_printed_with_what_it_means(tmp_path):
    from aerotwin_temporal_logic import Verdict

    def text(**values):
        return printing.margin_text(
            Verdict(**{"reason": "why", "unit": "", "at_s": None, "time_margin_s": None} | values)
        )

    assert text(is_met=True, robustness=math.inf, time_margin_s=3.25) == "3.2 s to spare"
    assert text(is_met=False, robustness=-1.5, unit="m") == "1.5 m short (why)"
    assert text(is_met=True, robustness=0.25) == "0.25 to spare (why)"
    assert text(is_met=False, robustness=-math.inf) == "why"


@pytest.mark.slow
@pytest.mark.skipif(
    "PX4_DIR" not in os.environ,
    reason="real PX4 not present: set PX4_DIR to a built PX4-Autopilot",
)
@pytest.mark.parametrize(
    "name", ["nominal", "companion_loss", "operator_return", "magnetometer_loss"]
)
def test_the_real_px4_meets_what_a_shipped_scenario_expects(name, tmp_path):
    scenario = load_scenario(SHIPPED[name]).with_values({"controller.kind": "px4"})
    result = fly_scenario(scenario, tmp_path, port_shift=SHIFT)
    assert result.is_success, result.plain()
    assert (tmp_path / f"px4_{SHIFT}" / "px4.log").is_file()
