# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Say how much of a campaign is done, failed and left; nothing is run.

Examples
--------
  aerotwin campaign status wind.yaml
  aerotwin campaign status wind.yaml --store s3://bucket/wind --json -
"""

import argparse

from aerotwin_campaign.campaign_command import add_file_arguments, add_set_argument, show_status


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_file_arguments(parser)
    add_set_argument(parser, "in place of what the campaign file has")


def run(args: argparse.Namespace) -> int:
    """Read the store and print."""
    return show_status(args)
