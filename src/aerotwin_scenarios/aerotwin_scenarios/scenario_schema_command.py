# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the JSON schema of scenario files, with which editors complete and check them.

An editor with yaml-language-server reads it from the first line of a scenario:
# yaml-language-server: $schema=scenario.schema.json

aerotwin scenario schema -o scenario.schema.json
"""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("-o", "--out", metavar="FILE", default="-", help="file (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Write the schema."""
    from aerotwin_core.cli import write_json
    from aerotwin_scenarios.flights.schema import scenario_schema

    write_json(args.out, scenario_schema())
    return 0
