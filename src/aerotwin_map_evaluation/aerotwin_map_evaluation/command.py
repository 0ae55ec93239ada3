# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Measure a SLAM map against the true surface or a reference cloud.

The map is aligned to voxel centres of the reference by ICP (radius 1 m, 1e-5, 1500 iterations:
Beam et al. 2024), and points within 1 m of one are correspondences. Beside it stand the floor that
a perfect map reaches, and the distance to the true surface. Exit code 1 when the alignment failed.

Examples
--------
  aerotwin evaluate map cliff slam.ply -o result
  aerotwin evaluate map mesh.obj slam.pcd --json -
  aerotwin evaluate map reference.binvox slam.xyz --protocol protocol.yaml
"""

import argparse
from pathlib import Path

from aerotwin_core.cli import progress, write_json

EXIT_NOT_ALIGNED = 1
N_STEPS = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("reference", metavar="REFERENCE", help="world, mesh, cloud or binvox")
    parser.add_argument("estimate", metavar="ESTIMATE", help="map of the SLAM (PLY PCD XYZ NPZ)")
    parser.add_argument("--protocol", type=Path, metavar="P", help="YAML with all choices")
    parser.add_argument(
        "--placed", action="store_true", help="the map is in the reference's frame: judge unaligned"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="figures and numbers")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Read, measure, print."""
    import numpy as np

    from aerotwin_map_evaluation.evaluation import evaluate_map
    from aerotwin_map_evaluation.protocol import load_map_protocol
    from aerotwin_map_evaluation.surface import SurfaceReference
    from aerotwin_registration import read_cloud
    from aerotwin_voxel_cloud import Surface
    from aerotwin_voxel_cloud.sources import load_reference

    protocol = load_map_protocol(args.protocol)
    estimate = read_cloud(args.estimate)
    reference = load_reference(args.reference)
    surface, cloud = None, None
    if isinstance(reference, Surface):
        surface = SurfaceReference(reference.vertices, reference.triangles)
    else:
        cloud = reference
    bar = progress(N_STEPS, "map")

    def next_step(text: str) -> None:
        bar.set_postfix_str(text)
        bar.update(1)

    with bar:
        evaluation = evaluate_map(
            surface,
            estimate.points,
            T_map_odom_initial=np.eye(4) if args.placed else None,
            protocol=protocol,
            reference_points=cloud,
            on_step=next_step,
        )
    numbers = evaluation.metrics()
    if args.json != "-":
        _print(evaluation)
    if args.output is not None:
        _write(evaluation, args.output, numbers)
    write_json(args.json, numbers)
    return 0 if evaluation.registration.converged else EXIT_NOT_ALIGNED


def _print(evaluation) -> None:
    from aerotwin_map_evaluation.sections import rows

    for label, value, unit, _ in rows(evaluation):
        print(f"{label:44} {value:>10} {unit}")
    state = "aligned" if evaluation.registration.converged else "NOT ALIGNED"
    print(f"{state}: {evaluation.registration.reason}")


def _write(evaluation, folder: Path, numbers: dict) -> None:
    from aerotwin_map_evaluation.sections import section

    written = section(evaluation)
    folder.mkdir(parents=True, exist_ok=True)
    for number, figure in enumerate(written.figures, 1):
        (folder / f"{written.name}_{number}.svg").write_text(figure.svg or "", encoding="utf-8")
    write_json(str(folder / "metrics.json"), numbers)
