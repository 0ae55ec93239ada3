# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Score estimated trajectories against a reference: APE, RPE, drift, coverage, consistency.

Files are TUM, KITTI, EuRoC, CSV with named columns (told apart by their columns) or rosbag2 bags,
as BAG:TOPIC or BAG:/tf:PARENT.CHILD. The scores are evo's unless a protocol says otherwise; the
unaligned score and what the alignment removed always stand beside. Time offset and lever arm are
estimated and shown, and applied only when asked for.

Examples
--------
  aerotwin evaluate trajectory truth.txt slam.txt
  aerotwin evaluate trajectory truth.csv slam.txt --align yaw -o result
  aerotwin evaluate trajectory truth.txt orb.txt vins.txt --protocol rpg -o comparison
  aerotwin evaluate trajectory runs/1/bag:/truth/odom runs/1/bag:/slam/odom --json -
  aerotwin evaluate trajectory bag:/tf:map.base_link slam.txt --fail-if "ape_rmse_m > 0.1"
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from aerotwin_core.cli import write_json
from aerotwin_core.errors import UserError
from aerotwin_core.gate import add_gate_argument, exit_code_of_gates
from aerotwin_trajectory_evaluation.protocol import MODES, PRESETS

if TYPE_CHECKING:
    from aerotwin_trajectory_evaluation.bound import StereoCamera
    from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
    from aerotwin_trajectory_evaluation.files import TrajectoryFile

