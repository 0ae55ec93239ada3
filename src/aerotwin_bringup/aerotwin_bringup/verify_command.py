# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Deprecated: `make verify` in a checkout of the source.

Collect the long evidence: seeds never used for tuning, all listed, none dropped.
The command goes with the next version.
"""

import argparse

from aerotwin_bringup.evidence_alias import evidence_command


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    evidence_command("verify").configure(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run what moved; its exit code."""
    return evidence_command("verify").run(arguments)
