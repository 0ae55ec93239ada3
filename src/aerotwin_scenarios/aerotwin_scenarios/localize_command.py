# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
r"""Localise one camera's images in a dense map that `aerotwin map` made.

SOURCE is a rosbag2 folder or file, a folder of KITTI's odometry benchmark, or a world (name,
NAME@SEED or path), past whose wall the simulator then scans. Distorted images are undistorted as
their camera_info says (plumb_bob, equidistant).

Where it begins: --start, or --poses (its first pose; with --guided every image is expected where
they say); a scan in a world begins where its autopilot believes to be. Without, or with --search,
the first image is looked for everywhere. Images should follow each other within 0.1 m or so; where
they do not, guide them, or let an IMU of the bag lead from one to the next (--imu): /tf_static says
where it sits on base_link, and the map must stand level. An image placed where the IMU cannot have
led is lost. Poses stay those of the images; what the IMU is trusted with is `inertial` of
--parameters.

Views are rendered along the way that the camera takes: --path FILE, or a raster over a wall
(--corner, --extent); else behind the poses from which the map was seen.

DIR then holds camera.tum (poses of the optical frame), base.tum (of base_link, where the mounting
is known; of a KITTI folder the left camera), localization.csv, metrics.json and report.html.

  aerotwin localize build/map my_bag --poses /autopilot/odom -o build/scan
  aerotwin localize build/map my_bag --poses /autopilot/odom --imu /imu/data_raw -o build/scan
  aerotwin localize build/map my_bag --camera /scan/image_raw --start 1 2 3 0 0 0 1 \
      --corner -15 0.8 4.6 --extent 10 4.8 --standoff-m 2 -o build/scan
  aerotwin localize build/map my_bag --poses vio.tum --path plan.tum --reference truth -o build/scan
  aerotwin localize build/kitti_map kitti/sequences/06 --camera right --frames 1::2 \
      --poses odometry.tum --guided --reference truth -o build/kitti_scan
  aerotwin localize build/cliff_map cliff@1003 --seed 1003 -o build/scan

Exit code 1 when no image was localised.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from aerotwin_core.cli import say, write_json
from aerotwin_core.errors import UserError
from aerotwin_core.output_lock import refuse_inputs_as_output
from aerotwin_scenarios.recording_options import (
    POSE,
    configure_flight,
    configure_recording,
    flight_of,
    is_recording,
    pose_of,
    reading_of,
    refuse_foreign,
    seed_of,
)

if TYPE_CHECKING:
    from aerotwin_scenarios.dense_localization.commands.localize import LocalizeRequest
    from aerotwin_scenarios.dense_localization.commands.scan_task import FlownScan, RecordedScan

EXIT_NOT_LOCALIZED = 1
_OF_RECORDED_SCANS = ("camera", "start", "poses", "guided", "imu", "path", "reference")
_OF_FLOWN_SCANS = ("speed_m_s", "rate_hz", "seed")
_OF_RASTER = ("corner", "extent", "row_m", "yaw_deg")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from aerotwin_trajectory_evaluation.protocol import MODES

    add = parser.add_argument
    add("map", type=Path, metavar="MAP_FOLDER", help="as aerotwin map wrote it")
    add("source", metavar="SOURCE", help="a bag, a KITTI folder or a world")
    add("-o", "--out", type=Path, required=True, metavar="DIR", help="folder of the result")
    add("--camera", metavar="TOPIC", help="left, right, or an image topic (left)")
    add("--start", type=float, nargs=7, metavar=POSE,
        help="pose in the map at the first image: of base_link, or see --poses-of")  # fmt: skip
    add("--poses", metavar="WORD", help="topic, file or truth: where it begins instead")
    add("--guided", action="store_true", help="expect every image where --poses says")
    add("--imu", metavar="TOPIC", help="of a bag: expect every image where this IMU led")
    add("--search", action="store_true", help="do not tell where it begins: look everywhere")
    add("--path", type=Path, metavar="FILE", help="poses along which views are rendered (TUM, ...)")
    add("--reference", metavar="WORD", help="topic, file or truth to compare with")
    add("--align", choices=MODES, default="none", help="what is fitted before the score (none)")
    add("--parameters", metavar="YAML", help="choices of the localisation, of all parts")
    configure_recording(parser)
    configure_flight(
        parser, "its defaults are those of the cliff at 2 m.\nOf a recording --corner, --extent, "
        "--standoff-m, --row-m and --yaw-deg\nsay along which raster views are rendered",
    )  # fmt: skip
    add("--json", metavar="FILE", help="the numbers; - for standard output")


def run(args: argparse.Namespace) -> int:
    """Localise image by image, judge, write."""
    request = request_of(args)
    from aerotwin_scenarios.dense_localization.commands.localization_page import (
        summary_lines,
        write_page,
        write_poses,
    )
    from aerotwin_scenarios.dense_localization.commands.localize import localize

    result = localize(request)
    write_poses(args.out, result.located, result.T_base_cam)
    provided = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in vars(args).items()
        if value is not None and name not in ("json", "out")
    }
    page = write_page(args.out, result, provided)
    numbers = result.numbers
    if args.json != "-":
        notes = (f"note: {note}" for note in result.notes)
        for line in (*summary_lines(numbers), *notes, f"report: {page}"):
            say(line)
    write_json(args.json, numbers)
    return EXIT_NOT_LOCALIZED if numbers["n_without_pose"] == numbers["n_frames"] else 0


def request_of(args: argparse.Namespace) -> "LocalizeRequest":
    """Return the request.

    Raises `UserError` if it is contradictory; only the parameter file has been read by then.
    """
    from aerotwin_core.parameters import load_parameters_file
    from aerotwin_scenarios.dense_localization.commands.localize import (
        LocalizeRequest,
        ScanParameters,
    )

    _check(args)
    scan = _recorded_scan(args) if is_recording(args.source) else _flown_scan(args)
    parameters = ScanParameters()
    if args.parameters is not None:
        parameters = load_parameters_file(ScanParameters, args.parameters)
    return LocalizeRequest(map_folder=args.map, scan=scan, parameters=parameters, align=args.align)


def _recorded_scan(args: argparse.Namespace) -> "RecordedScan":
    from aerotwin_scenarios.dense_localization.commands.scan_task import RecordedScan
    from aerotwin_scenarios.dense_localization.recordings.recording import LEFT
    from aerotwin_scenarios.dense_localization.wall_flight import CLIFF_SCAN

    refuse_foreign(args, _OF_FLOWN_SCANS, is_world=False)
    is_raster = args.corner is not None and args.extent is not None
    if not is_raster and any(getattr(args, name) is not None for name in _OF_RASTER):
        raise UserError("--corner and --extent: a raster of a recording needs both")
    if args.path is not None and is_raster:
        raise UserError("--path and --corner: both say where views are rendered; give one of them")
    return RecordedScan(
        source=Path(args.source), reading=reading_of(args), camera=args.camera or LEFT,
        T_map_start=None if args.start is None else pose_of(args.start, "--start"),
        poses=args.poses, is_guided=args.guided, imu=args.imu, reference=args.reference,
        path=args.path, flight=flight_of(args, CLIFF_SCAN), is_raster=is_raster,
    )  # fmt: skip


def _flown_scan(args: argparse.Namespace) -> "FlownScan":
    from aerotwin_scenarios.dense_localization.commands.scan_task import FlownScan
    from aerotwin_scenarios.dense_localization.wall_flight import CLIFF_SCAN

    refuse_foreign(args, _OF_RECORDED_SCANS, is_world=True)
    return FlownScan(
        world=args.source, flight=flight_of(args, CLIFF_SCAN), seed=seed_of(args),
        is_start_known=not args.search,
    )  # fmt: skip


def _check(args: argparse.Namespace) -> None:
    """Refuse contradictory options before anything is read."""
    refuse_inputs_as_output(args.out, args.map, args.source)
    if args.out.exists() and not args.out.is_dir():
        raise UserError(f"-o {args.out}: is a file; name a folder")
    if args.start is not None and args.poses is not None:
        raise UserError("--start and --poses: both say where it begins; give one of them")
    if args.search and (args.start is not None or (args.poses is not None)):
        raise UserError("--search looks everywhere; leave --start and --poses out")
    if args.guided and args.poses is None:
        raise UserError("--guided: needs poses for every image; name them with --poses")
    if args.guided and args.imu is not None:
        raise UserError("--guided and --imu: both say where images are expected; give one of them")
    if args.align != "none" and args.reference is None and is_recording(args.source):
        raise UserError("--align: there is nothing to align to; name a --reference")
