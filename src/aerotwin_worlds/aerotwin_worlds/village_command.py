# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Turn a UAV photogrammetry folder into a textured world that can be flown.

SOURCE holds a surface model (dsm.tif, GeoTIFF in WGS84 / UTM), a picture from above
(ortho_from_cloud_0p2m.jpg) and the summary with its bounds (odm_georeferenced_model.summary.json).
OUT receives world.yaml and mesh.glb; use it as world:=OUT or `aerotwin world info OUT`.

Holes enclosed by data are filled from their surroundings and counted; what lies outside the survey
is left out. Heights are taken as heights above the ellipsoid.

  aerotwin world village ../shared/data/worlds/odm_portugal_uav -o build/village
"""

import argparse
import dataclasses
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="SOURCE", type=Path, help="photogrammetry folder")
    parser.add_argument("-o", "--out", metavar="OUT", type=Path, required=True, help="world folder")
    parser.add_argument("--name", default="village", help="name of the world (village)")
    parser.add_argument(
        "--attribution", default="UAV photogrammetry (OpenDroneMap), fabioQfabio/TA-docker"
    )
    parser.add_argument("--licence", default="no licence stated: internal test only")
    parser.add_argument(
        "--max-triangles", type=int, default=1_000_000, help="at most 2000000 (1000000)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the summary ('-': standard output)")


def run(args: argparse.Namespace) -> int:
    """Build the world and print a summary."""
    from aerotwin_core.cli import write_json
    from aerotwin_core.errors import UserError
    from aerotwin_worlds.village import build_village

    if not 1000 <= args.max_triangles <= 2_000_000:
        raise UserError(
            f"--max-triangles: must be 1000 to 2000000, got {args.max_triangles}; choose another"
        )
    summary = build_village(
        args.source,
        args.out,
        name=args.name,
        attribution=args.attribution,
        licence=args.licence,
        max_triangles=args.max_triangles,
    )
    if args.json:
        write_json(args.json, dataclasses.asdict(summary))
    if args.json != "-":
        for key, value in dataclasses.asdict(summary).items():
            print(f"{key:26} {value}")
        print(f"world written to {args.out}")
    return 0
