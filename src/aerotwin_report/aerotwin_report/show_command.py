# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Print what the report of a run says first: warnings, verdicts, key numbers.

Examples
--------
  aerotwin report show runs/20261121-001613-demo
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", type=Path, help="folder or metrics.json")


def run(args: argparse.Namespace) -> int:
    """Read and print."""
    from aerotwin_report.runs import load_run, summary_lines

    result = load_run(args.run)
    print("\n".join(summary_lines(result)))
    if result.report is not None:
        print(f"\n{result.report}")
    return 0
