# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Show the results of several runs side by side.

A run is a folder with metrics.json, or that file; one of several estimates takes part with each of
them. Writes one page with the key numbers and all measures, and links to the reports of the runs.
The best is marked where the runs can be compared: not over different references, worlds, missions
or protocols, nor where estimates cover different parts of a reference.

Examples
--------
  aerotwin report compare runs/a runs/b runs/c -o comparison
  aerotwin report compare a/metrics.json b/metrics.json --name baseline --name mine -o comparison
"""

import argparse
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.output_lock import refuse_inputs_as_output


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="folder or metrics.json")
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, required=True, help="page and numbers"
    )
    parser.add_argument(
        "--name", metavar="NAME", action="append", help="one for each RUN, in their order"
    )
    parser.add_argument("--title", default="Runs side by side", help="heading of the page")


def run(args: argparse.Namespace) -> int:
    """Read, compare, write."""
    from aerotwin_report.comparison import comparison_section, write_comparison
    from aerotwin_report.runs import load_runs, split_run
    from aerotwin_report.tables import table_text

    refuse_inputs_as_output(args.output, *args.runs)
    runs = [part for run in load_runs(args.runs, args.name) for part in split_run(run)]
    if len(runs) < 2:
        raise UserError("expected at least two runs or estimates to compare, found one")
    section = comparison_section(runs)
    for table in section.tables[:1]:
        print(table_text(table))
    print(section.verdict)
    print(write_comparison(args.output, runs, title=args.title))
    return 0
