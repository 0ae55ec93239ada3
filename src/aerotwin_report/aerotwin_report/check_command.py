# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Check a metrics.json against its written schema; exit code 1 when it breaks it.

Examples
--------
  aerotwin report check runs/20261121-001613-demo
  aerotwin report check result/metrics.json
"""

import argparse
import sys
from pathlib import Path

EXIT_BROKEN = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", type=Path, help="folder or metrics.json")


def run(args: argparse.Namespace) -> int:
    """Read, check, print."""
    from aerotwin_report.runs import document_faults, read_document

    file = args.run / "metrics.json" if args.run.is_dir() else args.run
    found = document_faults(read_document(file))
    for fault in found:
        print(f"{file}: {fault}", file=sys.stderr)
    if not found:
        print(f"{file}: obeys its schema")
    return EXIT_BROKEN if found else 0
