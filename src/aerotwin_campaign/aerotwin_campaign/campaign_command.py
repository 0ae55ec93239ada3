# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the verbs of campaigns share."""

import argparse
import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_core.cli import progress, say, write_json
from aerotwin_core.errors import UserError
from aerotwin_core.output_lock import locked_output

if TYPE_CHECKING:  # the help does not wait for NumPy
    from aerotwin_campaign.campaign_file import Campaign
    from aerotwin_campaign.campaign_run import CampaignRun, Engine
    from aerotwin_campaign.store import Store

EXIT_NOT_MADE = 1
_STORES = "runs/campaigns"
_LOCAL = "local"
_MOST_WORKERS = 1024


def add_file_arguments(parser: argparse.ArgumentParser, json_text: str = "counts as JSON") -> None:
    """Declare the campaign, its store and the JSON."""
    parser.add_argument("file", metavar="FILE", type=Path, help="campaign, YAML")
    parser.add_argument(
        "--store",
        metavar="PATH",
        help=f"folder or URL of the results, as s3://bucket/wind (default: {_STORES}/NAME)",
    )
    parser.add_argument("--json", metavar="FILE", help=f'{json_text}; "-" = standard output')


def show_status(args: argparse.Namespace) -> int:
    """Print what the store has of a campaign."""
    found = _campaign_run(args)
    _read(found)
    _finish(args, found)
    return 0


def run_campaign(args: argparse.Namespace) -> int:
    """Run what is missing of a campaign; return the exit code."""
    from aerotwin_campaign.campaign_run import not_made_text
    from aerotwin_campaign.execution import MachineFailure
    from aerotwin_campaign.live_progress import LiveProgress

    found = _campaign_run(args)
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
    _finish(args, found)
    if state.n_left:
        print(f"aerotwin campaign: {ended or not_made_text(state)}; what is done is stored; then: "
              f"aerotwin campaign resume {args.file}", file=sys.stderr)  # fmt: skip
        return EXIT_NOT_MADE
    return found.exit_code()


def campaign_and_store(args: argparse.Namespace) -> "tuple[Campaign, Store]":
    """Return the campaign of the file, and its store."""
    from aerotwin_campaign.campaign_file import load_campaign
    from aerotwin_campaign.store import Store

    campaign = load_campaign(args.file)
    url = args.store or f"{_STORES}/{campaign.parameters.name}"
    return campaign, Store(url if "://" in url else str(Path(url).absolute()))


def _campaign_run(args: argparse.Namespace) -> "CampaignRun":
    from aerotwin_campaign.campaign_run import CampaignRun

    return CampaignRun(*campaign_and_store(args))


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
    from aerotwin_campaign.store import CAMPAIGN

    try:
        if args.file.is_file():
            found.store.write_file(CAMPAIGN, args.file.read_bytes())
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            f"{found.store.url}: cannot be written ({reason}); name another --store"
        ) from None


def _finish(args: argparse.Namespace, found: "CampaignRun") -> None:
    """Print the counts and what is noteworthy."""
    state = found.progress
    payload = state.record() | {"store": found.store.url, "summary": found.table.summary()}
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
