# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Make one run of a campaign again, keep all its files, and say whether it found the same.

The run is looked for in the store by its id, or the first digits of it that no other run has, then
among those that the campaign stands for. It is made again by the software that is installed; where
versions are others than when it was made, they are named. Its folder is new and keeps everything,
whatever the campaign keeps.

Examples
--------
  aerotwin campaign reproduce wind.yaml 3f2a9c
  aerotwin campaign reproduce wind.yaml 3f2a9c --store s3://bucket/wind -o runs/again
  aerotwin campaign reproduce wind.yaml 3f2a9c --set record=all    # with a bag

Ids are in the column run_id of STORE/results.parquet. --set changes the document of the run, by a
dotted path: what does not touch the result may be watched closer. Exit codes: 0 the same, or there
is no result to compare with; 1 it differs; 2 wrong use, or it cannot be made.
"""

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_campaign.campaign_command import (
    add_file_arguments,
    add_set_argument,
    campaign_and_store,
)
from aerotwin_core.cli import say, write_json
from aerotwin_core.errors import UserError

if TYPE_CHECKING:  # the help does not wait for NumPy
    from aerotwin_campaign.single_run import ValueChange
    from aerotwin_campaign.spec import RunSpec

EXIT_DIFFERENT = 1
_DIGITS = 6


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_file_arguments(parser, json_text="what differs as JSON")
    parser.add_argument("run_id", metavar="RUN_ID", help="id of a run, or its first digits")
    add_set_argument(parser, "another value in the document of the run")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        help="new folder of the run (default: runs/TIME-NAME-ID)",
    )


def run(args: argparse.Namespace) -> int:
    """Make the run and compare."""
    from aerotwin_campaign.function import versions_of
    from aerotwin_campaign.single_run import changed_versions, changes, find_run, make_again
    from aerotwin_campaign.spec import short_id
    from aerotwin_core.run_folder import make_run_folder

    campaign, store = campaign_and_store(args)
    found = find_run(campaign, store, args.run_id)
    spec, name = _with_values(found.spec, args.changes), campaign.parameters.name
    if args.output is None:
        folder = make_run_folder(Path("runs"), f"{name}-{found.spec.id[:_DIGITS]}")
    else:
        folder = _empty(args.output)
    made = make_again(spec, folder, campaign.parameters.timeout_s)
    versions = changed_versions(found.spec.versions, versions_of(spec.run))
    different = [] if found.stored is None else changes(found.stored, made)
    payload = {
        "id": found.spec.id,
        "folder": str(folder),
        "is_same": None if found.stored is None else not different,
        "outcome": made.outcome,
        "differences": [
            dataclasses.asdict(each) | {"difference": each.difference} for each in different
        ],
        "versions": versions,
    }
    write_json(args.json, payload)
    if args.json != "-":
        _print(folder)
        say(f"outcome: {made.outcome}")
        for text in versions:
            say(f"version of {text}")
        title = f"run {short_id(found.spec.id)}"
        if found.stored is None:
            say(f"{title}: was not made before; there is nothing to compare with")
        else:
            say(f"{title}: {_verdict(different, len(made.metrics))}")
            for each in different:
                say(f"  {_text(each)}")
    return EXIT_DIFFERENT if different else 0


def _with_values(spec: "RunSpec", values: list[tuple[str, Any]]) -> "RunSpec":
    from aerotwin_campaign.paths import check_path, with_value

    document: Any = spec.document
    for path, value in values:
        parts = path.split(".")
        if len(parts) > 1 or path in document:
            check_path(document, path, is_new=False, place="--set")
        document = with_value(document, parts, value)
    return dataclasses.replace(spec, document=document)


def _empty(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UserError(f"-o: {folder} is not empty; name a new folder")
    return folder


def _print(folder: Path) -> None:
    from aerotwin_campaign.single_run import kept_files

    say(f"folder: {folder}")
    for kind, paths in kept_files(folder).items():
        listed = ", ".join(str(path.relative_to(folder)) for path in paths)
        if listed or kind != "more":
            say(f"{kind}: {listed or 'none'}")


def _verdict(different: list["ValueChange"], n_metrics: int) -> str:
    if not different:
        return f"the same: all {n_metrics} metrics, success and outcome"
    return f"different: {len(different)} of {n_metrics} metrics, success and outcome"


def _text(each: "ValueChange") -> str:
    by = "" if each.difference is None else f" (by {each.difference:.3g})"
    return f"{each.name}: {each.before} before, {each.now} now{by}"
