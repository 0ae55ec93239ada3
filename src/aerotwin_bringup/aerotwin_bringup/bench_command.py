# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Deprecated: `make bench` in a checkout of the source.

Measure speed, as ratios to a peer or a limit in the same run.
The command goes with the next version.
"""

import argparse

from aerotwin_bringup.evidence_alias import evidence_command


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    evidence_command("bench").configure(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run what moved; its exit code."""
    return evidence_command("bench").run(arguments)
