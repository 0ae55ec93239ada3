# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
r"""Show what a 3-D Tiles tileset holds, and make a world of a part of it.

TILESET is a tileset.json, a folder with one, or an http(s) URL. Shown are its levels of detail with
their geometric errors, its extent in the map, where on Earth it is and whom to credit; then what
the part that you choose would load (every tile of it is read, so that broken ones are found).

Tiles are chosen by region and metric resolution, not by what a camera sees: every tile that the
region touches is refined until its geometric error is at most --max-error-m (0: all detail), the
whole region at once. Give the region in metres of the map (its middle and its size; a height of 0
means any height) or in degrees. The map's origin is --origin-deg, or the middle of the region or of
the tileset; a tileset that is nowhere on Earth keeps its own coordinates (and needs --origin-deg to
become a world).

With -o a folder receives world.yaml, to be used as world:=FOLDER or `aerotwin world info FOLDER`.
The tiles stay where they are. A provider's key is read from an environment variable, never written.
A tileset from a server may refer to hosts of the public internet and to the host that it came from;
to addresses of private networks and of this computer only with --allow-private-hosts.

  aerotwin world tiles ../shared/data/worlds/lunar_pit_landform
  aerotwin world tiles ../shared/data/worlds/lunar_pit_landform --max-error-m 0 \
      --origin-deg 47 8 500 --attribution NASA/JPL-Caltech --licence Apache-2.0 -o build/pit
  aerotwin world tiles SITE/tileset.json --region-center-m 0 0 0 --region-size-m 300 300 0 \
      --max-error-m 0.5 --attribution "City of X" --licence CC-BY-4.0 -o worlds/site
  aerotwin world tiles https://tile.example.com/root.json --key-env TILE_KEY \
      --region-deg 8.544 47.397 8.547 47.399 --max-error-m 1 --stream --memory-limit-mb 2000
"""

import argparse
import dataclasses
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_core.foreign_text import printable

if TYPE_CHECKING:
    from aerotwin_core.geodesy import GeodeticPoint
    from aerotwin_tiles import TilesDescription
    from aerotwin_tiles.loading import OpenTileset


_MOST_LINES = 20
NOT_IN_TILES = "none in the tiles"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("tileset", metavar="TILESET")
    add("--region-center-m", nargs=3, type=float, metavar=("X", "Y", "Z"), help="of a box")
    add("--region-size-m", nargs=3, type=float, metavar=("X", "Y", "Z"), help="of a box")
    add("--region-deg", nargs=4, type=float, metavar=("WEST", "SOUTH", "EAST", "NORTH"))
    add("--max-error-m", type=float, default=1.0, help="largest geometric error (1)")
    add("--crop", action="store_true", help="cut triangles at the region's faces")
    add("--up-axis", choices=("auto", "y", "z"), default="auto", help="of a local tileset (auto)")
    add("--origin-deg", nargs=3, type=float, metavar=("LAT", "LON", "ALT_M"), help="of the map")
    add("--stream", action="store_true", help="let the world's tiles follow the sensor")
    add("--memory-limit-mb", type=float, default=4000.0, help="of the tiles in memory (4000)")
    add("--max-tiles", type=int, default=20_000, help="most tiles to look at (20000)")
    add("--key-env", default="", metavar="NAME", help="environment variable with the key")
    add(
        "--allow-private-hosts",
        action="store_true",
        help="follow references to private networks and this computer",
    )
    add("--no-read", action="store_true", help="look at the documents only, read no tile")
    add("--name", help="of the world (the tileset's folder)")
    add("--attribution", default="", help="whom to credit, beside those that the tiles name")
    add("--licence", default="", help="licence of the tiles")
    add("-o", "--out", metavar="FOLDER", type=Path, help="world folder to write")
    add("--json", metavar="FILE", help="write the record ('-': standard output)")


def run(args: argparse.Namespace) -> int:
    """Look at the tileset, read what is chosen, write the world."""
    from aerotwin_core.cli import write_json
    from aerotwin_core.errors import UserError
    from aerotwin_tiles.loading import open_tileset, open_tileset_source, thread_count
    from aerotwin_tiles.survey import describe_selection, describe_tileset
    from aerotwin_tiles.workers import Workers

    description = _description(args)
    with (
        closing(Workers(thread_count(description), show_progress=True)) as workers,
        closing(open_tileset_source(description, Path())) as source,  # first to be closed
    ):
        tileset = open_tileset(source, description, _origin(args))
        if args.out and tileset.frame.origin is None:
            raise UserError(
                f"{tileset.tree.address}: does not say where on Earth it lies, a world must; "
                "give --origin-deg LAT LON ALT_M, of any place if it is none on Earth"
            )
        record: dict[str, Any] = {"tileset": describe_tileset(tileset, workers)}
        if not args.no_read:
            record["selection"] = describe_selection(tileset, description, workers)
    if args.json:
        write_json(args.json, record)
    if args.json != "-":
        _print_tileset(record["tileset"])
        if "selection" in record:
            _print_selection(record["selection"], description)
    if args.out:
        if "selection" in record:
            _refuse_what_cannot_load(tileset, description, record["selection"])
        path = _write_world(args, description, record)
        if args.json != "-":
            print(f"world written to {path}")
    is_empty = "selection" in record and record["selection"]["n_meshes"] == 0
    return 1 if is_empty else 0


def _description(args: argparse.Namespace) -> "TilesDescription":
    from aerotwin_core.parameters import load_parameters
    from aerotwin_tiles import TilesDescription

    region: dict[str, Any] = {}
    if args.region_center_m or args.region_size_m:
        region |= {"center_m": args.region_center_m, "size_m": args.region_size_m}
    if args.region_deg:
        names = ("west_deg", "south_deg", "east_deg", "north_deg")
        region |= dict(zip(names, args.region_deg, strict=True))
    http = {"allow_private_hosts": True} if args.allow_private_hosts else None
    keys = {field.name for field in dataclasses.fields(TilesDescription)}
    options = {name: value for name, value in vars(args).items() if name in keys}
    values = {**options, "region": region or None, "http": http}
    return load_parameters(TilesDescription, values, where="arguments")


