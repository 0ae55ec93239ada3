# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the report of a campaign: one page of success, metrics, sensitivity and the worst runs.

SOURCE is a campaign file, whose store is read and nothing is run; or a store, whose table is read
as it is, whatever software made it. The page holds all it shows and loads nothing; its links to
runs are relative. It has the success rate over all and by axis with exact intervals, expectations,
metrics, what each axis explains, failures by outcome, the worst runs and how to make them again.

Examples
--------
  aerotwin campaign report wind.yaml                         # writes STORE/report.html
  aerotwin campaign report runs/campaigns/wind -o wind.html
  aerotwin campaign report wind.yaml --junit wind.xml --fail-if "success_share < 0.95"

--junit is for build servers: a test case for each run, in a suite for each value of the first axis
of texts, as the scenario; a run that is not made is skipped, and one that campaign run could not
make is an error. Exit code 3 if a condition holds: of fail_if in the campaign file, or --fail-if.
"""

import argparse
from pathlib import Path

from aerotwin_campaign.campaign_command import add_junit_argument, add_store_argument
from aerotwin_core.cli import say, write_json, write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.gate import add_gate_argument
from aerotwin_core.output_lock import refuse_inputs_as_output


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="SOURCE", help="campaign file, or store: a folder or URL")
    add_store_argument(parser)
    parser.add_argument(
        "-o", "--output", metavar="PAGE", type=Path, help="HTML (default: STORE/report.html)"
    )
    add_junit_argument(parser)
    parser.add_argument(
        "--json", metavar="FILE", help='numbers of the page as JSON; "-" = standard output'
    )
    add_gate_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Read and write; return the exit code."""
    from aerotwin_campaign.campaign_command import campaign_run_at, write_junit, write_page
    from aerotwin_campaign.campaign_report import report_of_campaign, report_of_store
    from aerotwin_campaign.store import Store

    for path in (args.output, args.junit):
        refuse_inputs_as_output(path, args.source)
    if "://" in args.source or Path(args.source).is_dir():
        if args.store is not None:
            raise UserError("--store: SOURCE is a store already; leave one of them out")
        url = args.source if "://" in args.source else str(Path(args.source).absolute())
        report = report_of_store(Store(url), args.fail_if)
    else:
        found = campaign_run_at(Path(args.source), args.store)
        found.read_store()
        report = report_of_campaign(found, args.source, args.fail_if)
    if args.output is None:
        where, document = write_page(report)
    else:
        page, document = report.page(args.output.absolute().parent)
        write_text_atomically(args.output, page)
        where = str(args.output)
    write_junit(args.junit, report)
    write_json(args.json, document)
    if args.json != "-":
        results = report.results
        say(f"{len(results)} runs: {results.summary['n_failures']} failed")
        say(f"report: {where}")
    return report.exit_code()
