# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Protocol files and their hashes; conditions that fail a command."""

import argparse
from dataclasses import dataclass

import pytest

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.gate import EXIT_GATE, check_gate_names, exit_code_of_gates, parse_condition
from aerotwin_core.parameters import parameter
from aerotwin_core.protocol import load_protocol


@dataclass(frozen=True, kw_only=True)
class Choices:
    align: str = parameter("se3", text="alignment", choices=("none", "se3"))
    max_gap_s: float = parameter(0.01, text="farthest stamps", unit="s", minimum=0.0)


PRESETS = {"raw": {"align": "none"}}


def _load(spec):
    return load_protocol(Choices, "trajectory", spec, PRESETS)


def test_the_hash_depends_on_the_choices_alone(tmp_path):
    (tmp_path / "a.yaml").write_text("name: mine\ntrajectory: {align: none}\nmap: {voxel_m: 1}\n")
    (tmp_path / "b.yaml").write_text("trajectory:\n  max_gap_s: 0.01\n  align: none  # same\n")
    (tmp_path / "c.yaml").write_text("trajectory: {align: none, max_gap_s: 0.02}\n")
    a, b, c = (_load(tmp_path / f"{name}.yaml") for name in "abc")
    assert (a.name, b.name) == ("mine", "b")
    assert a.hash == b.hash == _load("raw").hash
    assert len({a.hash, c.hash, _load(None).hash}) == 3
    assert a.plain()["choices"] == {"align": "none", "max_gap_s": 0.01}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trajectory: {aline: none}", "did you mean 'align'"),
        ("trajektory: {}", "unknown key 'trajektory'; known keys are name, trajectory, map"),
        ("- 1", "expected a name and the parts"),
    ],
)
def test_a_wrong_protocol_file_is_named(tmp_path, text, message):
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(ParameterError, match=message) as error:
        _load(tmp_path / "own.yaml")
    assert "own.yaml" in str(error.value)


def test_an_unknown_preset_is_answered_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"evo: no such protocol file; presets .* raw"):
        _load("evo")


METRICS = {"ape": {"trans_m": {"rmse": 0.2, "max": None}}, "coverage": 1, "mode": "se3"}
ALIASES = {"ape_rmse_m": "ape.trans_m.rmse", "floor_m": "floor.mean_m"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ape_rmse_m > 0.1", EXIT_GATE),
        ("ape_rmse_m>0.2", 0),
        ("ape.trans_m.rmse >= 2e-1", EXIT_GATE),
        ("coverage < 0.95", 0),
        ("ape.trans_m.max > 1", EXIT_GATE),  # not judged
        ("floor_m > 1", EXIT_GATE),  # absent as a whole
    ],
)
def test_a_condition_fails_the_command_when_it_holds_or_was_not_judged(text, code):
    assert exit_code_of_gates([parse_condition(text)], METRICS, ALIASES) == code


def test_an_unknown_number_is_answered_with_similar_ones():
    with pytest.raises(UserError, match="no number 'ape_rsme_m'; it has ape_rmse_m"):
        exit_code_of_gates([parse_condition("ape_rsme_m > 1")], METRICS, ALIASES)


def test_a_misspelt_short_name_is_refused_before_there_is_a_result():
    good = [parse_condition(f"{name} > 1") for name in ("ape_rmse_m", "n_runs", "any.thing")]
    check_gate_names(good, ALIASES, ["n_runs"])
    with pytest.raises(UserError, match="no number 'ape_rsme_m'; it has ape_rmse_m"):
        check_gate_names([parse_condition("ape_rsme_m > 1")], ALIASES)


def test_of_several_results_the_one_that_failed_is_named(capsys):
    conditions = [parse_condition(text) for text in ("ape_rmse_m > 0.1", "floor_m > 1")]
    assert exit_code_of_gates(conditions, METRICS, ALIASES, label="orb") == EXIT_GATE
    assert capsys.readouterr().err.splitlines() == [
        "--fail-if: orb: ape_rmse_m > 0.1: it is 0.2",
        "--fail-if: orb: floor_m > 1: was not judged",
    ]


@pytest.mark.parametrize("text", ["ape_rmse_m", "ape > x", "> 1", "ape => 1", "ape > 1.2.3"])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="expected NAME > NUMBER"):
        parse_condition(text)
