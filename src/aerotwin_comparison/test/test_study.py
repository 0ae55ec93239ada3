# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Studies: runs found, failures counted, statistics over runs, tables that can be pasted."""

import csv
import io
import json
import re

import numpy as np
import pytest

from aerotwin_comparison import study_command
from aerotwin_comparison.schemas import CELL, METHOD_COMPARISON, STUDY_SCHEMA
from aerotwin_comparison.study import load_study, load_study_protocol, study_section
from aerotwin_comparison.study.results import study_of
from aerotwin_comparison.study.runs import StudyRun
from aerotwin_comparison.study.scores import RunScores
from aerotwin_comparison.study.section import study_tables, verdict
from aerotwin_comparison.study.tables import (
    csv_of_method_comparisons,
    csv_of_runs,
    csv_of_summary,
    escape_latex,
    latex,
    markdown,
)
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_report import faults, write_report
from aerotwin_trajectory_evaluation import write_tum

ROUNDING = 1e-12


def scored(values, method="a", sequence="s", *, failure=()):
    """Return runs with seeds 0, 1, ... and these APE; seeds in failure have failed."""
    return [
        RunScores(
            run=StudyRun(method=method, sequence=sequence, seed=str(k)),
            failure="lost" if k in failure else "",
            values={} if k in failure else {"ape_trans_m": v, "ape_rot_deg": 2.0 * v},
        )
        for k, v in enumerate(values)
    ]


def study(*groups, spec=None):
    return study_of(
        "Trial", [s for group in groups for s in group], load_study_protocol(spec, {}), {}
    )


