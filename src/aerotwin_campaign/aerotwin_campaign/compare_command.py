# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
r"""Say what is worse, better, changed or the same between two campaigns, run by run.

A and B are stores, a folder or a URL, or tables results.parquet: as a rule of one campaign file by
two versions of the software. Runs are paired by document, seed and repeat; those without a
counterpart are counted and named. Files that documents name count by their names.

For each metric: means, the paired difference with its 95 % interval, relative size and a paired
test, of signed ranks or, where most differences have one size, as of truth values, of signs
(McNemar's of success). A test is of means over each seed, as runs of one seed share random numbers:
it takes some ten seeds to show anything. All p-values together are corrected by Holm: without a
change the probability of any "worse" or "better" is below --alpha. The verdict of a metric is

  worse, better    its test says so, and which way is better is declared
  changed          it differs in runs that repeat to the last bit, or has no declared direction
  no difference    it differs by no more than chance explains
  same             all pairs are equal to the last bit

Which way is better is declared by METRICS, an aerotwin_core.metric.MetricSet, in the module of the
function of the runs; of is_success, is_met and robustness, more is better. Runs are known to repeat
if their metric is_repeatable says so, or repeats of them are equal.

Examples
--------
  aerotwin campaign run wind.yaml --store runs/main        # by one version
  aerotwin campaign run wind.yaml --store runs/work        # by the other
  aerotwin campaign compare runs/main runs/work
  aerotwin campaign compare runs/main runs/work --fail-if worse -o difference.html
  aerotwin campaign compare s3://bucket/monday/results.parquet results.parquet \
    --lower-is-better miss_m --json -

Exit codes: 0 compared, 2 wrong use or nothing in common, 3 with --fail-if worse if a metric is
worse, with --fail-if changed if one is worse, better or changed.
"""

import argparse
import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from aerotwin_campaign.comparison_page import CampaignComparison
from aerotwin_campaign.metric_differences import (
    ALPHA,
    BETTER,
    CHANGED,
    LEAST_SHARE,
    WORSE,
    find_differences,
)
from aerotwin_campaign.paired_results import PairedResults, pair_results, read_results
from aerotwin_core.cli import progress, say, write_json, write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.gate import EXIT_GATE

_FAILING = {WORSE: (WORSE,), CHANGED: (WORSE, BETTER, CHANGED)}
_PERCENT = 100.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("a", metavar="A", help="store or results.parquet, before")
    parser.add_argument("b", metavar="B", help="store or results.parquet, after")
    parser.add_argument(
        "--alpha",
        metavar="P",
        type=float,
        default=ALPHA,
        help="largest probability of any worse or better without a change (default: %(default)s)",
    )
    parser.add_argument(
        "--least-percent",
        metavar="PERCENT",
        type=float,
        default=LEAST_SHARE * _PERCENT,
        help="a smaller relative difference is never worse or better (default: %(default)s)",
    )
    for way in ("lower", "higher"):
        parser.add_argument(
            f"--{way}-is-better",
            metavar="METRIC",
            action="append",
            default=[],
            help="which way is better of a metric that does not declare it; may be repeated",
        )
    parser.add_argument(
        "--repeatable", action="store_true", help="all runs repeat to the last bit: any is changed"
    )
    parser.add_argument(
        "--fail-if", choices=tuple(_FAILING), help=f"exit code {EXIT_GATE} if a metric is that"
    )
    parser.add_argument("--json", metavar="FILE", help='result as JSON; "-" = standard output')
    parser.add_argument("-o", "--output", metavar="PAGE.html", type=Path, help="page of the result")


def run(args: argparse.Namespace) -> int:
    """Compare two campaigns and print what was found."""
    if not 0.0 < args.alpha < 1.0:
        raise UserError(f"--alpha: expected more than 0 and less than 1, found {args.alpha:g}")
    if not args.least_percent >= 0.0:
        raise UserError(f"--least-percent: expected 0 or more, found {args.least_percent:g}")
    if args.output is not None and args.output.suffix != ".html":
        raise UserError(f"-o: expected a name that ends in .html, found {args.output}")
    with progress(0, "runs read", unit="run") as bar:
        pairs = pair_results(read_results(args.a, bar.update), read_results(args.b, bar.update))
    if args.repeatable:
        pairs = dataclasses.replace(pairs, is_repeatable=np.ones(len(pairs.units), bool))
    found = CampaignComparison(
        a=args.a,
        b=args.b,
        pairs=pairs,
        differences=tuple(
            find_differences(
                pairs,
                alpha=args.alpha,
                least_share=args.least_percent / _PERCENT,
                directions=_directions(args, pairs),
            )
        ),
        alpha=args.alpha,
    )
    write_json(args.json, found.plain())
    if args.output is not None:
        _write_page(args.output, found)
    if args.json != "-":
        say(found.text())
    is_failed = any(each.verdict in _FAILING.get(args.fail_if, ()) for each in found.differences)
    return EXIT_GATE if is_failed else 0


def _directions(args: argparse.Namespace, pairs: PairedResults) -> dict[str, str]:
    known = [metric.name for metric in pairs.metrics]
    found = {}
    for way, names in (("lower", args.lower_is_better), ("higher", args.higher_is_better)):
        for name in names:
            if name not in known:
                raise UserError(
                    f"--{way}-is-better: there is no metric {name}; there are {', '.join(known)}"
                )
            found[name] = way
    return found


def _write_page(path: Path, found: CampaignComparison) -> None:
    from aerotwin_report.html import render_page
    from aerotwin_report.metrics import metrics_document

    created = datetime.now(UTC).astimezone()
    sections, summary = [found.section()], f"A: {found.a}. B: {found.b}."
    document = metrics_document(
        title="Two campaigns",
        summary=summary,
        created=created.isoformat(timespec="seconds"),
        sections=sections,
        configuration={"a": found.a, "b": found.b, "alpha": found.alpha},
        warnings=(),
        seed=None,
        world=None,
    )
    page = render_page(document, sections=sections, summary=summary, created=created)
    write_text_atomically(path, page)
