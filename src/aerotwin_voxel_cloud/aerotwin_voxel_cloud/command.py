# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Turn a world, mesh, cloud or binvox file into an occupancy grid and a cloud of its cells.

A cell is occupied when the surface meets it, exactly. The suffix of the output says what is
written: `.binvox` the grid, `.ply .pcd .xyz .npz` a point for each occupied cell: its centre, or
with --points surface the mean of the surface inside it; `.yaml`, with --occupancy-2d, the map that
map_server of Nav2 reads, beside its `.pgm`. A picture of the grid from above and from the south is
written beside the output.

Examples
--------
  aerotwin voxels cliff --resolution-m 1 -o cliff.binvox
  aerotwin voxels stadium --resolution-m 1 --center 0 0 30 --size 250 250 60 -o stadium.ply
  aerotwin voxels village/world.yaml --resolution-m 0.25 --points surface -o village.ply
  aerotwin voxels stadium --resolution-m 0.5 --solid -o stadium.binvox
  aerotwin voxels airsim.binvox --dialect airsim -o airsim.ply
  aerotwin voxels campus --resolution-m 0.1 --occupancy-2d -o campus_map.yaml
  aerotwin voxels info cliff.binvox
"""

import argparse
from pathlib import Path

from aerotwin_core.cli import progress, write_json
from aerotwin_core.errors import UserError

CLOUD_SUFFIXES = (".ply", ".pcd", ".xyz", ".npz")
FINEST_M, COARSEST_M = 1e-6, 1e6
"""Beyond these cells are no length of a place on Earth, and numbers run over."""
MAP_SUFFIX = ".yaml"
OUTPUT_SUFFIXES = (".binvox", *CLOUD_SUFFIXES, MAP_SUFFIX)
_MOST_NAMES = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="WORLD|MESH|CLOUD|BINVOX", help="what to voxelise")
    parser.add_argument(
        "--resolution-m", type=float, metavar="R", help="edge of a cell [m]; a binvox file has one"
    )
    parser.add_argument(
        "--center", type=float, nargs=3, metavar=("X", "Y", "Z"), help="middle of the box [m]"
    )
    parser.add_argument(
        "--size", type=float, nargs=3, metavar=("X", "Y", "Z"), help="its edges [m] (everything)"
    )
    parser.add_argument("--solid", action="store_true", help="fill what closed parts enclose")
    parser.add_argument(
        "--points", choices=("centres", "surface"), default="centres", help="(centres)"
    )
    parser.add_argument(
        "--dialect", choices=("auto", "binvox", "airsim"), default="auto", help="of a BINVOX source"
    )
    parser.add_argument(
        "--write-dialect",
        choices=("binvox", "airsim"),
        default="binvox",
        help="of the output",
    )
    parser.add_argument(
        "--occupancy-2d",
        action="store_true",
        help="write a map for Nav2's map_server (.yaml, .pgm)",
    )
    parser.add_argument(
        "--band-m",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="heights of obstacles above the ground [m] (0.25 1.5)",
    )
    parser.add_argument(
        "--ground-z-m",
        type=float,
        metavar="Z",
        help="height of a level ground in map [m] (the lowest cell of each column)",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="file to write")
    parser.add_argument(
        "--picture", type=Path, metavar="PNG", help="where the picture goes (OUTPUT.png)"
    )
    parser.add_argument("--no-picture", action="store_true", help="write no picture")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Voxelise, write, and report the output."""
    from aerotwin_voxel_cloud.sources import frame_of, load_content
    from aerotwin_voxel_cloud.surface import TriangleSurface

    _check(args)
    content = load_content(args.source, dialect=args.dialect)
    if args.solid and not isinstance(content, TriangleSurface):
        raise UserError(f"{args.source}: --solid needs a surface; give a world or a mesh")
    resolution_m = args.resolution_m
    if resolution_m is None:
        resolution_m = getattr(content, "resolution_m", None)
    frame = frame_of(content, resolution_m, centre_m=args.center, size_m=args.size)
    grid, solid = _voxelised(content, frame, args)
    if grid.n_occupied == 0:
        raise UserError(f"{args.source}: no cell is occupied there; check --center and --size")
    n_written = _write(args, content, grid)
    payload = {
        **describe(grid),
        "source": str(args.source),
        "output": str(args.output),
        "points": args.points if args.output.suffix.lower() in CLOUD_SUFFIXES else None,
        "n_points": n_written,
        "solid": None if solid is None else solid.record(),
        "picture": _write_picture(args, content, grid),
        **{key: getattr(content, key, "") for key in ("name", "attribution", "licence")},
        "missing": list(getattr(content, "missing", ())),
    }
    if args.json != "-":
        _say(payload, solid)
    write_json(args.json, payload)
    return 0


def describe(grid) -> dict:
    """Return the JSON description of a grid."""
    return {
        "dims": list(grid.dims),
        "occupied": grid.n_occupied,
        "origin_m": [float(v) for v in grid.origin_m],
        "resolution_m": float(grid.resolution_m),
    }


