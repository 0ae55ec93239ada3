# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Measure a SLAM map against the true surface, voxels of it, or a reference cloud.

The map is aligned to the reference (by default as Beam et al. 2024 do: ICP onto voxel centres,
radius 1 m, 1e-5, 1500 iterations) and measured both ways. Beside it stand the floor that a perfect
map reaches, the distance to the true surface, and the noise that each metric can see. Without a
reference (-, or --no-reference) the map's sharpness is judged.

Exit code 1 when the alignment failed, 3 when a condition of --fail-if holds.

Examples
--------
  aerotwin evaluate map cliff slam.ply -o result
  aerotwin evaluate map reference.binvox slam.pcd --surface model.obj --align coarse -o result
  aerotwin evaluate map world.yaml slam.ply --poses truth.tum --lidar -15 15 --fail-if "f < 0.8"
  aerotwin evaluate map cliff slam.ply --initial-from trajectory_result --align none
  aerotwin evaluate map - slam.ply --json -
"""

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from aerotwin_core.cli import progress, write_json
from aerotwin_core.errors import UserError
from aerotwin_core.gate import add_gate_argument, check_gate_names, exit_code_of_gates
from aerotwin_map_evaluation.declared_metrics import ALIASES, MAP_METRICS, STATISTICS_METRICS

if TYPE_CHECKING:
    from aerotwin_core.protocol import Protocol
    from aerotwin_map_evaluation.protocol import MapProtocol
    from aerotwin_voxel_cloud import MapInput

EXIT_NOT_ALIGNED = 1
NO_REFERENCE = "-"
_OF_POSES = ("camera", "lidar", "mount", "range_m")
_OF_REFERENCE = (
    "surface", "reference_unit", "reference_bin_columns", "surface_unit", "align", "distance",
    "method", "thin_m", "scale", "initial", "initial_from", "origin", "reference_origin", "placed",
    "region", "cut_m", "poses", *_OF_POSES,
)  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add(
        "reference",
        metavar="REFERENCE",
        nargs="?",
        help="world, mesh, tileset, cloud, binvox or BAG:TOPIC; - for none",
    )
    add(
        "estimate",
        metavar="ESTIMATE",
        help="map of the SLAM: PLY PCD XYZ NPZ LAS, or BAG:TOPIC (PointCloud2)",
    )
    add("--no-reference", action="store_true", help="judge sharpness only")
    add("--surface", metavar="MESH", help="true surface beside voxels or a cloud")
    add(
        "--unit",
        default="",
        metavar="U",
        help="of ESTIMATE alone: m mm cm km ft us-ft in, or metres; else as it says",
    )
    add("--reference-unit", default="", metavar="U", help="of REFERENCE, in the same words")
    add("--surface-unit", default="", metavar="U", help="of --surface, in the same words")
    add(
        "--drop-invalid",
        action="store_true",
        help="leave out points of both clouds that are NaN or infinite, and say how many",
    )
    add(
        "--bin-columns",
        default="",
        metavar="XYZ…",
        help="float32 columns of .bin files: xyz, or xyzi as KITTI's",
    )
    add(
        "--reference-bin-columns",
        default="",
        metavar="XYZ…",
        help="of REFERENCE, where it has others than ESTIMATE",
    )
    _configure_alignment(parser)
    _configure_view(parser)
    add("-o", "--output", type=Path, metavar="DIR", help="report, numbers, cloud")
    add("--json", metavar="FILE", help="write the result as JSON (- = stdout)")
    add_gate_argument(parser)


def _configure_alignment(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("alignment and choices").add_argument
    add("--protocol", metavar="P", help="beam2024, or YAML with all choices; options change it")
    add("--align", choices=("none", "icp", "coarse"), help="how the map is aligned")
    add("--method", choices=("point_to_point", "point_to_plane", "gicp"), help="of the ICP")
    add(
        "--distance",
        choices=("points", "boxes", "planes", "surface"),
        help="what correspondences are measured to; planes leave out the spacing of a cloud",
    )
    add("--thin-m", type=float, metavar="M", help="the ICP takes one point per cell of this edge")
    add(
        "--scale",
        "--with-scale",
        action="store_true",
        default=None,
        help="find the scale too (monocular SLAM), from a few percent off or that of --initial",
    )
    add(
        "--initial",
        metavar="T.txt",
        help="T_reference_estimate (4x4) to start at; with --scale it may have a scale",
    )
    add(
        "--initial-from",
        metavar="RESULT",
        help="start where the trajectory of the same SLAM was aligned, with its scale if one was "
        "fitted: metrics.json of evaluate trajectory, or its folder; FILE:NAME of several",
    )
    add(
        "--origin",
        metavar="LAT,LON[,ALT]",
        help="where the map's frame (east, north, up) lies on Earth; the start of the alignment",
    )
    add("--reference-origin", metavar="LAT,LON[,ALT]", help="of the reference, if it does not say")
    add(
        "--placed",
        action="store_true",
        help="the map (after --initial, --initial-from) is where it belongs: judge it as placed",
    )
    add(
        "--region",
        nargs=6,
        type=float,
        action="append",
        metavar=("X", "Y", "Z", "X2", "Y2", "Z2"),
        help="align on this box only (several: on all of them) [m]",
    )
    add("--voxel-m", type=float, metavar="M", help="edge of a reference voxel")
    add("--cut-m", type=float, metavar="M", help="farthest correspondence")


def _configure_view(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group(
        "what was seen (the rest of the reference is not asked for)"
    ).add_argument
    add("--poses", metavar="FILE", help="true poses: TUM, KITTI or BAG:TOPIC")
    add(
        "--camera",
        nargs=6,
        type=float,
        metavar=("W", "H", "FX", "FY", "CX", "CY"),
        help="pinhole camera along the body's x [pixel]",
    )
    add("--lidar", nargs=2, type=float, metavar=("LOW", "HIGH"), help="elevations [deg]")
    add("--mount", metavar="T.txt", help="T_body_sensor (4x4) beside that")
    add("--range-m", type=float, metavar="M", help="how far it sees")


def run(args: argparse.Namespace) -> int:
    """Read, measure, print."""
    check_options(args)
    check_gate_names(
        args.fail_if, ALIASES, [*MAP_METRICS.top_names(), *STATISTICS_METRICS.top_names()]
    )
    if not has_reference(args):
        return _run_without_reference(args)
    from aerotwin_map_evaluation.evaluation import STEPS, evaluate_map
    from aerotwin_map_evaluation.inputs import observed_by, reference_of, start_of
    from aerotwin_map_evaluation.reference import MapReference
    from aerotwin_map_evaluation.tables import middle_threshold
    from aerotwin_voxel_cloud import load_map

    protocol = _protocol(args)
    with progress(len(STEPS) + 1, "map") as bar:

        def next_step(text: str) -> None:
            bar.set_postfix_str(text)
            bar.update(1)

        next_step("reading")
        estimate = _estimate(args, protocol)
        provided = load_map(
            args.reference,
            unit=args.reference_unit,
            unit_option="--reference-unit",
            drop_invalid=args.drop_invalid,
            bin_columns=args.reference_bin_columns or args.bin_columns,
        )
        beside = None
        if args.surface is not None:
            beside = load_map(args.surface, unit=args.surface_unit, unit_option="--surface-unit")
        reference = MapReference.of(
            *reference_of(provided, beside), protocol.choices, edge_m=provided.edge_m
        )
        T_initial = start_of(
            provided.origin, estimate.origin, initial=args.initial,
            initial_from=args.initial_from, origin=args.origin,
            reference_origin=args.reference_origin, with_scale=protocol.choices.with_scale,
        )  # fmt: skip
        observed = observed_by(
            reference, protocol.choices, poses=args.poses, camera=args.camera, lidar=args.lidar,
            mount=args.mount,
        )  # fmt: skip
        evaluation = evaluate_map(
            reference,
            estimate.points,
            T_map_odom_initial=T_initial,
            is_placed=args.placed,
            protocol=protocol,
            observed=observed,
            on_step=next_step,
        )
    numbers = evaluation.metrics()
    notes = [f"{part.spec}: {note}" for part in (provided, estimate) for note in part.notes]
    if args.json != "-":
        _print(evaluation, notes)
    if args.output is not None:
        from aerotwin_map_evaluation.sections import write_evaluation

        inputs = {"reference": provided.plain(), "estimate": estimate.plain()}
        write_evaluation(
            args.output,
            evaluation,
            {**_arguments(args), "inputs": inputs},
            notes,
        )
    write_json(args.json, numbers)
    judged = {**numbers, "middle": middle_threshold(numbers)}
    code = exit_code_of_gates(args.fail_if, judged, ALIASES)
    return code if evaluation.is_judged else EXIT_NOT_ALIGNED


def _run_without_reference(args: argparse.Namespace) -> int:
    from aerotwin_map_evaluation.no_reference import evaluate_without_reference
    from aerotwin_map_evaluation.sections import statistics_section, statistics_verdict

    protocol = _protocol(args)
    estimate = _estimate(args, protocol)
    statistics = evaluate_without_reference(estimate.points, protocol=protocol)
    numbers = statistics.metrics()
    if args.json != "-":
        print("\n".join([*estimate.notes, statistics_verdict(statistics)]))
    if args.output is not None:
        from aerotwin_map_evaluation.sections import write_chapter

        inputs = {**_arguments(args), "inputs": {"estimate": estimate.plain()}}
        write_chapter(args.output, statistics_section(statistics), inputs, estimate.notes)
    write_json(args.json, numbers)
    return exit_code_of_gates(args.fail_if, numbers, ALIASES)


def _estimate(args: argparse.Namespace, protocol: "Protocol[MapProtocol]") -> "MapInput":
    """Return the points of the map."""
    from aerotwin_map_evaluation.inputs import points_of
    from aerotwin_voxel_cloud import load_map

    provided = load_map(
        args.estimate, unit=args.unit, drop_invalid=args.drop_invalid, bin_columns=args.bin_columns
    )
    return points_of(provided, protocol.choices.floor_spacing_m)


def _protocol(args: argparse.Namespace) -> "Protocol[MapProtocol]":
    """Return the protocol with the options' changes; its name then says that it changed."""
    from aerotwin_core.parameters import load_parameters, to_mapping
    from aerotwin_map_evaluation.protocol import MapProtocol, load_map_protocol

    loaded = load_map_protocol(args.protocol)
    regions = None if args.region is None else [x for box in args.region for x in box]
    provided = {
        "align": args.align,
        "method": args.method,
        "distance": args.distance,
        "thin_m": args.thin_m,
        "with_scale": args.scale,
        "regions_m": regions,
        "voxel_m": args.voxel_m,
        "cut_m": args.cut_m,
        "observed_range_m": args.range_m,
    }
    changes = {name: value for name, value in provided.items() if value is not None}
    if not changes:
        return loaded
    values = {**to_mapping(loaded.choices), **changes}
    choices = load_parameters(MapProtocol, values, where="the options")
    return dataclasses.replace(loaded, name=f"{loaded.name}, changed by options", choices=choices)


