# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Show what a binvox file holds: dims, place, dialect, occupied cells.

Examples
--------
  aerotwin voxels info cliff.binvox
  aerotwin voxels info map.binvox --dialect airsim --json -
"""

import argparse

from aerotwin_core.cli import write_json
from aerotwin_voxel_cloud.command import describe


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE.binvox")
    parser.add_argument(
        "--dialect", choices=("auto", "binvox", "airsim"), default="auto", help="how to read it"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Read the file and describe it."""
    from aerotwin_voxel_cloud.binvox import read_binvox

    grid, header = read_binvox(args.file, dialect=args.dialect)
    payload = {**describe(grid), "dialect": header.dialect, "header_scale": header.scale}
    if args.json != "-":
        print(f"dims        {' x '.join(map(str, payload['dims']))} (x, y, z)")
        print(f"occupied    {grid.n_occupied} of {grid.occupied.size}")
        print(f"origin_m    {' '.join(f'{v:g}' for v in grid.origin_m)}")
        print(f"resolution  {grid.resolution_m:g} m")
        print(f"dialect     {header.dialect}")
    write_json(args.json, payload)
    return 0
