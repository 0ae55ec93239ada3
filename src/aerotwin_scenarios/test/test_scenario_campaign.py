# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns whose runs are flights of scenarios."""

import json
import socket
from contextlib import ExitStack

import pytest
import yaml
from pyarrow import parquet

from aerotwin_campaign import MachineFailure, RunContext, Specifications, WorkerPlace, make_campaign
from aerotwin_core.cli import main
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_scenarios.flights import campaign_run
from aerotwin_scenarios.flights.campaign_run import claimed_instances, documents, fly
from aerotwin_scenarios.flights.fly import fly_scenario
from aerotwin_scenarios.flights.scenario import load_scenario
from aerotwin_scenarios.flights.shipped import shipped_scenarios

HOP = """
world: meadow
mission: {takeoff_altitude_m: 3.0, waypoints: [{position_m: [4.0, 0.0, 3.0]}]}
events:
  there: {when: east_m > 3, do: mark}
expect:
  - landed within 30 s of there
  - max_height_m < 3.3
  - always not crashed
"""


@pytest.fixture
def hop(tmp_path):
    path = tmp_path / "hop.yaml"
    path.write_text(HOP)
    return path


def campaign(tmp_path, **content):
    return make_campaign({"name": "x"} | content, where=str(tmp_path / "campaign.yaml"))


def context(tmp_path, seed=0):
    folder, scratch = tmp_path / "run", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    place = WorkerPlace(number=0, cores=(0,), ros_domain_id=None, scratch=scratch)
    return RunContext(seed=seed, repeat=0, folder=folder, place=place)


