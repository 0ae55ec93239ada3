# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the verbs of campaigns share."""

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_core.cli import progress, say, write_json, write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.output_lock import locked_output

if TYPE_CHECKING:  # the help does not wait for NumPy
    from aerotwin_campaign.campaign_file import Campaign
    from aerotwin_campaign.campaign_report import CampaignReport
    from aerotwin_campaign.campaign_run import CampaignRun, Engine
    from aerotwin_campaign.store import Store

EXIT_NOT_MADE = 1
_STORES = "runs/campaigns"
_LOCAL = "local"
_MOST_WORKERS = 1024
_MOST_FOR_PAGE = 2000
"""Runs of a campaign whose page is written whenever it ends."""


def add_file_arguments(parser: argparse.ArgumentParser, json_text: str = "counts as JSON") -> None:
    """Declare the campaign, its store and the JSON."""
    parser.add_argument("file", metavar="FILE", type=Path, help="campaign, YAML")
    add_store_argument(parser)
    parser.add_argument("--json", metavar="FILE", help=f'{json_text}; "-" = standard output')


def add_set_argument(parser: argparse.ArgumentParser, of: str) -> None:
    """Declare ``--set``, of which `args.changes` has key and value; it may be repeated."""
    parser.add_argument(
        "--set", metavar="KEY=VALUE", dest="changes", type=assignment, action="append", default=[],
        help=f"{of}; may be repeated",
    )  # fmt: skip


def assignment(text: str) -> tuple[str, Any]:
    """Return key and value of KEY=VALUE, whose value is YAML.

    Raises `argparse.ArgumentTypeError` if it is something else.
    """
    from aerotwin_core.documents import DocumentError, parse_yaml

    key, mark, value = text.partition("=")
    if not (mark and key):
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, found {text!r}")
    try:
        return key, parse_yaml(value)
    except DocumentError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def add_store_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the store."""
    parser.add_argument(
        "--store",
        metavar="PATH",
        help=f"folder or URL of the results, as s3://bucket/wind (default: {_STORES}/NAME)",
    )


def add_junit_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the JUnit file."""
    parser.add_argument(
        "--junit", metavar="FILE", type=Path, help="runs as test cases, for build servers"
    )


def show_status(args: argparse.Namespace) -> int:
    """Print what the store has of a campaign."""
    found = campaign_run_at(args.file, args.store, dict(args.changes))
    _read(found)
    _finish(args, found)
    return 0


def run_campaign(args: argparse.Namespace) -> int:
    """Run what is missing of a campaign; return the exit code."""
    from aerotwin_campaign.campaign_run import not_made_text
    from aerotwin_campaign.execution import MachineFailure
    from aerotwin_campaign.live_progress import LiveProgress

    found = campaign_run_at(args.file, args.store, dict(args.changes))
    engine = _engine(args, found)
    with ExitStack() as stack:
        if found.store.local is not None:
            stack.enter_context(locked_output(found.store.local))
        found.store.remove_unfinished()
        _read(found)
        _write_campaign(args, found)
        state = found.progress
        if args.json != "-" and state.n_done:
            say(f"{state.n_done} of {state.n_runs} runs are done already")
        ended = ""
        with LiveProgress(state, partial(print, file=sys.stderr, flush=True)) as shown:
            try:
                found.carry_out(engine, shown.update)
            except MachineFailure as error:
                ended = str(error)
            except KeyboardInterrupt:
                shown.close()
                _finish(args, found)
                raise
        # A store that went away would not take the page, and how the campaign ended be lost.
        report = None if ended else _write_reports(args, found)
    _finish(args, found, report)
    if report is None or state.n_left:
        print(f"aerotwin campaign: {ended or not_made_text(state)}; what is done is stored; then: "
              f"aerotwin campaign resume {args.file}", file=sys.stderr)  # fmt: skip
        return EXIT_NOT_MADE
    return report.exit_code()


def campaign_and_store(args: argparse.Namespace) -> "tuple[Campaign, Store]":
    """Return the campaign of the file, and its store."""
    return _opened(args.file, args.store, {})


def campaign_run_at(
    file: Path, store: str | None, changes: Mapping[str, Any] | None = None
) -> "CampaignRun":
    """Return the campaign of a file with a store, its own by default, which is not read yet.

    `changes` are values in place of the file's, by dotted key.
    """
    from aerotwin_campaign.campaign_run import CampaignRun

    return CampaignRun(*_opened(file, store, changes or {}))


