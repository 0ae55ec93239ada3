# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Score many runs of several methods on several sequences, and compare the methods.

The runs stand in a YAML file, or are run folders of aerotwin. Failed runs are counted, none is
dropped. Writes report.html, metrics.json and the tables as Markdown, LaTeX and CSV.

A study file names the runs; {method}, {sequence}, {seed} and * are found by the files that there
are, relative to it:

  name: Two methods
  runs:
    - {reference: "truth/{sequence}.txt", estimate: "out/{method}/{sequence}_{seed}.txt"}
    - {method: orb, sequence: hall, seed: 7, reference: hall.csv, estimate: "hall.bag:/odom"}

Examples
--------
  aerotwin evaluate study study.yaml -o result
  aerotwin evaluate study --runs 'runs/study/*' --protocol xtdrone2020 -o result
  aerotwin evaluate study study.yaml --json - --fail-if "n_failed > 0"
  aerotwin evaluate study study.yaml --fail-if "overall.stereo_odometry.ape_trans_m > 0.3"
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aerotwin_core.cli import progress, write_json, write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.gate import add_gate_argument, check_gate_names, exit_code_of_gates
from aerotwin_core.output_lock import refuse_inputs_as_output

ALIASES = {"failed": "n_failed", "runs": "n_runs"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("study", metavar="STUDY", nargs="?", help="YAML file that names the runs")
    parser.add_argument(
        "--runs",
        metavar="PATTERN",
        nargs="+",
        default=[],
        help="run folders of aerotwin, * and ? allowed",
    )
    parser.add_argument(
        "--protocol",
        metavar="P",
        help="xtdrone2020 or another preset, or YAML with the parts trajectory, map and study",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="report and tables")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")
    add_gate_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Read, score, compare, print."""
    from aerotwin_comparison.study import evaluate_study
    from aerotwin_comparison.study.section import study_tables, verdict
    from aerotwin_report.tables import table_text

    check_gate_names(args.fail_if, ALIASES)
    name, runs = _runs(args)
    bar = progress(len(runs), "runs", unit="run")
    with bar:
        study = evaluate_study(
            name, runs, on_run=lambda _: bar.update(1), **study_protocols(args.protocol)
        )
    numbers = study.metrics()
    if args.output is not None:
        _write(study, args)
    if args.json != "-":
        for table in study_tables(study)[:-2] or study_tables(study):
            print(f"{table_text(table)}\n")
        print(verdict(study))
        for warning in study.warnings():
            print(f"note: {warning}")
    write_json(args.json, numbers)
    return exit_code_of_gates(args.fail_if, numbers, ALIASES)


def _runs(args: argparse.Namespace):
    from aerotwin_comparison.study.runs import (
        checked,
        folders_without_slam,
        load_study,
        runs_of_folders,
    )

    if args.study is None and not args.runs:
        raise UserError("no runs: name a study file, or run folders with --runs")
    name, runs = ("Study", []) if args.study is None else load_study(args.study)
    if args.runs:
        if left_out := folders_without_slam(args.runs):
            print(f"left out, flown without a SLAM: {', '.join(left_out)}", file=sys.stderr)
        folders = runs_of_folders(args.runs)
        refuse_inputs_as_output(args.output, *(run.folder for run in folders))
        runs = checked([*runs, *folders], "STUDY and --runs")
    return name, runs


def study_protocols(source: str) -> dict[str, Any]:
    """Return the parts of a protocol, a preset or a file, as arguments of `evaluate_study`.

    A preset of one part is the default of the others.
    """
    from aerotwin_comparison.study.protocol import load_study_protocol
    from aerotwin_core.protocol import load_protocol
    from aerotwin_map_evaluation import MapProtocol
    from aerotwin_map_evaluation.protocol import PRESETS as MAP_PRESETS
    from aerotwin_trajectory_evaluation import TrajectoryProtocol
    from aerotwin_trajectory_evaluation.protocol import PRESETS as TRAJECTORY_PRESETS

    names = [*MAP_PRESETS, *TRAJECTORY_PRESETS]
    study = load_study_protocol(source, dict.fromkeys(names))

    def part(cls: type, name: str, presets: Mapping[str, Any]):
        known = {preset: presets.get(preset, {}) for preset in [*names, study.name]}
        return load_protocol(cls, name, source, known)

    return {
        "protocol": study,
        "trajectory": part(TrajectoryProtocol, "trajectory", TRAJECTORY_PRESETS),
        "maps": part(MapProtocol, "map", MAP_PRESETS),
    }


def _write(study, args: argparse.Namespace) -> None:
    from aerotwin_comparison.study import study_section
    from aerotwin_comparison.study.section import study_tables
    from aerotwin_comparison.study.tables import (
        csv_of_method_comparisons,
        csv_of_runs,
        csv_of_summary,
        latex,
        markdown,
    )
    from aerotwin_report import write_report

    section, tables = study_section(study), study_tables(study)
    write_report(
        args.output,
        title=study.name,
        summary=f"{len(study.runs)} runs, {len(study.methods)} methods, "
        f"{len(study.sequences)} sequences.",
        sections=[section],
        configuration={
            "study": args.study,
            "runs": list(args.runs),
            "protocol": section.metrics["protocol"],
        },
    )
    write_text_atomically(args.output / "study.md", markdown(tables, study.name))
    write_text_atomically(args.output / "study.tex", latex(tables))
    write_text_atomically(args.output / "summary.csv", csv_of_summary(study))
    write_text_atomically(args.output / "duels.csv", csv_of_method_comparisons(study))
    write_text_atomically(args.output / "runs.csv", csv_of_runs(study))