EXIT_NOT_DETERMINED = 1
# Options of the command that take the place of the protocol's choice of the same name.
_CHOICES = ("align", "n_to_align", "association", "max_gap_s", "duplicates", "rpe_m", "rpe_frames")
_SWITCHES = ("rpe_all_pairs", "apply_time_offset", "apply_lever_arm")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("reference", metavar="REFERENCE", help="true trajectory")
    parser.add_argument("estimates", metavar="ESTIMATE", nargs="+", help="estimated trajectories")
    parser.add_argument(
        "--format",
        choices=("auto", "tum", "kitti", "euroc", "csv", "bag"),
        default="auto",
        help="of all files",
    )
    parser.add_argument("--times", metavar="FILE", help="stamps [s] of KITTI files")
    parser.add_argument(
        "--protocol",
        metavar="NAME|FILE",
        help=f"every choice at once: {', '.join(PRESETS)}, or a YAML file (default: evo's choices)",
    )
    _configure_choices(parser)
    _configure_camera(parser)
    parser.add_argument(
        "--check-with-evo",
        action="store_true",
        help=f"let evo score the same pairs; exit code {EXIT_NOT_DETERMINED} if it differs",
    )
    add_gate_argument(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="report and numbers")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def _configure_choices(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("choices", "each takes the place of the protocol's")
    group.add_argument("--align", choices=MODES)
    group.add_argument("--n-to-align", type=int, metavar="N", help="fit the first N pairs only")
    group.add_argument("--association", choices=("nearest", "interpolate"))
    group.add_argument("--max-gap-s", type=float, metavar="S", help="farthest paired stamps [s]")
    group.add_argument("--duplicates", choices=("keep", "first", "refuse"), help="equal stamps")
    group.add_argument("--rpe-m", type=float, metavar="M", help="path of an RPE pair [m]")
    group.add_argument("--rpe-frames", type=int, metavar="N", help="frames of an RPE pair")
    for name, text in (
        ("rpe-all-pairs", "RPE pairs from every pose on"),
        ("apply-time-offset", "shift the estimate by the time offset that was found"),
        ("apply-lever-arm", "move the reference by the lever arm that was found"),
    ):
        group.add_argument(f"--{name}", action="store_true", default=None, help=text)


def _configure_camera(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("stereo camera", "the bound that its noise sets")
    group.add_argument("--camera-baseline-m", type=float, metavar="M")
    group.add_argument("--focal-px", type=float, metavar="PX")
    group.add_argument("--distance-m", type=float, metavar="M", help="usual distance of the scene")
    group.add_argument("--pixel-noise-px", type=float, metavar="PX", help="of a feature (0.2)")


def run(args: argparse.Namespace) -> int:
    """Read, score, print; exit code 1 when an alignment is not determined, or evo differs."""
    camera = _camera(args)
    protocol = _protocol(args)
    reference = _read(args.reference, args, protocol.choices.duplicates)
    names = _names(args.estimates)
    files = [_read(spec, args, protocol.choices.duplicates) for spec in args.estimates]
    evaluations = {name: _judge(reference, file, protocol) for name, file in zip(names, files)}
    notes = [*reference.notes, *(note for file in files for note in file.notes)]
    metrics, agrees = _metrics(evaluations, camera), True
    if args.check_with_evo:
        agrees = _check_with_evo(evaluations, metrics, notes)
    if args.json != "-":
        _print(evaluations, camera, notes)
    if args.output is not None:
        from aerotwin_trajectory_evaluation.result_folder import write_result

        write_result(args.output, evaluations, camera=camera, notes=notes, sources=_sources(args))
    write_json(args.json, metrics | {"notes": notes})
    from aerotwin_trajectory_evaluation.evaluation import ALIASES

    each = {"": metrics} if len(evaluations) == 1 else metrics["estimates"]
    codes = [exit_code_of_gates(args.fail_if, one, ALIASES, name) for name, one in each.items()]
    if any(codes):
        return max(codes)
    is_determined = all(e.alignment.is_determined for e in evaluations.values())
    return 0 if is_determined and agrees else EXIT_NOT_DETERMINED


def _protocol(args: argparse.Namespace):
    """Return the protocol with the options that were given; its name then says that it changed."""
    import dataclasses

    from aerotwin_core.parameters import load_parameters, to_mapping
    from aerotwin_trajectory_evaluation.protocol import (
        TrajectoryProtocol,
        load_trajectory_protocol,
    )

    named = load_trajectory_protocol(args.protocol)
    given = {name: getattr(args, name) for name in (*_CHOICES, *_SWITCHES)}
    asked = {name: value for name, value in given.items() if value is not None}
    mapping = to_mapping(named.choices) | asked
    choices = load_parameters(TrajectoryProtocol, mapping, where="options")
    if choices == named.choices:
        return named
    return dataclasses.replace(named, name=f"{named.name} (changed)", choices=choices)


def _camera(args: argparse.Namespace) -> "StereoCamera | None":
    given = {
        "baseline_m": args.camera_baseline_m,
        "focal_px": args.focal_px,
        "distance_m": args.distance_m,
        "pixel_noise_px": args.pixel_noise_px,
    }
    if all(value is None for value in given.values()):
        return None
    from aerotwin_core.parameters import load_parameters
    from aerotwin_trajectory_evaluation.bound import StereoCamera

    asked = {name: value for name, value in given.items() if value is not None}
    return load_parameters(StereoCamera, asked, where="stereo camera")


def _read(spec: str, args: argparse.Namespace, duplicates: str) -> "TrajectoryFile":
    from aerotwin_trajectory_evaluation.files import load_trajectory

    path, _, topic = spec.partition(":")
    if Path(spec).exists():
        path, topic = spec, ""
    return load_trajectory(
        path,
        file_format=args.format,
        times=args.times,
        topic=topic or None,
        duplicates=duplicates,
    )


def _names(specs: list[str]) -> list[str]:
    """Return a short name for each: its file's, with as many folders as tell them apart."""
    parts = [Path(spec.replace(":/", "/")).with_suffix("").parts for spec in specs]
    for n in range(1, max(len(part) for part in parts) + 1):
        names = ["/".join(part[-n:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    raise UserError("two estimates are the same file; give each once")


def _judge(reference: "TrajectoryFile", estimate: "TrajectoryFile", protocol):
    from aerotwin_trajectory_evaluation.evaluation import evaluate_trajectory

    if reference.has_stamps != estimate.has_stamps:
        without = "estimate" if reference.has_stamps else "reference"
        raise UserError(
            f"the {without} is a KITTI file without stamps, the other trajectory has some: their "
            "poses cannot be paired; give its stamps with --times FILE"
        )
    return evaluate_trajectory(
        reference.trajectory,
        estimate.trajectory,
        protocol=protocol,
        covariances=estimate.covariances,
    )


def _metrics(evaluations: "dict[str, TrajectoryEvaluation]", camera: "StereoCamera | None") -> dict:
    """Return the numbers of the one estimate, or those of each under its name."""
    from aerotwin_trajectory_evaluation.bound import stereo_bound

    each = {name: evaluation.metrics() for name, evaluation in evaluations.items()}
    if camera is not None:
        bound = stereo_bound(camera).plain()
        each = {name: metrics | {"bound": bound} for name, metrics in each.items()}
    return next(iter(each.values())) if len(each) == 1 else {"estimates": each}


def _check_with_evo(
    evaluations: "dict[str, TrajectoryEvaluation]", metrics: dict, notes: list[str]
) -> bool:
    """Add what evo says to the numbers and the notes; return whether it says the same."""
    from aerotwin_trajectory_evaluation.evo_check import check_with_evo

    checks = {name: check_with_evo(evaluation) for name, evaluation in evaluations.items()}
    for name, check in checks.items():
        one = metrics if len(checks) == 1 else metrics["estimates"][name]
        one["evo"] = check.plain()
        says = "says the same" if check.agrees else "DIFFERS"
        notes.append(f"{name}: evo {check.version} {says} (to {check.largest:.1e})")
    return all(check.agrees for check in checks.values())


def _sources(args: argparse.Namespace) -> dict[str, object]:
    return {"reference": args.reference, "estimates": list(args.estimates), "format": args.format}


def _print(
    evaluations: "dict[str, TrajectoryEvaluation]",
    camera: "StereoCamera | None",
    notes: list[str],
) -> None:
    from aerotwin_trajectory_evaluation.words import cautions, score_rows, verdict

    for name, evaluation in evaluations.items():
        if len(evaluations) > 1:
            print(f"\n{name}")
        for row in score_rows(evaluation, camera):
            print(f"{row.label:40} {row.text:>12} {row.unit}")
        print(verdict(evaluation))
        for warning in cautions(evaluation):
            print(f"caution: {warning}")
    for note in notes:
        print(f"note: {note}")
