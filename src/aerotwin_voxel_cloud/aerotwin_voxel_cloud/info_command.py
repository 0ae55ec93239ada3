# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Show what a binvox file holds: dims, place, dialect, occupied cells.

Examples
--------
  aerotwin voxels info cliff.binvox
  aerotwin voxels info map.binvox --dialect airsim --json -
"""

import argparse

from aerotwin_core.cli import progress, write_json
from aerotwin_voxel_cloud.command import describe


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE.binvox")
    parser.add_argument(
        "--dialect", choices=("auto", "binvox", "airsim"), default="auto", help="how to read it"
    )
    parser.add_argument(
        "--resolution-m", type=float, metavar="R", help="edge of a cell in place of the header's"
    )
    parser.add_argument(
        "--origin-m",
        type=float,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help="lower corner in map in place of the header's",
    )
    parser.add_argument("--layers", action="store_true", help="occupied cells of each layer")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Read the file and describe it."""
    from aerotwin_voxel_cloud.binvox import read_binvox, read_binvox_header

    n_slabs = read_binvox_header(args.file, dialect=args.dialect).frame().n_bricks[0]
    with progress(n_slabs, "cells", unit="slabs") as bar:
        grid, header = read_binvox(
            args.file,
            dialect=args.dialect,
            resolution_m=args.resolution_m,
            origin_m=args.origin_m,
            on_done=bar.update,
        )
    payload = {
        **describe(grid),
        "dialect": header.dialect,
        "dialect_reason": header.reason,
        "header_dims": list(header.dims),
        "header_translate": list(header.translate),
        "header_scale": header.scale,
        "layers": grid.layer_counts().tolist(),
    }
    if args.json != "-":
        print(f"dims        {' x '.join(map(str, payload['dims']))} (x, y, z)")
        print(f"occupied    {grid.n_occupied} of {grid.frame.n_cells}")
        print(f"origin_m    {' '.join(f'{v:g}' for v in grid.origin_m)} (lower corner, map)")
        if header.dialect == "airsim" and args.origin_m is None:
            print(
                "            AirSim tests boxes around lattice points: half a cell below translate"
            )
            print("            where the number of cells is even; --origin-m places it otherwise")
        print(f"resolution  {grid.resolution_m:g} m")
        print(f"dialect     {header.dialect} ({header.reason})")
        translate = " ".join(f"{v:g}" for v in header.translate)
        print(f"header      dim {header.dims} translate {translate} scale {header.scale:g}")
        if args.layers:
            for layer, n_occupied in enumerate(payload["layers"]):
                low = grid.origin_m[2] + layer * grid.resolution_m
                print(f"layer {layer:5} from z = {low:9.3f} m: {n_occupied}")
    write_json(args.json, payload)
    return 0
