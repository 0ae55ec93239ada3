# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Turn a world, mesh, cloud or binvox file into an occupancy grid and a cloud of its cells.

A cell is occupied when the surface meets it. The suffix of the output says what is written:
`.binvox` the grid, `.ply .pcd .xyz .npz` the centres of the occupied cells.

Examples
--------
  aerotwin voxels cliff --resolution-m 1 -o cliff.binvox
  aerotwin voxels village/world.yaml --resolution-m 0.25 -o village.ply
  aerotwin voxels mesh.obj --resolution-m 0.1 --center 0 0 5 --size 20 20 10 -o part.binvox
  aerotwin voxels info cliff.binvox
"""

import argparse
from pathlib import Path

from aerotwin_core.cli import write_json
from aerotwin_core.errors import UserError

OUTPUT_SUFFIXES = (".binvox", ".ply", ".pcd", ".xyz", ".npz")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="WORLD|MESH|CLOUD|BINVOX", help="what to voxelise")
    parser.add_argument("--resolution-m", type=float, required=True, help="edge of a cell [m]")
    parser.add_argument("--center", type=float, nargs=3, metavar=("X", "Y", "Z"), help="[m]")
    parser.add_argument("--size", type=float, nargs=3, metavar=("X", "Y", "Z"), help="[m]")
    parser.add_argument("-o", "--output", type=Path, required=True, help="file to write")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Voxelise, write, and say what was written."""
    from aerotwin_registration import write_cloud
    from aerotwin_voxel_cloud.binvox import write_binvox
    from aerotwin_voxel_cloud.sources import voxelise_source

    if (args.center is None) != (args.size is None):
        raise UserError("--center and --size belong together; give both or none")
    if args.output.suffix.lower() not in OUTPUT_SUFFIXES:
        raise UserError(
            f"{args.output}: cannot write '{args.output.suffix}'; use {' '.join(OUTPUT_SUFFIXES)}"
        )
    grid = voxelise_source(args.source, args.resolution_m, centre_m=args.center, size_m=args.size)
    if grid.n_occupied == 0:
        raise UserError(f"{args.source}: no cell is occupied there; check --center and --size")
    if args.output.suffix.lower() == ".binvox":
        write_binvox(args.output, grid)
    else:
        write_cloud(args.output, grid.centres())
    if args.json != "-":
        print(
            f"{args.output}: {grid.n_occupied} of {grid.occupied.size} cells occupied, "
            f"{' x '.join(map(str, grid.occupied.shape))} at {grid.resolution_m:g} m"
        )
    write_json(args.json, describe(grid))
    return 0


def describe(grid) -> dict:
    """Return what the JSON says about a grid."""
    return {
        "dims": list(grid.occupied.shape),
        "occupied": grid.n_occupied,
        "origin_m": [float(v) for v in grid.origin_m],
        "resolution_m": float(grid.resolution_m),
    }
