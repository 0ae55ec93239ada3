# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compare two SLAM maps, of a simulated and of a real flight, against one model.

A and B are cloud files, or run folders of aerotwin (bag with slam/map and slam/odom). Both are
registered to the model by the map protocol (beam2024: Beam et al. 2024) and what is left is
compared: differences of means, deviations and shares with block-bootstrap intervals, judged against
a margin. Exit code 1 when a map could not be aligned.

Examples
--------
  aerotwin evaluate twin build/twin_sim build/twin_real --reference stadium -o build/twin
  aerotwin evaluate twin sim.ply real.ply --reference model.binvox --kind-a simulated --kind-b real
  aerotwin evaluate twin a.ply b.ply --reference model.ply --trajectory-a a.txt --trajectory-b b.txt
  aerotwin evaluate twin a.ply b.ply --reference mesh.obj --protocol mine.yaml --json -
  aerotwin evaluate twin a.ply b.ply --reference mesh.obj --unit ft --reference-unit mm
"""

import argparse
from dataclasses import replace
from pathlib import Path

from aerotwin_core.cli import progress, write_json
from aerotwin_core.errors import UserError
from aerotwin_core.gate import add_gate_argument, check_gate_names, exit_code_of_gates
from aerotwin_core.output_lock import refuse_inputs_as_output

EXIT_NOT_ALIGNED = 1
ALIASES = {
    "mean_difference_m": "difference.correspondences.mean.estimate",
    "std_difference_m": "difference.correspondences.std.estimate",
    "surface_mean_difference_m": "difference.surface.mean.estimate",
    "surface_std_difference_m": "difference.surface.std.estimate",
    "mean_a_m": "a.map.correspondences.mean_m",
    "mean_b_m": "b.map.correspondences.mean_m",
    "overlap_a": "overlap.a",
    "overlap_b": "overlap.b",
    "equivalent": "is_equivalent",
    "different": "is_different",
}
TOP_NUMBERS = ("is_aligned", "are_both_simulated")
"""Names without a dot that are no short ones."""
DEFAULT_MAP_PROTOCOL = "beam2024"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("a", metavar="A", help="cloud file or run folder: the simulated flight")
    parser.add_argument("b", metavar="B", help="cloud file or run folder: the real flight")
    parser.add_argument(
        "--reference", required=True, metavar="MODEL", help="world, mesh, tileset, cloud or binvox"
    )
    parser.add_argument(
        "--protocol",
        metavar="P",
        default=DEFAULT_MAP_PROTOCOL,
        help="preset or YAML with the parts map and twin (default: %(default)s)",
    )
    parser.add_argument(
        "--unit",
        default="",
        metavar="U",
        help="of the clouds A and B: m mm cm km ft us-ft in, or metres; else as they say",
    )
    parser.add_argument(
        "--reference-unit",
        "--model-unit",
        default="",
        metavar="U",
        help="of MODEL, in the same words; trajectories are in metres",
    )
    parser.add_argument(
        "--drop-invalid",
        action="store_true",
        help="leave out points of clouds that are NaN or infinite, and say how many",
    )
    parser.add_argument(
        "--scale",
        "--with-scale",
        action="store_true",
        help="the alignment finds scale, too (monocular SLAM)",
    )
    for side in "ab":
        parser.add_argument(
            f"--trajectory-{side}",
            metavar="FILE",
            help=f"path of {side.upper()} in its map's frame",
        )
        parser.add_argument(
            f"--kind-{side}", choices=("simulated", "real"), help="known for runs of aerotwin"
        )
        parser.add_argument(f"--label-{side}", metavar="TEXT", help="its name in the report")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="report and clouds")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")
    add_gate_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Read, register, compare, print."""
    from aerotwin_comparison.twin import compare_twins, load_twin_protocol
    from aerotwin_comparison.twin.comparison import STEPS
    from aerotwin_comparison.twin.sides import load_model
    from aerotwin_core.protocol import Protocol
    from aerotwin_map_evaluation.evaluation import STEPS as MAP_STEPS
    from aerotwin_map_evaluation.protocol import PRESETS, load_map_protocol

    check_gate_names(args.fail_if, ALIASES, TOP_NUMBERS)
    refuse_inputs_as_output(args.output, args.a, args.b, args.reference)
    map_protocol = load_map_protocol(args.protocol)
    _check_unit(args)
    if args.scale:
        choices = replace(map_protocol.choices, with_scale=True)
        map_protocol = Protocol(name=f"{map_protocol.name}+scale", part="map", choices=choices)
    protocol = load_twin_protocol(args.protocol, PRESETS)
    with progress(4 + 2 * len(MAP_STEPS) + len(STEPS), "twin") as bar:

        def next_step(text: str) -> None:
            bar.set_postfix_str(text)
            bar.update(1)

        next_step(f"reading {args.a}")
        a = _side(args, "a")
        next_step(f"reading {args.b}")
        b = _side(args, "b")
        a, b = _with_distinct_labels(a, b)
        next_step(f"reading {args.reference}")
        model = load_model(
            args.reference,
            map_protocol.choices,
            unit=args.reference_unit,
            unit_option="--reference-unit",
            drop_invalid=args.drop_invalid,
        )
        twin = compare_twins(
            _placed(a, model.origin),
            _placed(b, model.origin),
            model.reference,
            model_notes=model.notes,
            map_protocol=map_protocol,
            protocol=protocol,
            on_step=next_step,
        )
        next_step("report")
        if args.output is not None:
            _write(twin, args)
    numbers = twin.metrics()
    if args.json != "-":
        _print(twin)
    write_json(args.json, numbers)
    judged = {
        **numbers,
        "is_equivalent": twin.verdict == "equivalent",
        "is_different": twin.verdict == "different",
    }
    gates = exit_code_of_gates(args.fail_if, judged, ALIASES)
    return gates if twin.is_aligned else EXIT_NOT_ALIGNED