def test_the_table_has_what_the_command_for_one_scenario_finds(hop, tmp_path, capsys):
    content = {"name": "hops", "scenario": str(hop), "axes": {"wind.north_m_s": [0.0, 4.0]}}
    file, store = tmp_path / "campaign.yaml", tmp_path / "store"
    file.write_text(yaml.safe_dump(content | {"seeds": [3]}))
    command = ["campaign", "run", str(file), "--store", str(store), "--workers", "2", "--json", "-"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 2
    rows = parquet.read_table(store / "results.parquet").to_pylist()
    assert [(row["axes.scenario"], row["axes.wind.north_m_s"]) for row in rows] == [
        ("hop", 0.0), ("hop", 4.0)
    ]  # fmt: skip
    for row in rows:
        wind = {"wind.north_m_s": row["axes.wind.north_m_s"], "seed": 3}
        alone = fly_scenario(load_scenario(hop).with_values(wind), tmp_path, port_shift=90)
        of_row = {name: row[f"metrics.{name}"] for name in alone.metrics}
        assert of_row == alone.metrics
        for k, (_, verdict) in enumerate(alone.verdicts):
            assert row[f"metrics.expect.{k}.is_met"] == verdict.is_met
        assert row["metrics.expect.1.robustness"] == alone.verdicts[1][1].robustness
        assert row["metrics.expect.2.robustness"] is None  # of a truth value
        assert row["is_success"] and row["metrics.is_repeatable"]
    assert rows[0]["metrics.max_tilt_deg"] != rows[1]["metrics.max_tilt_deg"]


def test_an_expectation_that_is_not_met_is_the_outcome(hop, tmp_path):
    document = documents([str(hop)], tmp_path)["hop"]
    document["expect"] = ["max_height_m < 2"]
    found = fly(document, context(tmp_path))
    assert not found["is_success"]
    assert found["outcome"].endswith("; not met: max_height_m < 2")
    assert found["metrics"]["expect.0.robustness"] == 2.0 - found["metrics"]["max_height_m"]


def test_all_scenarios_that_come_with_aerotwin_are_runs_of_their_own(tmp_path):
    found = campaign(tmp_path, scenario="all", seeds=[0, 1])
    specs = Specifications(found, {})
    names = [specs.axis_values(k)["scenario"] for k in range(len(specs))]
    assert names == [name for name in shipped_scenarios() for _ in range(2)]
    assert len({spec.id for spec in specs}) == len(specs)
    assert all(spec.run == "aerotwin_scenarios.flights.campaign_run:fly" for spec in specs)


def test_samples_of_the_axes_are_the_same_for_each_scenario(hop, tmp_path):
    axes = {"wind.east_m_s": {"uniform": {"from": 0.0, "to": 8.0}}}
    given = {"scenario": [str(hop), "nominal"], "sampling": "sobol", "samples": 4, "axes": axes}
    specs = Specifications(campaign(tmp_path, **given), {})
    east = [spec.document["wind"]["east_m_s"] for spec in specs]
    assert len(specs) == 8 and east[:4] == east[4:] and len({*east}) == 4


def test_a_scenario_beside_the_campaign_is_found_with_the_files_that_it_names(tmp_path):
    (tmp_path / "way.yaml").write_text("waypoints: [{position_m: [4.0, 0.0, 3.0]}]\n")
    (tmp_path / "by_file.yaml").write_text("world: meadow\nmission: {file: way.yaml}\n")
    found = campaign(tmp_path, scenario="by_file.yaml").documents["by_file"]
    assert found["mission"]["file"] == str(tmp_path / "way.yaml")
    assert {path.rpartition("/")[2] for path in found["files"]} == {"way.yaml", "meadow.yaml"}
    (tmp_path / "way.yaml").write_text("waypoints: [{position_m: [5.0, 0.0, 3.0]}]\n")
    with pytest.raises(MachineFailure, match=r"way\.yaml: expected the file with SHA-256"):
        fly(found, context(tmp_path))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            {"scenario": "hop.yaml", "fail_if": ["success_share < 1", "max_tilt_degg.max > 45"]},
            "fail_if[1]: there is no number 'max_tilt_degg.max'",
        ),
        (
            {"scenario": "hop.yaml", "fail_if": ["expect.0.robustness < 0"]},
            "did you mean ",
        ),
        ({"scenario": "no_such"}, "scenario: no scenario 'no_such'"),
        ({"scenario": []}, "scenario: expected a name, a file, a list of these, or all"),
        ({"scenario": ["hop.yaml", "hop.yaml"]}, "two are named hop"),
        ({"scenario": "hop.yaml", "run": "m:f"}, "run: is given by 'scenario' already"),
        ({"scenario": "hop.yaml", "base": {}}, "base: is given by 'scenario' already"),
        ({"scenario": "hop.yaml", "axes": {"seed": [1]}}, "'seeds' are those of the flights"),
        (
            {"scenario": "hop.yaml", "axes": {"wind.eest_m_s": [1]}},
            "axes.wind.eest_m_s = 1 (int): hop: unknown key 'wind.eest_m_s'; did you mean",
        ),
        (
            {"scenario": "hop.yaml", "axes": {"wind.east_m_s": [1, "much"]}},
            "axes.wind.east_m_s = 'much' (str): hop: wind.east_m_s: expected",
        ),
        (
            {"scenario": "hop.yaml", "axes": {"events.gone.at_s": [1]}},
            "axes.events.gone.at_s = 1 (int): hop: events.gone",
        ),
        (
            {"scenario": "hop.yaml", "axes": {"expect.9": ["landed at end"]}},
            "axes.expect.9 = 'landed at end'",
        ),
    ],
)
def test_a_wrong_campaign_is_refused_before_anything_is_flown(hop, tmp_path, content, words):
    with pytest.raises(ParameterError) as caught:
        campaign(tmp_path, **content)
    assert words in str(caught.value)


def test_flights_of_fleets_have_numbers_of_their_own():
    with ExitStack() as stack:
        rows = [stack.enter_context(claimed_instances(n, first)) for n, first in
                ((3, 120), (2, 121), (1, 120), (2, 199))]  # fmt: skip
        taken = [start + k for start, n in zip(rows, (3, 2, 1, 2), strict=True) for k in range(n)]
        assert len({*taken}) == 8 and max(taken) <= 200
        assert rows[0] == 120 and rows[3] == 199
    with claimed_instances(3, 120) as again:
        assert again == 120


@pytest.mark.parametrize(
    ("kind", "port"),
    [(socket.SOCK_STREAM, 4560), (socket.SOCK_DGRAM, 14030)],
    ids=["hil", "client"],
)
def test_ports_that_another_program_has_are_passed_over(kind, port):
    with socket.socket(socket.AF_INET, kind) as other:
        other.bind(("127.0.0.1", port + 131))
        if kind == socket.SOCK_STREAM:
            other.listen()
        with claimed_instances(2, 130) as start:
            assert start == 132


def test_no_free_numbers_are_said(monkeypatch):
    monkeypatch.setattr(campaign_run, "MAX_INSTANCE", -1)
    with pytest.raises(UserError, match="no 1 numbers"), claimed_instances(1, 0):
        pass
