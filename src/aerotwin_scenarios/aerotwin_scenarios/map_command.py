# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Make a dense map of splats from stereo pictures: of a bag, a KITTI folder, or flown in a world.

SOURCE is a rosbag2 folder or file with a stereo pair, a folder of KITTI's odometry benchmark
(image_l and image_r or image_0 and image_1, calib.txt, times.txt), or a world (name, NAME@SEED or
path), past whose wall the simulator then flies.

Poses (--poses): of a bag slam/odom, else autopilot/odom, or a topic; a file (TUM, KITTI, EuRoC,
CSV); odometry: made here from the pictures, laid over gnss/fix where there is one; of a flight in a
world the autopilot's estimate. They are brought to agree with each other where pictures
overlap. `--poses truth` takes the true ones as they stand, and the map says so.

MAP_FOLDER then holds the map (manifest.json, surfaces/), cloud.ply and keyframes.tum, the poses of
the left camera's optical frame.

  aerotwin map runs/20260101-120000-demo/bag -o build/map
  aerotwin map my_bag --poses odometry --frames 200:800 -o build/map
  aerotwin map my_bag --topic stereo/left/image_raw:=/cam0/image_raw --poses vio.tum -o build/map
  aerotwin map kitti/sequences/06 --poses truth --frames ::2 -o build/kitti_map
  aerotwin map cliff@1003 --seed 1003 -o build/cliff_map
  aerotwin evaluate map cliff@1003 build/cliff_map/cloud.ply
  aerotwin localize build/cliff_map cliff@1003 --seed 1003 -o build/scan
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_core.cli import say, write_json
from aerotwin_core.errors import UserError
from aerotwin_scenarios.recording_options import (
    OF_FLIGHTS,
    configure_flight,
    configure_recording,
    flight_of,
    is_recording,
    reading_of,
    refuse_foreign,
    seed_of,
)

if TYPE_CHECKING:
    from aerotwin_dense_localization.mapping.recorder import RecorderParameters
    from aerotwin_scenarios.dense_localization.commands.recorded_map import RecordedMapRequest
    from aerotwin_scenarios.dense_localization.commands.world_flights import FlownMapRequest

_DEFAULTS = {"rate_hz": 100.0, "max_keyframes": 1000}
"""Not real time: every pair is looked at; 4 GB of 752x480."""
_OF_RECORDED_MAPS = ("keep_poses", "gnss", "origin", "nearest_m", "farthest_m", "parameters")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("source", metavar="SOURCE", help="a bag, a KITTI folder or a world")
    add("-o", "--out", type=Path, required=True, metavar="MAP_FOLDER", help="takes all of it")
    add("--poses", metavar="WORD", help="topic, file, odometry or truth (see below)")
    add("--keep-poses", action="store_true", help="take the poses as they are: no ties are sought")
    add("--nearest-m", type=float, metavar="M", help="least distance of what is mapped (4)")
    add("--farthest-m", type=float, metavar="M", help="largest (40)")
    add("--parameters", metavar="YAML", help="choices of the map, of all parts")
    add("--gnss", metavar="TOPIC", help="fixes for --poses odometry, or none (gnss/fix)")
    add("--origin", metavar="LAT,LON[,ALT]", help="of the map under GNSS (the first fix)")
    configure_recording(parser)
    configure_flight(parser, "the defaults are those of the cliff")
    add("--json", metavar="FILE", help="the numbers; - for standard output")


def run(args: argparse.Namespace) -> int:
    """Make the map, write its folder, say what it is."""
    request = request_of(args)
    from aerotwin_scenarios.dense_localization.commands.recorded_map import (
        RecordedMapRequest,
        map_recording,
    )
    from aerotwin_scenarios.dense_localization.commands.world_flights import map_world

    if isinstance(request, RecordedMapRequest):
        numbers = map_recording(request)
    else:
        numbers = map_world(request)
    if args.json != "-":
        for line in _lines(args.out, numbers):
            say(line)
    write_json(args.json, numbers)
    return 0


def request_of(args: argparse.Namespace) -> "RecordedMapRequest | FlownMapRequest":
    """Return what was asked for; `UserError` if it contradicts itself."""
    from aerotwin_scenarios.dense_localization.commands.map_folder import check_target

    is_world = not is_recording(args.source)
    refuse_foreign(args, _OF_RECORDED_MAPS if is_world else OF_FLIGHTS, is_world=is_world)
    check_target(args.out)
    return _flown_map(args) if is_world else _recorded_map(args)


def _recorded_map(args: argparse.Namespace) -> "RecordedMapRequest":
    from aerotwin_map_evaluation.inputs import geodetic_point
    from aerotwin_scenarios.dense_localization.commands.recorded_map import RecordedMapRequest

    return RecordedMapRequest(
        source=Path(args.source), folder=args.out, reading=reading_of(args),
        parameters=_parameters(args), poses=args.poses, are_poses_saved=args.keep_poses,
        gnss=args.gnss, origin=None if args.origin is None else geodetic_point(args.origin),
    )  # fmt: skip


def _flown_map(args: argparse.Namespace) -> "FlownMapRequest":
    from aerotwin_scenarios.dense_localization.commands.world_flights import FlownMapRequest
    from aerotwin_scenarios.dense_localization.recordings.recording import TRUTH
    from aerotwin_scenarios.dense_localization.wall_flight import WallFlight

    if args.poses not in (None, TRUTH):
        raise UserError(
            f"--poses {args.poses}: of a flight in a world they are those of its autopilot, or "
            "truth; record a flight with aerotwin launch to take others"
        )
    return FlownMapRequest(
        world=args.source, folder=args.out, flight=flight_of(args, WallFlight()),
        seed=seed_of(args), has_truth=args.poses == TRUTH,
    )  # fmt: skip


def _parameters(args: argparse.Namespace) -> "RecorderParameters":
    from aerotwin_core.parameters import load_parameters, read_yaml
    from aerotwin_dense_localization.mapping.recorder import RecorderParameters

    content = {} if args.parameters is None else read_yaml(args.parameters) or {}
    asked = {"nearest_m": args.nearest_m, "farthest_m": args.farthest_m}
    provided = {name: value for name, value in asked.items() if value is not None}
    if isinstance(content, dict):
        content = _DEFAULTS | content | {"stereo": (content.get("stereo") or {}) | provided}
    return load_parameters(RecorderParameters, content, where=args.parameters or "aerotwin map")


def _lines(folder: Path, numbers: dict[str, Any]) -> list[str]:
    """Return the summary for the terminal."""
    overlap = numbers["overlap"]
    shared = "" if overlap is None else f", neighbours share {overlap:.0%} of their view"
    lines = [
        f"{folder}: {numbers['n_splats']} splats of {numbers['n_keyframes']} key-frames from "
        f"{numbers['n_frames']} frames, {numbers['n_links']} ties{shared}; "
        f"{numbers['seconds']:.0f} s"
    ]
    poses = numbers["poses"]
    lines.append(f"poses: {poses['source']}" + (" (THE TRUTH)" if poses["is_truth"] else ""))
    lines += [f"note: {note}" for note in numbers["notes"]]
    if (found := numbers.get("map")) is not None:
        complete = found["completeness"]
        there = "" if complete is None else f"; {complete:.1%} of the visible wall is there"
        lines.append(
            f"against the true mesh: {100 * found['mean_m']:.1f} cm in the mean, "
            f"{found['share_10cm']:.1%} within 10 cm{there}; as mapped "
            f"{100 * found['mean_unaligned_m']:.1f} cm"
        )
    return lines
