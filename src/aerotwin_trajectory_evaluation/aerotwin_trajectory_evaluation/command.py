# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Score estimated trajectories against a reference: APE, RPE, drift, coverage, consistency.

Files are TUM, KITTI, EuRoC, CSV with named columns (recognised by their columns) or rosbag2 bags,
as BAG:TOPIC or BAG:/tf:PARENT.CHILD. The scores are evo's unless a protocol says otherwise; the
unaligned score and what the alignment removed always stand beside. Time offset and lever arm are
estimated and shown, and applied only when asked for. The offset is what must be added to the
estimate's stamps, as evo's --t_offset: an estimate that is 50 ms late has -50 ms.

--t-start and --t-end count seconds from the reference's first pose, as the time axes of the report
do; with --t-absolute they are stamps as in the files, as evo's --t_start and --t_end. Several
estimates are ranked only where they cover the same part of the reference: --common-stamps judges
all of them at the stamps that all have.

Examples
--------
  aerotwin evaluate trajectory truth.txt slam.txt
  aerotwin evaluate trajectory truth.csv slam.txt --align yaw -o result
  aerotwin evaluate trajectory truth.txt orb=a/1.txt vins=b/1.txt --common-stamps -o comparison
  aerotwin evaluate trajectory truth.txt a.txt b.txt --labels ORB-SLAM3 VINS --figures paper/figures
  aerotwin evaluate trajectory truth.txt slam.txt --t-start 10 --t-end 60 --rpe-m 0.5
  aerotwin evaluate trajectory runs/1/bag:/truth/odom runs/1/bag:/slam/odom --json -
  aerotwin evaluate trajectory bag:/truth/odom orb.txt --poses-of stereo_left_optical --align sim3
  aerotwin evaluate trajectory bag:/tf:map.base_link slam.txt --fail-if "ape_rmse_m > 0.1"
