# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Collect the long evidence: seeds never used for tuning, all listed, none dropped.

coarse: 100 maps by a SLAM, any yaw and 20 m off, are aligned to where they belong: 95 % right, none
wrong and believed, 10 s each at most.
consistency: is the embedded autopilot's estimator as wrong as it says? 50 flights in process with
each GNSS, normalised errors (NEES) against their chi-square bounds; the picture lies in --runs.
flights: each seed flies the cliff mission in the cliff of that seed, with the shipped SLAM, and is
judged like any flight. Runs are kept; a second call goes on where the first ended.
fuzz: 500 damaged files of every format that the evaluators read: none may crash a reader, hang,
take more than a gigabyte or pass silently.
lounge: each of 23 real scans of a hall finds its place in the map of the others, from starts 0.5 m
and 10 degrees off, 20 seeds each: all converge, median 2 cm, worst 8 cm; skipped without the data.
slams: three SLAMs fly the same mission with four large turns, each with five seeds, by the protocol
of XTDrone; the tables of the study lie in --runs.

  aerotwin verify --json build/verify.json
  aerotwin verify consistency
  aerotwin verify fuzz --files 100
  aerotwin verify lounge --data ../shared/data
  aerotwin verify flights --seeds 1000 1001 --runs build/verify
"""

import argparse
import os
from pathlib import Path
from typing import Any

NAMES = ("coarse", "consistency", "flights", "fuzz", "lounge", "slams")
FIRST_SEED, N_SEEDS, N_CONSISTENCY_SEEDS, N_LOUNGE_SEEDS = 1000, 5, 50, 20
CONSISTENCY_S = 60.0
GNSS = ("white", "gnss_default")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    default = list(range(FIRST_SEED, FIRST_SEED + N_SEEDS))
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=default, help="of the flights, 1000 and above"
    )
    parser.add_argument(
        "--runs", type=Path, default=Path("build/verify"), help="where runs are kept"
    )
    parser.add_argument("--world", default="cliff@{seed}", help="world; {seed} is the seed")
    parser.add_argument("--files", type=int, default=500, help="damaged files of each format")
    data = os.environ.get("AEROTWIN_SHARED_DATA", "../shared/data")
    parser.add_argument(
        "--data", type=Path, default=Path(data), help="folder of real data ($AEROTWIN_SHARED_DATA)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Collect what is wanted, print and write it; 1 if a bar is missed."""
    from aerotwin_bringup.verified_flights import BARS, fly_seeds
    from aerotwin_core.cli import write_json
    from aerotwin_core.errors import UserError

    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        raise UserError(f"no evidence '{unknown[0]}'; known are {', '.join(NAMES)}")
    names = arguments.names or NAMES
    tuned_on = [seed for seed in arguments.seeds if seed < FIRST_SEED]
    if tuned_on:
        raise UserError(f"--seeds: expected {FIRST_SEED} and above, found {tuned_on[0]}: those "
                        "below were free for tuning")  # fmt: skip
    make_folder(arguments.runs)
    is_quiet = arguments.json == "-"
    found: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    if "coarse" in names:
        found["coarse"] = _coarse(is_quiet=is_quiet)
        rows += [row for row in found["coarse"] if row["met"] is not None]
    if "consistency" in names:
        found["consistency"] = _consistency(arguments.runs, is_quiet=is_quiet)
        rows += found["consistency"]
    if "fuzz" in names:
        found["fuzz"] = _fuzz(arguments.files, is_quiet=is_quiet)
        rows += found["fuzz"]
    if "lounge" in names:
        found["lounge"] = _lounge(arguments.data, is_quiet=is_quiet)
        rows += [row for row in found["lounge"] if row["met"] is not None]
    if "flights" in names:
        flights = fly_seeds(arguments.seeds, arguments.world, arguments.runs, is_quiet=is_quiet)
        found |= {"bars": BARS, "flights": flights}
        rows += flights
    if "slams" in names:
        from aerotwin_bringup.slam_study import study_slams

        slams = arguments.runs / "slams"
        make_folder(slams)
        found["slams"] = study_slams(arguments.seeds, slams, is_quiet=is_quiet)
        rows += found["slams"]
    write_json(arguments.json, found)
    return 0 if all(row["met"] for row in rows) else 1


def make_folder(folder: Path) -> None:
    """Make the folder of the runs before anything long begins.

    Raises
    ------
    UserError
        If it cannot be made.
    """
    from aerotwin_core.errors import UserError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--runs: {folder} cannot be made ({error.strerror}); name another "
                        "folder") from error  # fmt: skip


def _fuzz(n_files: int, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Read damaged files of every format in children."""
    from aerotwin_bringup.fuzzing import FORMATS, run_fuzz
    from aerotwin_bringup.fuzzing.campaign import BAD, GOOD
    from aerotwin_core.cli import progress, say

    bar = progress(len(FORMATS) * n_files, "fuzz", unit="file")
    found = run_fuzz((), n_files, FIRST_SEED, on_file=bar.update)
    bar.close()
    for row in found if not is_quiet else ():
        words = ", ".join(f"{row[key]} {key}" for key in (*GOOD, *BAD) if row[key])
        say(f"{row['name']}: {words}: {'met' if row['met'] else 'MISSED'}")
        for failure in row["failures"]:
            say(f"  file {failure['file']}, {failure['damage']}: {failure['words']}")
    return found


def _coarse(*, is_quiet: bool) -> list[dict[str, Any]]:
    """Align all the seeded maps."""
    from aerotwin_bringup.benchmarks.coarse import N_TRIALS, coarse_trials
    from aerotwin_core.cli import progress, say

    bar = progress(N_TRIALS, "coarse", unit="trial")
    found = [figure.record() for figure in coarse_trials(on_trial=bar.update)]
    bar.close()
    for row in found if not is_quiet else ():
        met = {None: "-", True: "met", False: "MISSED"}[row["met"]]
        say(f"{row['name']}: {row['value']:.3g} {row['unit']} ({row['peer']}): {met}")
    return found


def _lounge(data: Path, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Place the real scans."""
    from aerotwin_bringup.verified_lounge import place_lounge_scans

    seeds = range(FIRST_SEED, FIRST_SEED + N_LOUNGE_SEEDS)
    return place_lounge_scans(data, seeds, is_quiet=is_quiet)


def _consistency(folder: Path, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Fly the Monte Carlo with each GNSS; leave its picture in the folder."""
    from aerotwin_bringup.consistency import BLOCKS, picture, run_campaign
    from aerotwin_core.cli import progress, say

    seeds = range(FIRST_SEED, FIRST_SEED + N_CONSISTENCY_SEEDS)
    bar = progress(len(seeds) * len(GNSS), "consistency", unit="flight")
    campaigns = [run_campaign(name, seeds, CONSISTENCY_S, bar.update) for name in GNSS]
    bar.close()
    picture(campaigns).savefig(folder / "consistency.png", facecolor="white")
    figures = [campaign.figures() for campaign in campaigns]
    for f in figures if not is_quiet else ():
        words = ", ".join(
            f"{b} {f['nees_per_dof'][b]:.2f} ({f['share_within_bounds'][b]:.0%} within)"
            for b in BLOCKS
        )
        say(f"GNSS {f['gnss']}: NEES per degree of freedom {words}; {f['bar']}: "
            f"{'met' if f['met'] else 'MISSED'}")  # fmt: skip
    return figures
