# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Search the mildest disturbance of a campaign that breaks an expectation.

The axes of the campaign lead from mild to severe: from the first of their numbers to the last. One
axis is sampled and bisected between a value that passes and one that breaks; a value passes if it
does with every seed. Several are searched for the point next to the mild ends, each axis counted in
parts of its way. Every evaluation is an ordinary run of the store: what was made is not made again,
so an interrupted search goes on where it was.

A run breaks if it is no success, as a flight whose expectations are not all met; or if expectation
N is not met (--expect N); or if a condition holds (--breaks "miss_m > 0.5").

Examples
--------
  aerotwin campaign minimise gust.yaml                 # all axes of the file
  aerotwin campaign minimise gust.yaml --expect 1 --workers 4
  aerotwin campaign minimise gust.yaml --axis events.gust.parameters.north_m_s=0:25
  aerotwin campaign minimise wind.yaml --breaks "miss_m > 0.5" --tolerance 0.002

where gust.yaml is, for two axes:

  name: gust
  scenario: gust
  axes:
    events.gust.parameters.north_m_s: {uniform: {from: 0, to: 25}}
    events.gust.duration_s: {uniform: {from: 0.5, to: 8}}
  sampling: sobol
  samples: 64                         # of campaign run; the search takes no samples
  seeds: [1, 2, 3]