def _check(args: argparse.Namespace) -> None:
    suffix = args.output.suffix.lower()
    if (args.center is None) != (args.size is None):
        raise UserError("--center and --size belong together; give both or none")
    if suffix not in OUTPUT_SUFFIXES:
        raise UserError(
            f"{args.output}: cannot write '{args.output.suffix}'; use {' '.join(OUTPUT_SUFFIXES)}"
        )
    has_cells = str(args.source).lower().endswith(".binvox")
    if args.resolution_m is None and not has_cells:
        raise UserError("--resolution-m is missing: the edge of a cell [m]; add it")
    if args.resolution_m is not None and not FINEST_M <= args.resolution_m <= COARSEST_M:
        raise UserError(
            f"--resolution-m must be {FINEST_M:g} to {COARSEST_M:g}, got {args.resolution_m:g}; "
            "choose another"
        )
    if args.occupancy_2d != (suffix == MAP_SUFFIX):
        raise UserError("--occupancy-2d and an output NAME.yaml belong together; give both or none")
    if not args.occupancy_2d and (args.band_m is not None or args.ground_z_m is not None):
        raise UserError(
            "--band-m and --ground-z-m are for --occupancy-2d; add it or leave them out"
        )
    _check_files(args)
    if args.points == "surface" and (args.solid or suffix not in CLOUD_SUFFIXES):
        raise UserError(
            "--points surface is for clouds of a surface: the inside of a solid has none, binvox "
            "and maps hold cells; use --points centres"
        )
    if suffix != ".binvox" and args.write_dialect != "binvox":
        raise UserError("--write-dialect is for .binvox outputs; leave it out")


def _check_files(args: argparse.Namespace) -> None:
    """Refuse outputs that would replace each other or the source, or that cannot be files."""
    if args.picture is not None and args.picture.suffix.lower() != ".png":
        raise UserError(f"{args.picture}: a picture is a .png file; choose another --picture")
    named = {"the source": args.source, "--output": args.output, "--picture": args.picture}
    named["--json"] = None if args.json == "-" else args.json
    paths = {name: Path(value).resolve() for name, value in named.items() if value is not None}
    for name, path in list(paths.items())[1:]:
        twin = next((other for other, p in paths.items() if p == path and other != name), None)
        if twin is not None:
            raise UserError(f"{path}: {name} and {twin} are the same file; choose another")
        if path.is_dir():
            raise UserError(f"{path}: {name} is a folder; name a file in it")


def _voxelised(content, frame, args: argparse.Namespace):
    """Return the grid and, if it was filled, the report of filled parts."""
    from aerotwin_voxel_cloud.solid import voxelise_solid
    from aerotwin_voxel_cloud.sources import voxelise_content

    with progress(frame.n_bricks[0], "cells", unit="slabs") as bar:
        if not args.solid:
            return voxelise_content(content, frame, on_done=bar.update), None
        grid, solid = voxelise_solid(content, frame, on_done=bar.update)
    if solid.n_closed == 0:
        raise UserError(
            f"{args.source}: nothing to fill: none of its {solid.n_open} parts is closed "
            f"({_names(solid)}); leave --solid out"
        )
    return grid, solid


def _write(args: argparse.Namespace, content, grid) -> int | None:
    from aerotwin_registration import write_cloud
    from aerotwin_voxel_cloud.binvox import write_binvox
    from aerotwin_voxel_cloud.sources import points_of

    if args.occupancy_2d:
        _write_map(args, grid)
        return None
    with progress(grid.frame.n_bricks[0], args.output.name, unit="slabs") as bar:
        if args.output.suffix.lower() == ".binvox":
            write_binvox(args.output, grid, dialect=args.write_dialect, on_done=bar.update)
            return None
        points = points_of(content, grid, args.points, on_done=bar.update)
    write_cloud(args.output, points)
    return len(points)


def _write_map(args: argparse.Namespace, grid) -> None:
    from aerotwin_voxel_cloud.nav2_map import BAND_M, occupancy_map, write_occupancy_map

    values = occupancy_map(grid, tuple(args.band_m or BAND_M), args.ground_z_m)
    write_occupancy_map(args.output, values, grid)


def _write_picture(args: argparse.Namespace, content, grid) -> str | None:
    from aerotwin_core.atomic_file import atomic_file
    from aerotwin_voxel_cloud.picture import picture_of

    if args.no_picture:
        return None
    path = args.picture or args.output.with_name(f"{args.output.name}.png")
    name = getattr(content, "name", "") or Path(args.source).name
    size = " x ".join(f"{n * grid.resolution_m:g}" for n in grid.dims)
    picture = picture_of(
        grid,
        title=f"{name}: {grid.n_occupied:,} voxels of {grid.resolution_m:g} m in {size} m",
        caption=" · ".join(filter(None, (getattr(content, k, "") for k in _CREDITS))),
    )
    with atomic_file(path) as file:
        file.write(picture)
    return str(path)


_CREDITS = ("attribution", "licence")


def _say(payload: dict, solid) -> None:
    dims = " x ".join(map(str, payload["dims"]))
    n_cells = payload["dims"][0] * payload["dims"][1] * payload["dims"][2]
    print(
        f"{payload['output']}: {payload['occupied']} of {n_cells} cells occupied, {dims} at "
        f"{payload['resolution_m']:g} m"
    )
    if payload["picture"]:
        print(f"{payload['picture']}: from above and from the south")
    if solid is not None:
        cavities = f", {solid.n_cavities} of them cavities" if solid.n_cavities else ""
        print(f"{solid.n_closed} closed parts filled{cavities}")
        if solid.n_open:
            print(f"{solid.n_open} open parts left as shells: {_names(solid)}")
    for line in payload["missing"]:
        print(f"missing: {line}")
    if payload["attribution"] or payload["licence"]:
        print(f"{payload['name']}: {payload['attribution']}; {payload['licence']}")


def _names(solid) -> str:
    """Return the meshes with the most open triangles, as text."""
    names = [
        f"{name or 'mesh'} ({n_parts} parts, {n_triangles} triangles)"
        for name, n_parts, n_triangles in solid.open_parts[:_MOST_NAMES]
    ]
    n_more = len(solid.open_parts) - len(names)
    return ", ".join(names) + (f" and {n_more} more meshes" if n_more > 0 else "")