def _arguments(args: argparse.Namespace) -> dict[str, object]:
    """Return the arguments that repeat the evaluation."""
    left_out = {"output", "json", "fail_if"}
    return {k: v for k, v in vars(args).items() if k not in left_out and v not in (None, False, "")}


def _print(evaluation, notes: list[str]) -> None:
    """Print the scores; for a map without a usable pose only the reason."""
    from aerotwin_map_evaluation.tables import main_scores, verdict, warnings

    for note in notes:
        print(note)
    if not evaluation.is_judged:
        print(f"NOT ALIGNED: {evaluation.registration.reason}")
        print(
            "try: thinner clouds (--thin-m), a start (--initial, --align coarse), another --method"
        )
        return
    for score in main_scores(evaluation):
        print(f"{score.label:44} {score.text:>10} {score.unit}")
    for row in evaluation.scores.precision_recall():
        label = f"precision, recall, F within {row['threshold_m']:g} m"
        print(f"{label:44} {row['precision']:.3f} {row['recall']:.3f} {row['f']:.3f}")
    reason = evaluation.registration.reason
    if evaluation.protocol.align == "none":
        print(reason)
    else:
        state = "aligned" if evaluation.registration.converged else "NOT ALIGNED"
        print(f"{state}: {reason}")
    print(verdict(evaluation))
    for warning in warnings(evaluation):
        print(f"caution: {warning}")