def _opened(file: Path, store: str | None, changes: Mapping[str, Any]) -> "tuple[Campaign, Store]":
    from aerotwin_campaign.campaign_file import load_campaign
    from aerotwin_campaign.store import Store

    campaign = load_campaign(file, changes)
    url = store or f"{_STORES}/{campaign.parameters.name}"
    return campaign, Store(url if "://" in url else str(Path(url).absolute()))


def _engine(args: argparse.Namespace, found: "CampaignRun") -> "Engine":
    if args.workers is not None and not 1 <= args.workers <= _MOST_WORKERS:
        raise UserError(f"--workers: expected 1 to {_MOST_WORKERS}, found {args.workers}")
    if args.workers is not None and args.scheduler not in (None, _LOCAL):
        raise UserError("--workers: a cluster has its own; leave it out with --scheduler")
    n_workers = args.workers or len(os.sched_getaffinity(0))
    common: dict[str, Any] = {
        "store": found.store, "options": found.options, "run": found.campaign.run
    }  # fmt: skip
    if args.scheduler is None:
        from aerotwin_campaign.local_engine import run_locally

        return partial(run_locally, n_workers=n_workers, **common)
    from aerotwin_campaign.dask_engine import run_on_dask

    scheduler = None if args.scheduler == _LOCAL else args.scheduler
    on_connection = (lambda _: None) if args.json == "-" else say
    return partial(
        run_on_dask,
        scheduler=scheduler,
        n_workers=n_workers,
        on_connection=on_connection,
        **common,
    )


def _read(found: "CampaignRun") -> None:
    with progress(len(found.specs), "specifications") as bar:
        found.read_store(bar.update)


def _write_campaign(args: argparse.Namespace, found: "CampaignRun") -> None:
    import yaml

    from aerotwin_campaign.campaign_file import changed
    from aerotwin_campaign.store import CAMPAIGN
    from aerotwin_core.parameters import read_yaml

    try:
        content = args.file.read_bytes()
        if args.changes:
            plain = changed(read_yaml(args.file), dict(args.changes))
            content = yaml.safe_dump(plain, sort_keys=False).encode()
        found.store.write_file(CAMPAIGN, content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            f"{found.store.url}: cannot be written ({reason}); name another --store"
        ) from None


def write_page(report: "CampaignReport") -> tuple[str, dict[str, Any]]:
    """Write the page of a report into its store; return where it is, and its document.

    Raises `UserError` if it cannot be written.
    """
    from aerotwin_campaign.campaign_report import PAGE

    page, document = report.page(report.store.local)
    where = page_url(report)
    try:
        report.store.write_file(PAGE, page.encode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"{where}: cannot be written ({reason}); name another file") from None
    return where, document


def page_url(report: "CampaignReport") -> str:
    """Return where the page of a report is in its store."""
    from aerotwin_campaign.campaign_report import PAGE

    return f"{report.store.url.rstrip('/')}/{PAGE}"


def write_junit(path: Path | None, report: "CampaignReport") -> None:
    """Write the runs of a campaign as a JUnit file, if one is asked for."""
    if path is None:
        return
    from aerotwin_campaign.junit import junit_xml

    text = junit_xml(report.name, report.results, report.left, report.not_made)
    write_text_atomically(path, text)


def _write_reports(args: argparse.Namespace, found: "CampaignRun") -> "CampaignReport":
    """Write the JUnit file, the overall figures, and the page if it takes no long."""
    from aerotwin_campaign.campaign_report import report_of_campaign
    from aerotwin_campaign.overall_figures import write_values

    report = report_of_campaign(found, str(args.file))
    write_junit(args.junit, report)
    if found.campaign.parameters.figures:
        write_values(found.store, report.overall)
    if len(report.results) <= _MOST_FOR_PAGE:
        write_page(report)
    return report


def _finish(
    args: argparse.Namespace, found: "CampaignRun", report: "CampaignReport | None" = None
) -> None:
    """Print the counts and what is noteworthy."""
    state = found.progress
    summary = found.table.summary() if report is None else report.summary
    payload = state.record() | {"store": found.store.url, "summary": summary}
    write_json(args.json, payload)
    if args.json == "-":
        return
    say(f"{state.n_runs} runs: {state.n_done} done, {state.n_failures} of them failed, "
        f"{state.n_left} left")  # fmt: skip
    unknown = found.table.unknown_metrics()
    if unknown:
        say(f"measure: no run has {', '.join(unknown)}")
    if state.n_done:
        say(f"results: {found.store.url}/results.parquet")
    if report is not None and len(report.results) > _MOST_FOR_PAGE:
        say(f"report: is made by: aerotwin campaign report {args.file}")
    elif report is not None:
        say(f"report: {page_url(report)}")