def path(n=200, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    s = np.linspace(0.0, 2.0 * np.pi, n)
    points = np.column_stack([10.0 * np.cos(s), 6.0 * np.sin(s), np.sin(3.0 * s)])
    yaw = s / 2.0
    q = np.column_stack([np.zeros((n, 2)), np.sin(yaw), np.cos(yaw)])
    stamps = (np.arange(n) * 50_000_000 + 10**9).astype(np.int64)
    return Trajectory(stamps, points + rng.normal(0.0, noise or 1e-9, (n, 3)), q)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with truth of two sequences and two methods with three seeds each."""
    for sequence in ("hall", "yard"):
        (tmp_path / "truth").mkdir(exist_ok=True)
        write_tum(tmp_path / f"truth/{sequence}.txt", path())
        for method, noise in (("orb", 0.01), ("dso_50%", 0.2)):
            for seed in range(3):
                file = tmp_path / f"out/{method}/{sequence}_{seed}.txt"
                file.parent.mkdir(parents=True, exist_ok=True)
                write_tum(file, path(seed=seed, noise=noise))
    (tmp_path / "study.yaml").write_text(
        "name: Three_runs & more\nruns:\n"
        "  - {reference: 'truth/{sequence}.txt', estimate: 'out/{method}/{sequence}_{seed}.txt'}\n"
        "  - {method: gone, sequence: hall, seed: 0, reference: truth/hall.txt, estimate: no.txt}\n"
    )
    return tmp_path


# --- finding runs ------------------------------------------------------------------------------


def test_patterns_name_method_sequence_and_seed_by_the_files(folder):
    name, runs = load_study(folder / "study.yaml")
    assert name == "Three_runs & more"
    assert len(runs) == 2 * 2 * 3 + 1
    first = runs[0]
    assert (first.method, first.sequence, first.seed) == ("dso_50%", "hall", "0")
    assert first.reference.endswith("truth/hall.txt")
    assert runs[-1].name == "gone/hall/0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runs: []", "no run"),
        ("runs: [{estimate: a.txt}]", "reference is missing"),
        ("runs: [{folder: x, estimate: y}]", "either folder, or reference and estimate"),
        ("runs: [{folder: 'nowhere/*'}]", "matches no run folder"),
        ("runs: [{reference: a, estimate: '{method}/b_*.txt'}]", "matches no file"),
        ("runs: [{reference: a, estimate: b}]", "method is missing"),
        ("runs: [{reference: a, estimate: b, method: m, sequence: s, map: c}]", "map and model"),
        ("runs: [{reference: a, estimates: b}]", "unknown key 'estimates'"),
        (
            "runs: [{reference: a, estimate: b, method: m, sequence: s},"
            " {reference: a, estimate: c, method: m, sequence: s}]",
            "there twice",
        ),
    ],
)
def test_a_wrong_study_file_is_refused_in_words(tmp_path, text, message):
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(UserError, match=re.escape(message)):
        load_study(tmp_path / "study.yaml")


def test_a_run_folder_names_its_slam_its_place_and_its_seed(tmp_path):
    run = tmp_path / "20260101-flight"
    (run / "bag").mkdir(parents=True)
    (run / "config.yaml").write_text(
        "parameters: {world: cliff, mission: config/missions/yaw_turns.yaml, seed: 7, slam: orb}\n"
    )
    (tmp_path / "study.yaml").write_text("runs: [{folder: '2026*'}]\n")
    (found,) = load_study(tmp_path / "study.yaml")[1]
    assert (found.method, found.sequence, found.seed) == ("orb", "cliff/yaw_turns", "7")


# --- statistics --------------------------------------------------------------------------------


def test_medians_quartiles_and_intervals_are_over_runs():
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    cell = study(scored(values)).cell("a", "s", "ape_trans_m")
    assert cell.centre == 3.0
    assert cell.quartiles == (2.0, 4.0)
    assert 1.0 <= cell.low <= 2.0 and 4.0 <= cell.high <= 5.0
    assert study(scored([1.0])).cell("a", "s", "ape_trans_m").plain()["low"] is None


def test_a_failed_run_ranks_last_and_is_never_dropped():
    found = study(scored([1.0, 2.0, 3.0, 4.0, 9.0], failure={0, 1}))
    cell = found.cell("a", "s", "ape_trans_m")
    assert (cell.n_runs, cell.n_failed, len(cell.finite)) == (5, 2, 3)
    assert cell.centre == 9.0  # the third of 3, 4, 9, failed, failed
    assert np.isinf(cell.quartiles[1])
    assert len(found.metrics()["runs"]) == 5
    assert "2 of 5 runs failed" in found.warnings()[0]
    lost = study(scored([1.0, 2.0, 3.0], failure={0, 1}))
    assert np.isinf(lost.cell("a", "s", "ape_trans_m").centre)
    assert lost.metrics()["overall"]["a"]["ape_trans_m"] is None


def test_means_are_those_of_completed_runs_and_say_how_many(tmp_path):
    found = study(scored([1.0, 2.0, 6.0, 5.0, 4.0], failure={2}), spec="xtdrone2020")
    assert found.cell("a", "s", "ape_trans_m").centre == pytest.approx(3.0, rel=ROUNDING)
    table = study_tables(found)[0]
    assert "a 4 of 5" in table.caption
    assert ("APE translation (m)", "3.000") in table.rows
    short = study(scored([1.0, 2.0]), spec="xtdrone2020")
    assert any("asks for 5 runs of each: a on s: 2" in w for w in short.warnings())


def test_pairs_are_runs_of_one_sequence_and_seed():
    rng = np.random.default_rng(0)
    hard = rng.uniform(1.0, 50.0, 12)  # what a seed does to both is far more than the methods do
    found = study(scored(hard), scored(0.95 * hard, method="b"))
    duel = next(d for d in found.duels if d.quantity.key == "ape_trans_m")
    assert duel.is_paired and duel.comparison.test == "wilcoxon"
    assert duel.winner == "b"
    assert duel.typical < 0.0
    assert verdict(found).startswith("b has the lowest APE")
    unpaired = study(scored(hard), [*scored(0.95 * hard, method="b", sequence="t")])
    duel = next(d for d in unpaired.duels if d.quantity.key == "ape_trans_m")
    assert not duel.is_paired and duel.winner == ""


def test_a_method_that_fails_where_another_does_not_is_worse():
    values = list(np.linspace(1.0, 2.0, 10))
    found = study(scored(values), scored(values, method="b", failure=set(range(10))))
    duel = next(d for d in found.duels if d.quantity.key == "ape_trans_m")
    assert duel.winner == "a"
    assert duel.typical is None and duel.plain()["median_difference"] is None


def test_few_runs_are_reported_as_never_significant():
    found = study(scored([1.0, 2.0, 3.0]), scored([2.0, 3.0, 4.0], method="b"))
    assert any("cannot reach a p-value below" in w for w in found.warnings())
    assert all(not d.winner for d in found.duels)


def test_one_run_of_each_gives_no_test_and_says_so():
    found = study(scored([1.0]), scored([2.0], method="b"))
    assert found.duels == ()
    assert any("One run of a, b: no significance test" in w for w in found.warnings())
    assert "a has the lowest APE, 1.000 m, ahead of b by one run" in verdict(found)
    assert not any(table.title == "Methods against each other" for table in study_tables(found))
    assert faults(found.metrics(), STUDY_SCHEMA) == []
    more = study(scored([1.0, 1.1]), scored([2.0], method="b"))
    assert more.duels == ()
    assert any("One run of b:" in w for w in more.warnings())


def covering(values, percent, method):
    """Return runs that cover this share of their sequence."""
    runs = scored(values, method)
    for run in runs:
        run.values["coverage_percent"] = percent
    return runs


def test_no_best_is_marked_by_errors_over_different_shares():
    found = study(covering([0.1, 0.2], 60.0, "a"), covering([0.3, 0.4], 99.0, "b"))
    table = study_tables(found)[0]
    assert [table.columns[column] for _, column in table.best] == ["coverage [%]"]
    assert "no best is marked by error" in table.caption
    assert "they cover different shares (a 60 %, b 99 %)" in verdict(found)
    assert any("On s the methods cover different shares" in w for w in found.warnings())
    alike = study(covering([0.1, 0.2], 98.0, "a"), covering([0.3, 0.4], 99.0, "b"))
    assert len(study_tables(alike)[0].best) == 3
    assert not any("different shares" in w for w in alike.warnings())


def test_a_relative_error_as_large_as_its_step_is_flagged():
    choices = {"trajectory": {"choices": {"rpe_m": 0.5}}}
    runs = [*scored([0.1, 0.2]), *scored([0.1, 0.2], method="b")]
    for run, rpe in zip(runs, (0.525, 0.1, 0.02, 0.5)):
        run.values["rpe_trans_m"] = rpe
    found = study_of("Trial", runs, load_study_protocol(None, {}), choices)
    (said,) = [w for w in found.warnings() if "step itself" in w]
    assert said.startswith("RPE over 0.5 m is as large as the step itself in 2 runs (a/s/0, b/s/1)")


def test_p_values_are_corrected_over_the_pairs_of_methods():
    rng = np.random.default_rng(1)
    groups = [scored(rng.uniform(1.0, 2.0, 8), method=m) for m in "abc"]
    duels = [d for d in study(*groups).duels if d.quantity.key == "ape_trans_m"]
    smallest = min(duels, key=lambda d: d.comparison.p_value)
    assert smallest.p_adjusted == pytest.approx(min(1.0, 3.0 * smallest.comparison.p_value))


# --- the command -------------------------------------------------------------------------------


def test_the_command_scores_counts_and_writes(folder, capsys):
    out = folder / "result"
    code = main(["evaluate", "study", str(folder / "study.yaml"), "-o", str(out), "--json", "-"])
    assert code == 0
    numbers = json.loads(capsys.readouterr().out)
    assert (numbers["n_runs"], numbers["n_failed"]) == (13, 1)
    overall = numbers["overall"]
    # 0.01 m of noise on three axes.
    assert overall["orb"]["ape_trans_m"] == pytest.approx(0.01 * np.sqrt(3.0), rel=0.1)
    assert overall["dso_50%"]["ape_trans_m"] == pytest.approx(0.2 * np.sqrt(3.0), rel=0.1)
    assert overall["gone"]["ape_trans_m"] is None
    for name in ("report.html", "metrics.json", "study.md", "study.tex", "runs.csv", "summary.csv",
                 "duels.csv"):  # fmt: skip
        assert (out / name).stat().st_size > 100
    assert set(numbers["protocol"]) == {"study", "trajectory", "map"}


def test_the_terminal_gets_a_table_that_nothing_escapes(folder, capsys):
    assert main(["evaluate", "study", str(folder / "study.yaml")]) == 0
    said = capsys.readouterr().out
    assert "\\" not in said
    assert "|" not in said
    assert re.search(r"^method +runs +APE \[m\]", said, re.M)
    assert re.search(r"^orb +3/3 +0\.0\d\d \*", said, re.M)
    assert "dso_50%" in said
    assert "note: One run of gone: no significance test" in said


def test_the_command_fails_by_conditions(folder, capsys):
    arguments = ["evaluate", "study", str(folder / "study.yaml"), "--json", "-"]
    assert main([*arguments, "--fail-if", "n_failed > 0"]) == 3
    assert main([*arguments, "--fail-if", "overall.orb.ape_trans_m > 0.1"]) == 0
    assert main([*arguments, "--fail-if", "overall.gone.ape_trans_m > 0.1"]) == 3
    assert "was not judged" in capsys.readouterr().err
    assert main(["evaluate", "study"]) == 2
    assert "no runs" in capsys.readouterr().err


def test_a_misspelt_condition_is_refused_before_a_run_is_read(capsys):
    assert main(["evaluate", "study", "gone.yaml", "--fail-if", "n_faild > 0"]) == 2
    assert "the result has no number 'n_faild'" in capsys.readouterr().err


def test_the_protocol_decides_and_its_hash_tells(folder, capsys):
    arguments = ["evaluate", "study", str(folder / "study.yaml"), "--json", "-", "--protocol"]
    (folder / "mine.yaml").write_text(
        "name: mine\nstudy: {max_ape_m: 0.1}\ntrajectory: {rpe_m: 2.0}\n"
    )
    main([*arguments, str(folder / "mine.yaml")])
    strict = json.loads(capsys.readouterr().out)
    main([*arguments, "xtdrone2020"])
    mean = json.loads(capsys.readouterr().out)
    assert strict["n_failed"] == 7
    assert mean["protocol"]["study"]["choices"]["centre"] == "mean"
    assert mean["protocol"]["trajectory"]["choices"]["rpe_m"] == 0.5
    hashes = {numbers["protocol"]["study"]["hash"] for numbers in (strict, mean)}
    assert len(hashes) == 2
    assert main([*arguments, "xtdrone2019"]) == 2
    assert set(study_command.ALIASES.values()) <= set(mean)


# --- tables ------------------------------------------------------------------------------------

HARD = r"50%_{a}&b$#~^\|<>[x]"


def latex_problems(text):
    """Return what LaTeX would stumble over: bare signs, open braces, rows of unequal length."""
    problems, depth = [], 0
    body = text.replace(r"\\", "\n")
    for k, sign in enumerate(body):
        is_escaped = k > 0 and body[k - 1] == "\\"
        if sign in "{}" and not is_escaped:
            depth += 1 if sign == "{" else -1
        if sign in "_#^~" and not is_escaped:
            problems.append(body[k - 10 : k + 10])
        if depth < 0:
            problems.append("closed too often")
    if depth:
        problems.append("left open")
    for tabular in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.S):
        rows = [row for row in tabular[1].split(r"\\") if "&" in row]
        problems += [
            row for row in rows if len(re.findall(r"(?<!\\)&", row)) + 1 != len(tabular[0])
        ]
    return problems


def test_tables_in_latex_have_no_bare_sign_whatever_the_names_are():
    found = study(scored([1.0, 2.0], method=HARD), scored([2.0, 3.0], method="b", failure={1}))
    text = latex(study_tables(found))
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert latex_problems("\n".join(lines)) == []
    assert not re.search(r"(?<!\\)%", "\n".join(lines))
    assert text.count("\\toprule") == text.count("\\bottomrule") == len(study_tables(found))
    assert escape_latex(HARD) == (
        r"50\%\_\{a\}\&b\$\#\textasciitilde{}\textasciicircum{}\textbackslash{}"
        r"\textbar{}\textless{}\textgreater{}{[}x{]}"
    )


def test_tables_in_markdown_keep_their_columns_whatever_the_names_are():
    found = study(scored([1.0, 2.0], method="a|b\n*c*"))
    text = markdown(study_tables(found), found.name)
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    assert r"a\|b \*c\*" in text


def test_runs_in_csv_can_be_read_back_and_start_no_formula():
    found = study(scored([1.0, 2.0], method="=1+1", failure={1}))
    rows = list(csv.DictReader(io.StringIO(csv_of_runs(found))))
    assert [row["failure"] for row in rows] == ["", "lost"]
    assert rows[0]["method"] == "'=1+1"
    assert float(rows[0]["ape_trans_m"]) == 1.0 and rows[1]["ape_trans_m"] == ""


def test_the_summary_in_csv_is_that_of_the_result_in_full_digits():
    found = study(scored([1.0, 2.0, 4.0 / 3.0], method="=a", failure={1}), scored([5.0] * 3, "b"))
    rows = list(csv.DictReader(io.StringIO(csv_of_summary(found))))
    assert len(rows) == 2 * 2 * 2  # methods, the sequence and all, scores
    first, duels = rows[0], list(csv.DictReader(io.StringIO(csv_of_method_comparisons(found))))
    assert (first["method"], first["quantity"], first["unit"]) == ("'=a", "ape_trans_m", "m")
    assert [first[n] for n in ("n_runs", "n_failed", "n_values")] == ["3", "1", "2"]
    # 1 and 4/3, and the failed run behind them: it takes part in the upper quartile.
    assert (float(first["median"]), first["q75"]) == (4.0 / 3.0, "")
    assert list(first) == CELL["required"]
    assert list(duels[0]) == METHOD_COMPARISON["required"]
    assert (duels[0]["a"], duels[0]["b"], duels[0]["n_a"]) == ("'=a", "b", "3")
    assert float(duels[0]["p_adjusted"]) == found.duels[0].p_adjusted


def test_the_report_draws_boxes_and_carries_a_verdict(tmp_path):
    rng = np.random.default_rng(0)
    groups = [
        scored(rng.uniform(1.0, 2.0, 5), method=m, sequence=s) for m in "ab" for s in ("x", "y")
    ]
    section = study_section(study(*groups))
    assert "runs completed" in section.verdict
    assert [f.title for f in section.figures] == ["APE [m]", "APE rotation [deg]"]
    write_report(tmp_path, title="t", sections=[section], configuration={})
    assert (tmp_path / "report.html").stat().st_size > 10_000
    document = json.loads((tmp_path / "metrics.json").read_text())
    assert faults(document["sections"]["study"], STUDY_SCHEMA) == []


def test_a_study_in_which_all_failed_is_still_reported(tmp_path):
    found = study(scored([1.0, 2.0], failure={0, 1}))
    section = study_section(found)
    assert section.verdict == "0 of 2 runs completed."
    assert faults(section.metrics, STUDY_SCHEMA) == []
    write_report(tmp_path, title="t", sections=[section], configuration={})
