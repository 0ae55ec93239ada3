# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""List the scenarios that come with aerotwin, and the words that scenario files may use.

aerotwin scenario list
aerotwin scenario list --signals
aerotwin scenario list --events
"""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--signals", action="store_true", help="signals and metrics that conditions may name"
    )
    group.add_argument(
        "--events", action="store_true", help="what events may do, with their parameters"
    )


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    from aerotwin_core.cli import say
    from aerotwin_scenarios.flights import printing

    if args.signals:
        lines = printing.signal_lines()
    elif args.events:
        lines = printing.event_lines()
    else:
        lines = printing.shipped_lines()
    for line in lines:
        say(line)
    return 0