"""

import argparse
import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from aerotwin_core.cli import write_json
from aerotwin_core.errors import UserError
from aerotwin_core.gate import add_gate_argument, exit_code_of_gates
from aerotwin_core.parameters import load_parameters, to_mapping
from aerotwin_core.protocol import Protocol
from aerotwin_trajectory_evaluation.bound import StereoCamera
from aerotwin_trajectory_evaluation.protocol import (
    PRESETS,
    TrajectoryProtocol,
    load_trajectory_protocol,
)

if TYPE_CHECKING:
    from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
    from aerotwin_trajectory_evaluation.judged_trajectories import (
        JudgedTrajectories,
        TrajectoryRequest,
    )

EXIT_NOT_DETERMINED = 1
# Options that override the protocol's choice of the same name.
_CHOICES = (
    *("align", "n_to_align", "association", "max_gap_s", "duplicates", "rpe_m", "rpe_frames"),
    *("rpe_all_pairs", "apply_time_offset", "apply_lever_arm", "keyframe_gap_s"),
)
_CAMERA = ("baseline_m", "focal_px", "distance_m", "pixel_noise_px")
# Options that are not named as the field they fill.
_OPTIONS = {"baseline_m": "camera_baseline_m"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("reference", metavar="REFERENCE", help="true trajectory")
    parser.add_argument(
        "estimates",
        metavar="ESTIMATE",
        nargs="+",
        help="estimated trajectories, as FILE or NAME=FILE",
    )
    parser.add_argument("--labels", metavar="NAME", nargs="+", help="one for each estimate")
    parser.add_argument(
        "--format",
        choices=("auto", "tum", "tum-ns", "kitti", "euroc", "csv", "bag"),
        default="auto",
        help="of all files",
    )
    parser.add_argument(
        "--poses-of",
        metavar="FRAME",
        help="frame that the estimates are poses of, as imu_link or cam0, if not the reference's; "
        "they are taken to base_link by its mounting",
    )
    parser.add_argument(
        "--sensors",
        metavar="SOURCE",
        help="that has the mounting: a bag, the config.yaml of a run, or Kalibr's camchain.yaml "
        "(default: the bag of the reference)",
    )
    parser.add_argument("--times", metavar="FILE", help="stamps [s] of KITTI files")
    parser.add_argument(
        "--protocol",
        metavar="NAME|FILE",
        help=f"every choice at once: {', '.join(PRESETS)}, or a YAML file (default: evo's choices)",
    )
    _configure_part(parser)
    choices = parser.add_argument_group("choices", "each takes the place of the protocol's")
    _add_options(choices, TrajectoryProtocol, _CHOICES)
    camera = parser.add_argument_group("stereo camera", "the bound that its noise sets")
    _add_options(camera, StereoCamera, _CAMERA)
    parser.add_argument(
        "--check-with-evo",
        action="store_true",
        help=f"let evo score the same pairs; exit code {EXIT_NOT_DETERMINED} if it differs",
    )
    add_gate_argument(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="report and numbers")
    parser.add_argument(
        "--figures", type=Path, metavar="DIR", help="the report's figures as PDF and SVG"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def _configure_part(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is judged", "all of the reference without")
    for name, text in (("t-start", "from"), ("t-end", "to")):
        group.add_argument(
            f"--{name}",
            type=_nanoseconds,
            metavar="S",
            help=f"{text} this time since the reference's first pose [s]",
        )
    group.add_argument(
        "--t-absolute", action="store_true", help="these times are stamps as in the files"
    )
    group.add_argument(
        "--common-stamps",
        action="store_true",
        help="several estimates only at the stamps that all of them have",
    )


def _nanoseconds(text: str) -> int:
    from aerotwin_trajectory_evaluation.judged_trajectories import nanoseconds

    try:
        return nanoseconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _add_options(group: argparse._ArgumentGroup, cls: type, names: Iterable[str]) -> None:
    """Add an option for each named field of a class of parameters; None where it is not given."""
    fields = {field.name: field for field in dataclasses.fields(cls)}
    types = get_type_hints(cls)
    for name in names:
        about = fields[name].metadata
        flag = f"--{_OPTIONS.get(name, name).replace('_', '-')}"
        text = f"{about['text']} [{about['unit']}]" if about["unit"] else about["text"]
        text = text.replace("%", "%%")
        if types[name] is bool:
            group.add_argument(flag, action="store_true", default=None, help=text)
        elif about["choices"]:
            group.add_argument(flag, choices=about["choices"], help=text)
        else:
            metavar = about["unit"].upper() or "N"
            group.add_argument(flag, type=types[name], metavar=metavar, help=text)


def _requested(args: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of the options of these fields that are on the command line."""
    values = {name: getattr(args, _OPTIONS.get(name, name)) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def run(args: argparse.Namespace) -> int:
    """Read, score, print; exit code 1 when an alignment is not determined, or evo differs."""
    request = request_of(args)
    from aerotwin_trajectory_evaluation.judged_trajectories import judge_trajectories

    judged = judge_trajectories(request)
    metrics = judged.metrics()
    if args.json != "-":
        _print(judged)
    if args.output is not None or args.figures is not None:
        from aerotwin_trajectory_evaluation.result_folder import write_result

        write_result(args.output, judged, sources=_sources(args), figures=args.figures)
    write_json(args.json, metrics | {"notes": judged.notes})
    from aerotwin_trajectory_evaluation.declared_metrics import ALIASES

    each = {"": metrics} if len(judged.evaluations) == 1 else metrics["estimates"]
    codes = [exit_code_of_gates(args.fail_if, one, ALIASES, name) for name, one in each.items()]
    if any(codes):
        return max(codes)
    return 0 if judged.is_reliable else EXIT_NOT_DETERMINED


def request_of(args: argparse.Namespace) -> "TrajectoryRequest":
    """Return the request of the command line; `UserError` if it contradicts itself."""
    from aerotwin_trajectory_evaluation.judged_trajectories import TimeWindow, TrajectoryRequest

    camera, protocol = _camera(args), _protocol(args)
    if args.common_stamps and len(args.estimates) < 2:
        raise UserError("--common-stamps: expected two estimates or more, found one")
    T_base_estimate = None
    if args.poses_of is not None:
        from aerotwin_trajectory_evaluation.sensor_frames import mounting_of

        T_base_estimate = mounting_of(args.poses_of, args.sensors or args.reference)
    elif args.sensors is not None:
        raise UserError("--sensors has the mountings of frames: name one with --poses-of")
    return TrajectoryRequest(
        reference=args.reference,
        estimates=tuple(args.estimates),
        labels=None if args.labels is None else tuple(args.labels),
        file_format=args.format,
        times=args.times,
        protocol=protocol,
        window=TimeWindow(start_ns=args.t_start, end_ns=args.t_end, is_absolute=args.t_absolute),
        has_common_stamps=args.common_stamps,
        camera=camera,
        has_evo=args.check_with_evo,
        T_base_estimate=T_base_estimate,
    )


def _protocol(args: argparse.Namespace) -> Protocol[TrajectoryProtocol]:
    """Return the protocol with the options applied; its name then says that it changed."""
    named = load_trajectory_protocol(args.protocol)
    mapping = to_mapping(named.choices) | _requested(args, _CHOICES)
    choices = load_parameters(TrajectoryProtocol, mapping, where="options")
    if choices == named.choices:
        return named
    return dataclasses.replace(named, name=f"{named.name} (changed)", choices=choices)


def _camera(args: argparse.Namespace) -> StereoCamera | None:
    options = _requested(args, _CAMERA)
    return load_parameters(StereoCamera, options, where="stereo camera") if options else None


def _sources(args: argparse.Namespace) -> dict[str, object]:
    window = {"t_start_s": args.t_start, "t_end_s": args.t_end}
    return {
        "reference": args.reference,
        "estimates": list(args.estimates),
        "labels": args.labels,
        "format": args.format,
        "poses_of": args.poses_of,
        "sensors": args.sensors,
        "common_stamps": args.common_stamps,
        "t_absolute": args.t_absolute,
        **{name: None if ns is None else ns * 1e-9 for name, ns in window.items()},
    }


def _print(judged: "JudgedTrajectories") -> None:
    if len(judged.evaluations) > 1:
        _print_side_by_side(judged)
    else:
        _print_scores(next(iter(judged.evaluations.values())), judged.camera)
    for note in judged.notes:
        print(f"note: {note}")


def _print_scores(evaluation: "TrajectoryEvaluation", camera: StereoCamera | None) -> None:
    from aerotwin_trajectory_evaluation.summary import score_rows

    for row in score_rows(evaluation, camera):
        print(f"{row.label:40} {row.text:>12} {row.unit}")
    _print_verdict(evaluation)


def _print_verdict(evaluation: "TrajectoryEvaluation", name: str = "") -> None:
    from aerotwin_trajectory_evaluation.summary import cautions, verdict

    print(f"\n{name}: {verdict(evaluation)}" if name else verdict(evaluation))
    for warning in cautions(evaluation):
        print(f"caution: {warning}")
    if evaluation.calibration.reason:
        print(f"note: {evaluation.calibration.reason}")


def _print_side_by_side(judged: "JudgedTrajectories") -> None:
    from aerotwin_report.tables import table_text
    from aerotwin_trajectory_evaluation.comparison import comparison_verdict, score_table

    print(table_text(score_table(judged.evaluations, judged.camera, judged.own_coverage)))
    for name, evaluation in judged.evaluations.items():
        _print_verdict(evaluation, name)
    print(f"\n{comparison_verdict(judged.evaluations)}")
