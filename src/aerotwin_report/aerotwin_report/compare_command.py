# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Show the results of several runs side by side.

A run is a folder with metrics.json, or that file. Writes one page with the key numbers and all
measures, the best marked, and links to the reports of the runs.

Examples
--------
  aerotwin report compare runs/a runs/b runs/c -o comparison
  aerotwin report compare a/metrics.json b/metrics.json --name baseline --name mine -o comparison
"""

import argparse
from pathlib import Path

from aerotwin_core.errors import UserError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="folder or metrics.json")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True)
    parser.add_argument(
        "--name", metavar="NAME", action="append", help="of each run, in their order"
    )
    parser.add_argument("--title", default="Runs side by side", help="heading of the page")


def run(args: argparse.Namespace) -> int:
    """Read, compare, write."""
    from aerotwin_report.comparison import write_comparison
    from aerotwin_report.runs import load_runs

    if len(args.runs) < 2:
        raise UserError("expected at least two runs to compare, found one")
    runs = load_runs(args.runs, args.name)
    print(write_comparison(args.output, runs, title=args.title))
    return 0