def has_reference(args: argparse.Namespace) -> bool:
    """Return whether the map is measured against a reference."""
    return not args.no_reference and args.reference != NO_REFERENCE


def check_options(args: argparse.Namespace) -> None:
    """Reject options that would have no effect.

    Raises `UserError`, naming the option, and what it needs.
    """
    if not has_reference(args):
        if args.reference not in (None, NO_REFERENCE):
            raise UserError(
                f"--no-reference judges {args.estimate} alone: leave out {args.reference}, or the "
                "option"
            )
        _refuse(args, _OF_REFERENCE, "needs a reference, and there is none")
        return
    if args.reference is None:
        raise UserError("give REFERENCE and ESTIMATE, or - instead of the reference")
    if args.surface is None:
        _refuse(args, ("surface_unit",), "is the unit of --surface: give that too")
    if args.align == "none":
        _refuse(
            args, ("method", "thin_m", "scale"), "has no effect with --align none: leave one out"
        )
    if args.poses is None:
        _refuse(args, _OF_POSES, "says what was seen from true poses: give --poses too")
    if args.camera is not None and args.lidar is not None:
        raise UserError("--camera and --lidar both say what was seen: give one")


def _refuse(args: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(args, name) not in (None, False, ""):
            raise UserError(f"--{name.replace('_', '-')} {why}")