It prints the mildest values that break, the severest below them that pass, the margins (of the
least robustness, or to the limit of the condition), and the command that flies the run again. What
passes between the samples is not seen, nor is a milder break that only a narrow range has. Exit
codes: 0 found; 1 nothing breaks, or the mildest values do already; 2 wrong use.
"""

import argparse
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from aerotwin_campaign.campaign_command import add_file_arguments, campaign_and_store
from aerotwin_core.cli import progress, say, write_json
from aerotwin_core.errors import UserError
from aerotwin_core.gate import parse_condition
from aerotwin_core.output_lock import locked_output

if TYPE_CHECKING:
    from aerotwin_campaign.campaign_file import Campaign
    from aerotwin_campaign.disturbances import Disturbance, DisturbedPoint
    from aerotwin_campaign.mildest_search import MildestBreak

EXIT_NO_EDGE = 1
_MOST_WORKERS, _MOST_POINTS = 1024, 100_000
_MOST_AXES = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_file_arguments(parser, json_text="result as JSON")
    parser.add_argument("--scenario", metavar="NAME", help="which of the campaign's scenarios")
    parser.add_argument(
        "--axis",
        metavar="PATH[=MILD:SEVERE]",
        action="append",
        default=[],
        help="search this axis alone, of the file or by its ends; may be repeated",
    )
    breaks = parser.add_mutually_exclusive_group()
    breaks.add_argument("--expect", metavar="N", type=int, help="expectation that breaks, from 0")
    breaks.add_argument(
        "--breaks", metavar="CONDITION", type=parse_condition, help='as "miss_m > 0.5"'
    )
    parser.add_argument(
        "--tolerance",
        metavar="SHARE",
        type=float,
        default=0.01,
        help="largest gap between what breaks and what passes, of an axis (default: %(default)s)",
    )
    parser.add_argument(
        "--samples",
        metavar="N",
        type=int,
        default=5,
        help="values of a single axis that are tried first, its ends included (default: 5)",
    )
    parser.add_argument(
        "--evaluations",
        metavar="N",
        type=int,
        default=200,
        help="points at most, each with all seeds (default: 200)",
    )
    parser.add_argument(
        "--workers", metavar="N", type=int, help="runs at a time on this machine (default: cores)"
    )


def run(args: argparse.Namespace) -> int:
    """Search and print what was found."""
    _check(args)
    from aerotwin_campaign.disturbances import Criterion, DisturbedRuns
    from aerotwin_campaign.mildest_search import FOUND, find_mildest_break

    campaign, store = campaign_and_store(args)
    name = _scenario(args, campaign)
    disturbances = _disturbances(args, campaign, name)
    criterion = Criterion(expectation=args.expect, condition=args.breaks)
    n_workers = args.workers or len(os.sched_getaffinity(0))
    with ExitStack() as stack:
        if store.local is not None:
            stack.enter_context(locked_output(store.local))
        store.remove_unfinished()
        bar = stack.enter_context(progress(0, "runs", unit="run"))
        runs = stack.enter_context(
            DisturbedRuns(
                campaign, campaign.documents[name], disturbances, criterion,
                store, n_workers, lambda: bar.update(1),
            )
        )  # fmt: skip
        found = find_mildest_break(
            runs.evaluate,
            len(disturbances),
            tolerance=args.tolerance,
            n_samples=args.samples,
            most_points=args.evaluations,
        )
        n_runs = runs.n_runs
    command = _command(args, found)
    write_json(args.json, _payload(found, n_runs, command))
    if args.json != "-":
        _print(found, disturbances, n_runs, command)
    return 0 if found.outcome == FOUND else EXIT_NO_EDGE


def _check(args: argparse.Namespace) -> None:
    for name, low, high in (
        ("workers", 1, _MOST_WORKERS), ("samples", 2, _MOST_POINTS),
        ("evaluations", 2, _MOST_POINTS), ("expect", 0, _MOST_POINTS),
    ):  # fmt: skip
        value = getattr(args, name)
        if value is not None and not low <= value <= high:
            raise UserError(f"--{name}: expected {low} to {high}, found {value}")
    if not 1e-6 <= args.tolerance <= 0.5:
        raise UserError(f"--tolerance: expected 1e-6 to 0.5, found {args.tolerance:g}")
    if args.samples > args.evaluations:
        raise UserError("--samples: expected no more than --evaluations")


def _scenario(args: argparse.Namespace, campaign: "Campaign") -> str:
    names = list(campaign.documents)
    if args.scenario is None:
        if len(names) > 1:
            raise UserError(
                f"the campaign flies {len(names)} scenarios; choose one by --scenario: "
                f"{', '.join(names)}"
            )
        return names[0]
    if args.scenario not in names:
        raise UserError(f"--scenario: expected {' or '.join(names)}, found {args.scenario}")
    return str(args.scenario)


def _disturbances(args: argparse.Namespace, campaign: "Campaign", name: str) -> "list[Disturbance]":
    from aerotwin_campaign.axes import ListedAxis
    from aerotwin_campaign.disturbances import disturbance_of
    from aerotwin_campaign.paths import check_path
    from aerotwin_campaign.scenario_documents import check_scenarios

    chosen: dict[str, Any] = {}
    for text in args.axis:
        path, mark, ends = text.partition("=")
        if mark:
            chosen[path] = ListedAxis(values=_ends(text, ends))
            is_flight = campaign.parameters.scenario is not None
            if is_flight:
                document = {name: campaign.documents[name]}
                check_scenarios(document, {path: chosen[path]}, lambda path: f"--axis {path}")
            elif path not in campaign.axes:
                check_path(campaign.documents[name], path, is_new=False, place="--axis")
        elif path in campaign.axes:
            chosen[path] = campaign.axes[path]
        else:
            raise UserError(f"--axis: the campaign has no axis {path}; add =MILD:SEVERE")
    axes = chosen or campaign.axes
    if not 1 <= len(axes) <= _MOST_AXES:
        raise UserError(f"expected 1 to {_MOST_AXES} axes, found {len(axes)}; choose by --axis")
    return [disturbance_of(path, axis, f"axes.{path}") for path, axis in axes.items()]


def _ends(text: str, ends: str) -> tuple[float | int, ...]:
    from aerotwin_core.documents import parse_yaml

    found = [parse_yaml(end) for end in ends.split(":")] if ends.count(":") == 1 else []
    if len(found) != 2 or any(type(end) not in (int, float) or end != end for end in found):
        raise UserError(f"--axis: expected PATH=MILD:SEVERE with two numbers, found {text!r}")
    if found[0] == found[1]:
        raise UserError(f"--axis: {text!r} has no way from mild to severe")
    return tuple(float(end) for end in found)


def _command(args: argparse.Namespace, found: "MildestBreak") -> str:
    if found.broken is None:
        return ""
    import shlex

    words = ["aerotwin", "campaign", "reproduce", str(args.file), _short(found.broken)]
    return shlex.join([*words, *(["--store", args.store] if args.store else [])])


def _short(point: Any) -> str:
    from aerotwin_campaign.spec import short_id

    return short_id(point.run_id)


def _print(
    found: "MildestBreak", disturbances: "list[Disturbance]", n_runs: int, command: str
) -> None:
    from aerotwin_campaign.mildest_search import FOUND, NOTHING_BREAKS

    broken: Any = found.broken
    if found.outcome == NOTHING_BREAKS:
        ranges = ", ".join(f"{d.path} {d.mild:g} to {d.severe:g}" for d in disturbances)
        say(f"nothing breaks at {found.n_points} points of {ranges}")
    elif found.outcome == FOUND:
        say(f"mildest that breaks: {_text(broken)}")
        if found.passed is not None:
            say(f"below it passes: {_text(found.passed)}")
    else:
        say(f"the mildest values break already: {_text(broken)}")
    for point in found.passed_beyond:
        say(f"warning: what is more severe may pass: {_text(point)}")
    if not found.is_complete:
        say("the search is not complete: allow more --evaluations")
    say(f"{found.n_points} points, {n_runs} runs made")
    if broken is not None:
        say(f"seed {broken.seed}: {broken.outcome}")
        say(command)


def _text(point: Any) -> str:
    values = ", ".join(f"{path} = {value:.6g}" for path, value in point.values.items())
    margin = "" if point.margin is None else f" (margin {point.margin:.3g})"
    return f"{values}{margin}"


def _payload(found: "MildestBreak", n_runs: int, command: str) -> dict[str, Any]:
    return {
        "outcome": found.outcome,
        "broken": _plain(found.broken),
        "passed": _plain(found.passed),
        "passed_beyond": [_plain(each) for each in found.passed_beyond],
        "is_complete": found.is_complete,
        "n_points": found.n_points,
        "n_runs_made": n_runs,
        "reproduce": command or None,
    }


def _plain(point: "DisturbedPoint | Any") -> dict[str, Any] | None:
    if point is None:
        return None
    names = ("values", "size", "margin", "seed", "run_id", "outcome")
    return {name: getattr(point, name) for name in names}
