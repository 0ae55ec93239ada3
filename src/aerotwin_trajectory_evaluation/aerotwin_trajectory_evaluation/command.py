# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Score an estimated trajectory against a reference: APE, RPE, drift, coverage.

Files are TUM, KITTI, EuRoC (told apart by their columns) or rosbag2 folders, as BAG:TOPIC where a
bag has several trajectories. Poses are paired by nearest stamps. The unaligned score and what the
alignment removed are always printed beside the aligned one.

Examples
--------
  aerotwin evaluate trajectory truth.txt slam.txt
  aerotwin evaluate trajectory truth.csv slam.txt --align yaw -o result
  aerotwin evaluate trajectory runs/1/bag:/truth/odom runs/1/bag:/slam/odom --json -
"""

import argparse
from pathlib import Path

from aerotwin_core.cli import write_json
from aerotwin_core.errors import UserError

EXIT_NOT_DETERMINED = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("reference", metavar="REFERENCE", help="true trajectory")
    parser.add_argument("estimate", metavar="ESTIMATE", help="estimated trajectory")
    parser.add_argument(
        "--format",
        choices=("auto", "tum", "kitti", "euroc", "bag"),
        default="auto",
        help="of both files",
    )
    parser.add_argument("--align", choices=("none", "origin", "yaw", "se3", "sim3"), default="se3")
    parser.add_argument("--times", metavar="FILE", help="stamps [s] of KITTI files")
    parser.add_argument("--max-gap-s", type=float, default=0.01, help="farthest paired stamps [s]")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="figures and numbers")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Read, score, print; exit code 1 when the paths do not determine the alignment."""
    from aerotwin_trajectory_evaluation.evaluation import evaluate_trajectory

    reference = _read(args.reference, args)
    estimate = _read(args.estimate, args)
    evaluation = evaluate_trajectory(
        reference, estimate, align=args.align, max_gap_s=args.max_gap_s
    )
    if args.json != "-":
        _print(evaluation)
    if args.output is not None:
        from aerotwin_trajectory_evaluation.sections import section

        written = section(evaluation)
        args.output.mkdir(parents=True, exist_ok=True)
        for number, figure in enumerate(written.figures, 1):
            (args.output / f"{written.name}_{number}.svg").write_text(figure.svg or "")
        write_json(str(args.output / "metrics.json"), evaluation.metrics())
    write_json(args.json, evaluation.metrics())
    return 0 if evaluation.alignment.is_determined else EXIT_NOT_DETERMINED


def _read(spec: str, args: argparse.Namespace):
    from aerotwin_trajectory_evaluation.files import read_trajectory

    path, _, topic = spec.partition(":")
    if Path(spec).exists():
        path, topic = spec, ""
    if not args.max_gap_s > 0.0:
        raise UserError(f"--max-gap-s must be positive, got {args.max_gap_s}")
    return read_trajectory(path, file_format=args.format, times=args.times, topic=topic or None)


def _print(evaluation) -> None:
    from aerotwin_trajectory_evaluation.sections import rows

    for label, value, unit, _ in rows(evaluation):
        print(f"{label:44} {value:>10} {unit}")
    if evaluation.alignment.reason:
        print(f"note: {evaluation.alignment.reason}")