def _origin(args: argparse.Namespace) -> "GeodeticPoint | None":
    from aerotwin_core.errors import UserError
    from aerotwin_core.geodesy import GeodeticPoint

    if args.origin_deg is None:
        return None
    latitude, longitude, altitude = args.origin_deg
    try:
        return GeodeticPoint(latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude)
    except ValueError as error:
        raise UserError(f"--origin-deg: {error}") from None


def _refuse_what_cannot_load(
    tileset: "OpenTileset", description: "TilesDescription", selection: dict[str, Any]
) -> None:
    """Raise `UserError` where the world to be written could not be loaded."""
    from aerotwin_core.errors import UserError
    from aerotwin_tiles.loading import why_nothing

    if selection["n_meshes"] == 0:
        raise UserError(why_nothing(tileset, selection["missing"]))
    if not description.stream and selection["memory_mb"] > description.memory_limit_mb:
        raise UserError(
            f"{tileset.tree.address}: what is chosen takes {selection['memory_mb']:.1f} MB, more "
            f"than --memory-limit-mb {description.memory_limit_mb:g}; no world is written; raise "
            "the limit, choose a smaller region or a larger --max-error-m, or give --stream"
        )


def _print_tileset(record: dict[str, Any]) -> None:
    place = record["origin"]
    print(f"version          {record['version']}, {record['n_documents']} documents")
    print(f"frame            {'Earth (ECEF)' if record['is_geocentric'] else 'local'}")
    if place is not None:
        print(
            f"map origin       {place['latitude_deg']:.7f} {place['longitude_deg']:.7f} deg, "
            f"{place['altitude_m']:.2f} m"
        )
    print(f"extent           {record['low_m']} to {record['high_m']} m in the map")
    print(f"attribution      {printable('; '.join(record['attributions'])) or NOT_IN_TILES}")
    print(f"levels           (refine {record['refine']})")
    print("     level    tiles  with content  geometric error [m]")
    for level in record["levels"]:
        low, high = level["smallest_error_m"], level["largest_error_m"]
        errors = f"{high:.4g}" if low == high else f"{low:.4g} … {high:.4g}"
        counts = f"{level['level']:5d} {level['n_tiles']:8d} {level['n_with_content']:13d}"
        print(f"     {counts}  {errors}")
    for label in ("notes", "problems"):
        _print_lines(label[:-1], record[label])


def _print_selection(record: dict[str, Any], description: "TilesDescription") -> None:
    region = "the region" if description.region else "everything"
    print(f"\nselection        {region}, max_error_m {description.max_error_m:g}")
    print(f"tiles            {record['n_tiles']}, largest error {record['largest_error_m']:.4g} m")
    print(f"triangles        {record['n_triangles']} in {record['n_meshes']} meshes")
    print(f"memory           {record['memory_mb']:.1f} MB with what the renderer makes of them")
    print(f"extent           {record['low_m']} to {record['high_m']} m in the map")
    print(f"attribution      {printable('; '.join(record['attributions'])) or NOT_IN_TILES}")
    _print_lines("missing", record["missing"])


def _print_lines(label: str, lines: list[str]) -> None:
    """Print lines from a tileset's files and servers: escaped, and limited in length."""
    for line in lines[:_MOST_LINES]:
        print(f"{label:16} {printable(line)}")
    if len(lines) > _MOST_LINES:
        print(f"{label:16} and {len(lines) - _MOST_LINES} more, all with --json")


def _write_world(
    args: argparse.Namespace, description: "TilesDescription", record: dict[str, Any]
) -> Path:
    """Write world.yaml; what has its default is left out."""
    import yaml

    from aerotwin_core.cli import write_text_atomically
    from aerotwin_core.parameters import to_mapping
    from aerotwin_tiles.fetch.address import without_secrets

    chosen = {
        field.name: to_mapping(getattr(description, field.name))
        for field in dataclasses.fields(description)
        if getattr(description, field.name) != field.default
    }
    if "://" in args.tileset:
        chosen["tileset"], removed = without_secrets(args.tileset)
        if removed:
            print(
                f"not written into the world, as files are passed on: {', '.join(removed)} of the "
                "address; a provider's key is named by --key-env",
                file=sys.stderr,
            )
    else:
        chosen["tileset"] = os.path.relpath(Path(args.tileset).resolve(), args.out.resolve())
    if args.allow_private_hosts:
        chosen["http"] = {"allow_private_hosts": True}
    if isinstance(chosen.get("region"), dict):
        chosen["region"] = {k: v for k, v in chosen["region"].items() if v is not None}
    named = record.get("selection", record["tileset"])["attributions"]
    world: dict[str, Any] = {
        "name": args.name or _name_of(args.tileset),
        "tiles": chosen,
        "origin": record["tileset"]["origin"],
        "attribution": "; ".join(filter(None, [args.attribution, *named])) or "not stated",
        "licence": args.licence or "not stated",
    }
    if world["origin"] is None:
        del world["origin"]
    path = args.out / "world.yaml"
    text = yaml.safe_dump(world, sort_keys=False, allow_unicode=True)
    write_text_atomically(path, f"# Made by aerotwin world tiles.\n{text}")
    return path


def _name_of(tileset: str) -> str:
    if "://" in tileset:
        return tileset.split("/")[2].rpartition("@")[2]
    path = Path(tileset).resolve()
    return path.name if path.is_dir() else path.parent.name