def _check_unit(args: argparse.Namespace) -> None:
    """Reject a unit without a cloud file: run folders are in metres."""
    from aerotwin_comparison.run_folder import is_run_folder

    if args.unit and is_run_folder(args.a) and is_run_folder(args.b):
        raise UserError(
            f"--unit {args.unit} is that of cloud files, and A and B are run folders, which are in "
            "metres: leave it out (--reference-unit is that of the model)"
        )


def _side(args: argparse.Namespace, letter: str):
    """Return a side; options of the command line override what is known of a run."""
    from aerotwin_comparison.run_folder import is_run_folder, open_run_folder
    from aerotwin_comparison.twin.sides import read_path, side_of_files, side_of_run

    spec = getattr(args, letter)
    label, kind, trajectory = (
        getattr(args, f"{name}_{letter}") for name in ("label", "kind", "trajectory")
    )
    if is_run_folder(spec):
        side = side_of_run(open_run_folder(spec), label or Path(spec).name)
        if trajectory is not None:
            side = replace(side, trajectory=read_path(trajectory))
    else:
        side = side_of_files(
            spec,
            label or Path(spec).stem,
            trajectory=trajectory,
            unit=args.unit,
            drop_invalid=args.drop_invalid,
        )
    return replace(side, kind=kind or side.kind)


def _placed(side, origin):
    """Return a side whose start is its geodetic position, unless a better one is known."""
    if side.T_reference_odom is not None or origin is None or side.origin is None:
        return side
    from aerotwin_registration import T_reference_estimate_from_origins

    T = T_reference_estimate_from_origins(origin, side.origin)
    return replace(side, T_reference_odom=T)


def _with_distinct_labels(a, b):
    """Return both sides with different labels."""
    if a.label != b.label:
        return a, b
    return replace(a, label=f"{a.label} (A)"), replace(b, label=f"{b.label} (B)")


def _print(twin) -> None:
    print(twin.sentence)
    found = {d.kind: d for d in (twin.published, twin.judged) if d is not None}
    for d in found.values():
        for name, part in d.parts.items():
            i, unit = part.interval, "" if name == "share" else " m"
            print(f"  {d.what}: {name:5} {i.estimate:+.4f}{unit} ({i.low:+.4f} to {i.high:+.4f}, "
                  f"margin {part.margin:g}): {part.verdict}")  # fmt: skip
    for warning in twin.warnings():
        print(f"note: {warning}")


def _write(twin, args: argparse.Namespace) -> None:
    from aerotwin_comparison.twin.section import twin_section
    from aerotwin_registration import write_cloud
    from aerotwin_report import write_report

    section = twin_section(twin)
    write_report(
        args.output,
        title=f"Twin: {twin.a.label} and {twin.b.label}",
        summary=f"Two SLAM maps against {args.reference}.",
        sections=[section],
        configuration={
            "a": twin.a.source,
            "b": twin.b.source,
            "reference": args.reference,
            "unit": args.unit or "as the files say",
            "reference_unit": args.reference_unit or "as its file says",
            "drop_invalid": args.drop_invalid,
            "protocol": section.metrics["protocol"],
        },
    )
    for letter, m in (("a", twin.map_a), ("b", twin.map_b)):
        write_cloud(args.output / f"registered_{letter}.ply", m.aligned_points_map)
