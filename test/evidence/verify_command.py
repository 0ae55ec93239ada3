# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Collect the long evidence: seeds never used for tuning, all listed, none dropped.

coarse: 100 maps by a SLAM, any yaw and 20 m off, are aligned to where they belong: 95 % right, none
wrong and believed, 10 s each at most.
consistency: is the embedded autopilot's estimator as wrong as it says? 50 flights in process with
each GNSS, normalised errors (NEES) against their chi-square bounds; the picture lies in --runs.
dense: a cliff is mapped from 13 m and scanned from 8 to 0.5 m with one camera, with three seeds,
by direct alignment and by features; errors and maps against their bars. Scans are kept, a second
call goes on where the first ended.
flights: each seed flies the cliff mission in the cliff of that seed, with the shipped SLAM, and is
judged like any flight. Runs are kept; a second call goes on where the first ended.
foreign: SLAMs made by others read recorded flights in two places, five seeds each; those of which
AEROTWIN_DSO, AEROTWIN_OPENVINS, ... (config/slams) name the programs. They read the real drive
of kitti, too, where a stereo SLAM should be of the order of a plain odometry: 0.31 m.
fuzz: hostile files and 500 damaged ones of every format that is read: none may crash a reader,
hang, take more than 1 GB or 10 s, or pass silently.
kitti: every second right image of a real drive finds its place in the dense map of the stereo pairs
between, from starts 0.5 m and 2 degrees off, 10 seeds: none lost, median 4 cm and 0.1 degrees, 95 %
within 10 cm; with the poses of our own odometry beside it. Others are searched for without any
start: none may be placed wrongly; skipped without the data.
lounge: each of 23 real scans of a hall finds its place in the map of the others, from starts 0.5 m
and 10 degrees off, 20 seeds each: all converge, median 2 cm, worst 8 cm; skipped without the data.
repeats: taught routes are driven again in closed loop, with three seeds: taught by driving, and
virtually in maps of three worlds that are bent by 30 cm, and in the project's own reconstruction
of a survey from the air; offsets at marks against their bars. Names of cases choose among them;
repeats are kept, a second call goes on where the first ended.
slams: three SLAMs fly the same mission with four large turns, each with five seeds, by the protocol
of XTDrone; the tables of the study lie in --runs. Like foreign, it is flown with the camera preset
as_flown (motion blur, automatic exposure, shading, noise); --camera clean takes the one without.

  make verify
  make verify NAMES="consistency lounge"
  make verify NAMES=dense ARGS="--seeds 1000"
  make verify NAMES="campus_warp route_warp" ARGS="--workers 8"
  make fuzz FILES=100
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAMES = (
    "coarse", "consistency", "dense", "flights", "foreign", "fuzz", "kitti", "lounge", "repeats",
    "slams",
)  # fmt: skip
CAMERAS = {"as_flown": "as_flown", "clean": "none"}
"""Camera presets of the flights that SLAMs are compared on, the default first."""
REPEAT_CASES = ("driven", "campus_warp", "route_warp", "grassland_warp", "survey")
"""Those of `verification.repeats.CASES`."""
FIRST_SEED, N_SEEDS, N_CONSISTENCY_SEEDS, N_LOUNGE_SEEDS = 1000, 5, 50, 20
N_KITTI_SEEDS = 10
N_REPEAT_SEEDS = N_DENSE_SEEDS = 3
CONSISTENCY_S = 60.0
GNSS = ("white", "gnss_default")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help=f"of {', '.join(NAMES)}; of repeats also {', '.join(REPEAT_CASES)}",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", type=int, nargs="+",
        help="1000 and above; of flights, foreign and slams 1000 to 1004, of dense and repeats "
        "1000 to 1002",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes of the repeats (1)"
    )
    parser.add_argument(
        "--runs", type=Path, default=Path("build/verify"), help="where runs are kept"
    )
    parser.add_argument(
        "--camera", choices=tuple(CAMERAS), default=next(iter(CAMERAS)),
        help="images of foreign and slams: as_flown (default), or clean",
    )  # fmt: skip
    parser.add_argument("--world", default="cliff@{seed}", help="world; {seed} is the seed")
    parser.add_argument("--files", type=int, default=500, help="damaged files of each format")
    data = os.environ.get("AEROTWIN_SHARED_DATA", "../shared/data")
    parser.add_argument(
        "--data", type=Path, default=Path(data), help="folder of real data ($AEROTWIN_SHARED_DATA)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Collect what is wanted, print and write it; 1 if a bar is missed."""
    from aerotwin_core.cli import write_json
    from aerotwin_core.errors import UserError
    from aerotwin_core.output_lock import hold_output

    names, cases = chosen(arguments.names)
    tuned_on = [seed for seed in arguments.seeds or () if seed < FIRST_SEED]
    if tuned_on:
        raise UserError(f"--seeds: expected {FIRST_SEED} and above, found {tuned_on[0]}: those "
                        "below were free for tuning")  # fmt: skip
    if arguments.workers < 1:
        raise UserError(f"--workers: expected 1 and above, found {arguments.workers}")
    make_folder(arguments.runs)
    hold_output(arguments.runs)
    is_quiet = arguments.json == "-"
    found: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    if "coarse" in names:
        found["coarse"] = _coarse(is_quiet=is_quiet)
        rows += found["coarse"]
    if "consistency" in names:
        found["consistency"] = _consistency(arguments.runs, is_quiet=is_quiet)
        rows += found["consistency"]
    if "dense" in names:
        found["dense"] = _dense(arguments, is_quiet=is_quiet)
        rows += found["dense"]
    if "fuzz" in names:
        found["fuzz"] = _fuzz(arguments.files, is_quiet=is_quiet)
        rows += found["fuzz"]
    if "kitti" in names:
        found["kitti"] = _kitti(arguments.data, is_quiet=is_quiet)
        rows += found["kitti"]
    if "lounge" in names:
        found["lounge"] = _lounge(arguments.data, is_quiet=is_quiet)
        rows += found["lounge"]
    if "repeats" in names:
        found["repeats"] = _repeats(arguments, cases, is_quiet=is_quiet)
        rows += found["repeats"]
    if "flights" in names:
        found |= _flights(arguments, is_quiet=is_quiet)
        rows += found["flights"]
    if "foreign" in names:
        found["foreign"] = _foreign(arguments, is_quiet=is_quiet)
        rows += found["foreign"]
    if "slams" in names:
        found["slams"] = _slams(arguments, is_quiet=is_quiet)
        rows += found["slams"]
    write_json(arguments.json, found)
    return 0 if all(row["met"] for row in rows if row["met"] is not None) else 1


def chosen(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the kinds of evidence that words ask for, and the cases of repeats.

    Raises
    ------
    UserError
        If a word is neither.
    """
    from aerotwin_core.errors import UserError

    unknown = [word for word in words if word not in (*NAMES, *REPEAT_CASES)]
    if unknown:
        raise UserError(
            f"no evidence '{unknown[0]}'; known are {', '.join(NAMES)}, and of repeats the cases "
            f"{', '.join(REPEAT_CASES)}"
        )
    cases = tuple(word for word in words if word in REPEAT_CASES)
    names = tuple(word for word in words if word in NAMES)
    if cases and "repeats" not in names:
        names += ("repeats",)
    return names or NAMES, cases


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
    """Read crafted and damaged files of every format in children."""
    from aerotwin_core.cli import progress, say
    from evidence.fuzzing import FORMATS, run_fuzz
    from evidence.fuzzing.campaign import BAD, GOOD, count_files

    n_all = sum(count_files(name, n_files) for name in FORMATS)
    bar = progress(n_all, "fuzz", unit="file")
    found = run_fuzz((), n_files, FIRST_SEED, on_file=bar.update)
    bar.close()
    for row in found if not is_quiet else ():
        words = ", ".join(f"{row[key]} {key}" for key in (*GOOD, *BAD) if row[key])
        say(f"{row['name']}: {words}: {'met' if row['met'] else 'MISSED'}")
        for file in row["crafted"]:
            say(f"  {file['damage']}: {file['outcome']}, {file['peak_mb']} MB, {file['cpu_s']} s")
        for failure in row["failures"]:
            say(f"  file {failure['file']}, {failure['damage']}: {failure['words']}")
    return found


def _coarse(*, is_quiet: bool) -> list[dict[str, Any]]:
    """Align all the seeded maps."""
    from aerotwin_core.cli import progress, say
    from evidence.benchmarks.coarse import N_TRIALS, coarse_trials

    bar = progress(N_TRIALS, "coarse", unit="trial")
    found = [figure.record() for figure in coarse_trials(on_trial=bar.update)]
    bar.close()
    for row in found if not is_quiet else ():
        met = {None: "-", True: "met", False: "MISSED"}[row["met"]]
        say(f"{row['name']}: {row['value']:.3g} {row['unit']} ({row['peer']}): {met}")
    return found


def _repeats(
    arguments: argparse.Namespace, cases: Sequence[str], *, is_quiet: bool
) -> list[dict[str, Any]]:
    """Repeat the taught routes."""
    from evidence.verification.repeats import verify_repeats

    return verify_repeats(
        cases, arguments.seeds or _first(N_REPEAT_SEEDS), arguments.runs / "repeats",
        n_workers=arguments.workers, is_quiet=is_quiet,
    )  # fmt: skip


def _dense(arguments: argparse.Namespace, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Map and scan the cliffs."""
    from evidence.verification.dense import verify_dense

    seeds = arguments.seeds or _first(N_DENSE_SEEDS)
    return verify_dense(seeds, arguments.runs / "dense", is_quiet=is_quiet)


def _flights(arguments: argparse.Namespace, *, is_quiet: bool) -> dict[str, Any]:
    """Fly the mission of each seed."""
    from evidence.verification.flights import THRESHOLDS, fly_seeds

    seeds = arguments.seeds or _first(N_SEEDS)
    rows = fly_seeds(seeds, arguments.world, arguments.runs, is_quiet=is_quiet)
    return {"bars": THRESHOLDS, "flights": rows}


def _slams(arguments: argparse.Namespace, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Fly the study of SLAMs."""
    from evidence.verification.slam_study import study_slams

    folder = arguments.runs / "slams" / arguments.camera
    make_folder(folder)
    return study_slams(
        arguments.seeds or _first(N_SEEDS), folder,
        camera_preset=CAMERAS[arguments.camera], is_quiet=is_quiet,
    )  # fmt: skip


def _foreign(arguments: argparse.Namespace, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Run the SLAMs of others that this machine has."""
    from evidence.verification.foreign_slams import judge_on_a_drive, study_foreign_slams

    folder = arguments.runs / "foreign" / arguments.camera
    make_folder(folder)
    rows = study_foreign_slams(
        arguments.seeds or _first(N_SEEDS), folder,
        camera_preset=CAMERAS[arguments.camera], is_quiet=is_quiet,
    )  # fmt: skip
    return rows + judge_on_a_drive(arguments.data, arguments.runs / "foreign")


def _first(n: int) -> list[int]:
    """Return the first seeds that nothing was tuned on."""
    return list(range(FIRST_SEED, FIRST_SEED + n))


def _kitti(data: Path, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Place the real images, with and without an expectation."""
    from evidence.verification.real_images import FOLDER, place_kitti_images
    from evidence.verification.searched_images import search_kitti_images

    seeds = range(FIRST_SEED, FIRST_SEED + N_KITTI_SEEDS)
    rows = place_kitti_images(data, seeds, is_quiet=is_quiet)
    if (data / FOLDER).is_dir():
        rows += search_kitti_images(data / FOLDER, seeds, is_quiet=is_quiet)
    return rows


def _lounge(data: Path, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Place the real scans."""
    from evidence.verification.lounge import place_lounge_scans

    seeds = range(FIRST_SEED, FIRST_SEED + N_LOUNGE_SEEDS)
    return place_lounge_scans(data, seeds, is_quiet=is_quiet)


def _consistency(folder: Path, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Fly the Monte Carlo with each GNSS; leave its picture in the folder."""
    from aerotwin_core.cli import progress, say
    from evidence.verification.consistency import BLOCKS, picture, run_campaign

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
        say(f"GNSS {f['gnss']}: NEES per degree of freedom {words}; {f['threshold']}: "
            f"{'met' if f['met'] else 'MISSED'}")  # fmt: skip
    return figures
