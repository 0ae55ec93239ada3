# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teach a route in a cloud or a world, without driving it: a route graph with lidar submaps.

The route is a file of way-points (YAML: name, is_closed, waypoints_m, markers_s_m), or a path that
was driven: a TUM file, BAG or BAG:TOPIC, or the relative_transforms.csv of the published VirT&R
wrapper. Without --route a generated world gives its own: the road of campus and route, a ring
through grassland. Way-points become a smooth path on the ground of the cloud; slope, steps and
clearance are checked for the vehicle, and what a lidar could tell from each submap is predicted.

Exit code 1 where the vehicle could not pass; nothing is written then but with --anyway.

Examples
--------
  aerotwin teach campus -o loop
  aerotwin teach reconstruction.ply --route config/routes/campus.yaml -o loop
  aerotwin teach grassland@1003 --avoid-m 6 --write-route ring.yaml -o ring
  aerotwin teach cloud.laz --route drive.tum --on-ground -o driven
  aerotwin teach map.ply --route relative_transforms.csv -o published
  aerotwin teach info loop
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_core.cli import progress, write_json
from aerotwin_core.errors import UserError

if TYPE_CHECKING:
    from aerotwin_scenarios.teach_work import Teach

EXIT_NOT_PASSABLE = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("cloud", metavar="CLOUD|WORLD", help="what the route leads through")
    add("--route", metavar="FILE", help="way-points, or what was driven")
    add("-o", "--output", type=Path, metavar="GRAPH", required=True, help="folder to write")
    add("--parameters", metavar="YAML", help="choices of the teach, of all parts")
    add("--vehicle", metavar="YAML", help="outline and limits of the vehicle")
    add("--avoid-m", type=float, default=0.0, metavar="M", help="let way-points give way so far")
    add("--on-ground", action="store_true", help="lay a driven path onto the cloud's ground")
    add(
        "--spacing-m",
        type=float,
        default=0.15,
        metavar="M",
        help="cells that a world's surface is sampled in (0.15)",
    )
    add("--unit", default="", metavar="U", help="of CLOUD: m mm cm km ft in")
    add("--drop-invalid", action="store_true", help="leave out points that are no numbers")
    add("--anyway", action="store_true", help="write what is not passable, too")
    add("--submap-format", choices=("npz", "ply"), default="npz", help="(npz)")
    add("--write-route", type=Path, metavar="YAML", help="the way-points as taught")
    add(
        "--write-vtr",
        type=Path,
        metavar="DIR",
        help="relative_transforms.csv and PLY for the published wrapper",
    )
    add("--picture", type=Path, metavar="PNG", help="where the picture goes (GRAPH.png)")
    add("--no-picture", action="store_true", help="write no picture")
    add("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Read, teach, check, write."""
    _check(args)
    teach = _teach(args)
    with progress(3, "teach") as bar:
        bar.set_postfix_str("path")
        teach.lay_path()
        bar.update(1)
        bar.set_postfix_str("what the path asks")
        passage = teach.check_passage()
        bar.update(1)
        if not passage.is_passable.all() and not args.anyway:
            bar.close()
            return _refuse(args, teach)
        bar.set_postfix_str("graph")
        teach.make_graph()
        bar.update(1)
    with progress(len(teach.graph.submap_ids), "submaps") as bar:
        teach.graph.save(
            args.output, submap_format=args.submap_format, on_submap=lambda: bar.update(1)
        )
    with progress(len(teach.graph.submap_ids), "prediction") as bar:
        teach.predict(lambda: bar.update(1))
    picture = None
    if not args.no_picture:
        picture = args.picture or args.output.with_name(f"{args.output.name}.png")
    teach.write_beside(route=args.write_route, vtr=args.write_vtr, picture=picture)
    payload = teach.payload() | {
        "output": str(args.output),
        "picture": None if picture is None else str(picture),
    }
    if args.json != "-":
        _say(payload, passage)
    write_json(args.json, payload)
    return 0 if passage.is_passable.all() else EXIT_NOT_PASSABLE


def _check(args: argparse.Namespace) -> None:
    if not 0.02 <= args.spacing_m <= 5.0:
        raise UserError(f"--spacing-m must be 0.02 to 5, got {args.spacing_m:g}")
    if not 0.0 <= args.avoid_m <= 50.0:
        raise UserError(f"--avoid-m must be 0 to 50, got {args.avoid_m:g}")
    if args.picture is not None and args.picture.suffix.lower() != ".png":
        raise UserError(f"{args.picture}: a picture is a .png file; choose another --picture")


def _teach(args: argparse.Namespace) -> "Teach":
    """Return the requested teach, cloud and route read."""
    from aerotwin_core.parameters import load_parameters_file
    from aerotwin_scenarios.teach_work import Teach, read_points, read_route
    from aerotwin_teach_repeat.teaching import TeachParameters, VehicleOutline

    route, driven_map = read_route(args.route, args.cloud)
    parameters, vehicle = TeachParameters(), VehicleOutline()
    if args.parameters:
        parameters = load_parameters_file(TeachParameters, args.parameters)
    if args.vehicle:
        vehicle = load_parameters_file(VehicleOutline, args.vehicle)
    return Teach(
        source=args.cloud, route=route, driven_map=driven_map, parameters=parameters,
        points_map=read_points(args.cloud, args.spacing_m, args.unit, args.drop_invalid),
        vehicle=vehicle, avoid_m=args.avoid_m, is_laid=args.on_ground,
    )  # fmt: skip


def _refuse(args: argparse.Namespace, teach: "Teach") -> int:
    payload = teach.payload() | {"output": None, "picture": None}
    if args.json != "-":
        for one in teach.passage.obstructions:
            print(one.text)
        print(
            "the vehicle cannot pass; nothing was written. Lead the route elsewhere, give way to "
            "obstacles (--avoid-m), change the --vehicle, or teach it --anyway"
        )
    write_json(args.json, payload)
    return EXIT_NOT_PASSABLE


def _say(payload: dict[str, Any], passage: Any) -> None:
    print(
        f"{payload['output']}: {payload['length_m']:.1f} m, {payload['n_vertices']} vertices, "
        f"{payload['n_submaps']} submaps, {payload['n_spatial']} spatial edges, "
        f"{len(payload['markers'])} markers"
    )
    asked = payload["traversability"]
    print(
        f"passable on {asked['passable_share']:.1%}: slope at most {asked['max_slope_deg']:.1f} "
        f"deg, step {asked['max_step_m']:.2f} m, clearance at least "
        f"{asked['min_clearance_m']:.2f} m"
    )
    for one in passage.obstructions:
        print(f"  {one.text}")
    reported = payload["localisability"]
    print(
        f"a lidar is held in all directions by {reported['constrained_share']:.1%} of the submaps; "
        f"the weakest, at vertex {reported['weakest_vertex']}, holds {reported['weakest']:.3f}"
    )
    if reported["median_sigma"]:
        print(
            f"predicted error (median): along {100 * reported['median_sigma']['along']:.1f} cm, "
            f"across {100 * reported['median_sigma']['across']:.1f} cm"
        )
    if payload["picture"]:
        print(f"{payload['picture']}: the route and what it asks")
