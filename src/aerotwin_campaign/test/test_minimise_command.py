# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The mildest disturbance by real runs of a store; the edge is known in closed form."""

import json
import math

import pytest
import yaml

from aerotwin_campaign import minimise_command, reproduce_command
from aerotwin_campaign.axes import IntegersAxis, ListedAxis, LogUniformAxis, NormalAxis
from aerotwin_campaign.disturbances import Criterion, disturbance_of
from aerotwin_campaign.store import StoredRun
from aerotwin_core.cli import parser_of
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.gate import parse_condition
from support.campaigns import STUBS

HARDER = 0.9  # the edge of every second seed
EDGE_X, EDGE_Y = 2.0 * math.sqrt(HARDER), 3.0 * math.sqrt(HARDER)


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = {
        "name": "edge", "run": f"{STUBS}:beyond_an_edge", "base": {"x": 0.0, "y": 0.0},
        "axes": {"x": {"from": 0.0, "to": 4.0, "steps": 3}}, "seeds": [1, 2],
    }  # fmt: skip
    path = tmp_path / "edge.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def call(module, *arguments) -> int:
    parser = parser_of(module, "aerotwin campaign verb")
    return module.run(parser.parse_args([str(each) for each in arguments]))


def minimised(capsys, *arguments) -> dict:
    code = call(minimise_command, *arguments, "--workers", "2", "--json", "-")
    return json.loads(capsys.readouterr().out) | {"code": code}


def test_one_axis_over_seeds_and_the_run_that_it_names(campaign, capsys):
    found = minimised(capsys, campaign)
    assert (found["code"], found["outcome"]) == (0, "found")
    broken, passed = found["broken"], found["passed"]
    assert passed["values"]["x"] <= EDGE_X < broken["values"]["x"]
    assert broken["values"]["x"] - passed["values"]["x"] <= 0.01 * 4.0
    assert broken["seed"] == 1 and broken["margin"] < 0.0 <= passed["margin"]
    assert broken["margin"] == pytest.approx(HARDER - (broken["values"]["x"] / 2.0) ** 2)
    assert found["n_runs_made"] == 2 * found["n_points"]
    words = found["reproduce"].split()
    assert words[:3] == ["aerotwin", "campaign", "reproduce"]
    assert call(reproduce_command, *words[3:]) == 0
    assert "the same" in capsys.readouterr().out


def test_what_was_made_is_not_made_again(campaign, capsys):
    first = minimised(capsys, campaign)
    again = minimised(capsys, campaign)
    assert again["n_runs_made"] == 0
    assert {**again, "n_runs_made": first["n_runs_made"]} == first


def test_two_axes(campaign, capsys):
    found = minimised(
        capsys, campaign, "--axis", "x=0:4", "--axis", "y=0:4", "--evaluations", "120"
    )
    # In parts of the ways, the edge is an ellipse with half axes EDGE_X / 4 and EDGE_Y / 4.
    assert EDGE_X / 4.0 <= found["broken"]["size"] <= EDGE_X / 4.0 + 0.015
    assert found["code"] == 0 and found["passed"]["margin"] >= 0.0


def test_nothing_breaks_and_the_mildest_breaks(campaign, capsys):
    assert call(minimise_command, campaign, "--axis", "x=0:1", "--workers", "2") == 1
    assert "nothing breaks at 5 points of x 0 to 1" in capsys.readouterr().out
    assert call(minimise_command, campaign, "--axis", "x=3:4", "--workers", "2") == 1
    assert "the mildest values break already: x = 3" in capsys.readouterr().out


def test_a_condition_says_what_breaks(campaign, capsys):
    found = minimised(capsys, campaign, "--breaks", "x > 1.25")
    assert found["passed"]["values"]["x"] <= 1.25 < found["broken"]["values"]["x"]
    found = minimised(capsys, campaign, "--expect", "0")
    assert found["passed"]["values"]["x"] <= EDGE_X < found["broken"]["values"]["x"]
    with pytest.raises(UserError, match="no metric speed"):
        call(minimise_command, campaign, "--breaks", "speed > 1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--axis", "z=0:1"], "z"), (["--axis", "y"], "add =MILD:SEVERE"),
     (["--axis", "x=1:1"], "no way"), (["--axis", "x=a:b"], "two numbers"),
     (["--tolerance", "0"], "tolerance"), (["--workers", "0"], "workers"),
     (["--scenario", "gust"], "scenario")],
)  # fmt: skip
def test_wrong_use_is_refused(campaign, arguments, message):
    with pytest.raises(UserError, match=message):
        call(minimise_command, campaign, *arguments)


def test_axes_lead_from_mild_to_severe():
    whole = disturbance_of("n", IntegersAxis(low=2, high=6), "axes.n")
    assert [whole.value(t) for t in (0.0, 0.3, 0.6, 1.0)] == [2, 3, 4, 6]
    log = disturbance_of("x", LogUniformAxis(low=0.01, high=100.0), "axes.x")
    assert [log.value(t) for t in (0.0, 0.5, 1.0)] == [0.01, 1.0, 100.0]
    down = disturbance_of("x", ListedAxis(values=(1.0, 0.5, 0.0)), "axes.x")
    assert [down.value(t) for t in (0.0, 0.25, 1.0)] == [1.0, 0.75, 0.0]
    for each in (whole, log, down):
        assert each.t(each.value(0.5)) == pytest.approx(0.5)
    for axis in (NormalAxis(mean=0.0, std=1.0), ListedAxis(values=("a", "b")),
                 ListedAxis(values=(1.0,)), ListedAxis(values=(True, False))):  # fmt: skip
        with pytest.raises(ParameterError, match="no mild and severe end"):
            disturbance_of("x", axis, "axes.x")


def stored(is_success=True, **metrics):
    return StoredRun(id="", metrics=metrics, is_success=is_success, outcome="", cost={})


def test_what_is_not_known_is_not_passed():
    miss = Criterion(condition=parse_condition("miss_m > 0.5"))
    assert miss.judge(stored(miss_m=0.3)) == (False, pytest.approx(0.2))
    assert miss.judge(stored(miss_m=0.7)) == (True, pytest.approx(-0.2))
    assert miss.judge(stored(miss_m=None)) == (True, None)
    assert miss.judge(stored(is_success=False)) == (True, None)
    both = {"expect.0.robustness": 2.0, "expect.1.robustness": 0.5, "expect.1.is_met": True}
    assert Criterion().judge(stored(**both)) == (False, 0.5)
    assert Criterion().judge(stored(False, **both)) == (True, None)  # an order was refused
    assert Criterion(expectation=1).judge(stored(False, **both)) == (False, 0.5)
    with pytest.raises(UserError, match=r"no metric expect\.4"):
        Criterion(expectation=4).judge(stored(**both))
