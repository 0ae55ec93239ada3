# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reconstruct a place from survey pictures: poses, a dense cloud, a mesh with its ortho texture.

SURVEY is a folder of `aerotwin survey`, or of any JPEG pictures of one camera with GNSS in their
EXIF. Poses come from the pictures and GNSS alone; the truth of a simulated survey is only compared
with, and the true surface with --against. The folder then holds cloud.ply (normals, colours),
poses.csv, mesh.glb with the world.yaml that loads it, and reconstruction.json.

  aerotwin reconstruct runs/survey -o runs/reconstruction
  aerotwin reconstruct runs/survey --against campus -o runs/reconstruction
"""

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("survey", type=Path, metavar="SURVEY", help="folder of pictures")
    parser.add_argument("--voxel-m", type=float, help="cells of the cloud (0.1)")
    parser.add_argument("--scale", type=float, help="pictures are shrunk to for stereo (0.5)")
    parser.add_argument("--no-mesh", action="store_true", help="cloud and poses only")
    parser.add_argument("--texel-m", type=float, help="of the ortho texture (0.05)")
    parser.add_argument("--against", metavar="WORLD", help="the true one, to compare with")
    parser.add_argument("--json", metavar="FILE", help="the record; - for standard output")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER")


def run(args: argparse.Namespace) -> int:
    """Reconstruct and write the folder."""
    from aerotwin_core.cli import StageBars, say, write_json
    from aerotwin_core.output_lock import refuse_inputs_as_output
    from aerotwin_core.parameters import load_parameters
    from aerotwin_reconstruction.bundle import BundleParameters
    from aerotwin_reconstruction.dense import DenseParameters
    from aerotwin_reconstruction.reconstruction import reconstruct
    from aerotwin_reconstruction.surface import SurfaceParameters
    from aerotwin_worlds import load_world

    refuse_inputs_as_output(args.out, args.survey)
    world = None if args.against is None else load_world(args.against)
    dense = load_parameters(
        DenseParameters, _options(voxel_m=args.voxel_m, scale=args.scale), where="reconstruct"
    )
    surface = load_parameters(
        SurfaceParameters, _options(texel_m=args.texel_m), where="reconstruct"
    )
    with StageBars() as bars:
        record = reconstruct(
            args.survey,
            args.out,
            bundle=BundleParameters(),
            dense=dense,
            surface=None if args.no_mesh else surface,
            world=world,
            report=bars,
        )
    say(
        f"{args.out}: {record['cloud']['n_points']} points of {record['alignment']['n_tied']} of "
        f"{record['alignment']['n_pictures']} pictures, reprojection "
        f"{record['alignment']['reprojection_rms_px']:.2f} px, {record['duration_s']:.0f} s"
    )
    if record["pose_errors"] is not None:
        errors = record["pose_errors"]
        say(
            f"against the truth: positions {100 * errors['position_rmse_m']:.1f} cm, attitudes "
            f"{errors['angle_rmse_deg']:.3f} degrees (RMS)"
        )
    if record["accuracy"] is not None:
        say(_against(record["accuracy"]))
    write_json(args.json, record)
    return 0


def _against(found: dict) -> str:
    """Return accuracy and completeness of the cloud, as a line."""
    strips = found.get("completeness_in_strips", {})
    shares = [f"{100 * v:.1f} % within {half} m of the route" for half, v in strips.items()]
    shares.append(f"{100 * found['completeness']:.1f} % of the area")
    return (
        f"points to surface {100 * found['to_surface_mean_m']:.1f} cm in the mean (floor of the "
        f"cells {100 * found['floor_mean_m']:.2f} cm); within 0.3 m of a point: {', '.join(shares)}"
    )


def _options(**values) -> dict:
    return {name: value for name, value in values.items() if value is not None}
