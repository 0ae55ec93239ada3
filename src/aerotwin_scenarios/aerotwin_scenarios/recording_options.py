# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The options that `aerotwin map` and `aerotwin localize` share, and their typed values."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aerotwin_core.errors import UserError

if TYPE_CHECKING:
    from aerotwin_core.frames import FloatArray
    from aerotwin_scenarios.dense_localization.recordings.recording import Reading
    from aerotwin_scenarios.dense_localization.wall_flight import WallFlight

POSE = ("X", "Y", "Z", "QX", "QY", "QZ", "QW")
OF_FLIGHTS = ("corner", "extent", "standoff_m", "row_m", "yaw_deg", "speed_m_s", "rate_hz", "seed")
_OF_RECORDINGS = ("poses_of", "mounting", "topic", "frames", "rectified")


def configure_recording(parser: argparse.ArgumentParser) -> None:
    """Declare how bags and KITTI folders are read."""
    add = parser.add_argument_group("bags and KITTI folders").add_argument
    add(
        "--poses-of",
        choices=("base", "optical"),
        help="frame of poses whose frame is not stated: base_link (of a KITTI folder the left "
        "camera), or the camera's optical frame, z ahead and x right (base)",
    )
    add("--mounting", type=float, nargs=7, metavar=POSE,
        help="of the optical frame in base_link, where /tf_static does not say it")  # fmt: skip
    add(
        "--topic",
        action="append",
        default=[],
        metavar="NAME:=TOPIC",
        help="topic of the bag that is NAME here, as stereo/left/image_raw:=/cam0/image_raw",
    )
    add("--frames", metavar="START:STOP:STEP", help="which pictures, as Python slices (all)")
    add("--rectified", action="store_true", help="pictures are without distortion already")


def configure_flight(parser: argparse.ArgumentParser, defaults: str) -> None:
    """Declare how a world's wall is flown past."""
    group = parser.add_argument_group("worlds", f"the flight past the wall; {defaults}")
    add = group.add_argument
    add("--corner", type=float, nargs=3, metavar=("X", "Y", "Z"),
        help="lower corner of the region on the wall, left of one who looks at it [m]")  # fmt: skip
    add("--extent", type=float, nargs=2, metavar=("ALONG", "UP"), help="size of the region [m]")
    add("--standoff-m", type=float, metavar="M", help="distance of the camera from the wall")
    add("--row-m", type=float, metavar="M", help="between rows, at most")
    add("--yaw-deg", type=float, metavar="DEG", help="direction the camera looks in, from east")
    add("--speed-m-s", type=float, metavar="V")
    add("--rate-hz", type=float, metavar="HZ", help="pictures")
    add("--seed", type=int, metavar="N", help="of flight and camera (0)")


def refuse_foreign(args: argparse.Namespace, names: Sequence[str], *, is_world: bool) -> None:
    """Refuse options without effect for this kind of source.

    `names` are options of the other kind; for a world, those of `configure_recording` are added.

    Raises `UserError`, naming the option.
    """
    for name in (*names, *(_OF_RECORDINGS if is_world else ())):
        if getattr(args, name) not in (None, [], False):
            one, other = ("world", "recording")[:: 1 if is_world else -1]
            raise UserError(
                f"--{name.replace('_', '-')}: is for a {other}, and {args.source} is taken for a "
                f"{one}; leave it out"
            )


def is_recording(source: str) -> bool:
    """Return whether a source is a bag or a KITTI folder; else it names a world."""
    from aerotwin_core.bag.metadata import is_storage_file
    from aerotwin_datasets.kitti_sequence import is_kitti

    path = Path(source)
    if path.is_dir():
        holds = any(is_storage_file(file) for file in path.iterdir())
        return holds or is_kitti(path) or (path / "metadata.yaml").is_file()
    return path.is_file() and is_storage_file(path)


def reading_of(args: argparse.Namespace) -> "Reading":
    """Return how a recording is read."""
    from aerotwin_run_evaluation.bag.roles import parse_renames
    from aerotwin_scenarios.dense_localization.recordings.recording import BASE, Reading

    return Reading(
        topics=parse_renames(args.topic),
        part=_slice(args.frames),
        poses_of=args.poses_of or BASE,
        T_base_cam=None if args.mounting is None else pose_of(args.mounting, "--mounting"),
        is_rectified=args.rectified,
    )


def flight_of(args: argparse.Namespace, defaults: "WallFlight") -> "WallFlight":
    """Return the requested flight."""
    from aerotwin_core.parameters import load_parameters, to_mapping
    from aerotwin_scenarios.dense_localization.wall_flight import WallFlight

    asked = {
        "corner_m": args.corner, "extent_m": args.extent, "standoff_m": args.standoff_m,
        "row_m": args.row_m, "yaw_deg": args.yaw_deg, "speed_m_s": args.speed_m_s,
        "rate_hz": args.rate_hz,
    }  # fmt: skip
    provided = {name: value for name, value in asked.items() if value is not None}
    return load_parameters(WallFlight, to_mapping(defaults) | provided, where="flight")


def seed_of(args: argparse.Namespace) -> int:
    """Return the seed, 0 without one."""
    if args.seed is not None and args.seed < 0:
        raise UserError(f"--seed: must be 0 or more, got {args.seed}")
    return args.seed or 0


def pose_of(values: Sequence[float], option: str) -> "FloatArray":
    """Return the 4x4 matrix of x y z qx qy qz qw.

    Raises `UserError` if they are no numbers, or the quaternion is not of length one.
    """
    from aerotwin_core.frames import transform_from_pose

    norm = math.sqrt(sum(v * v for v in values[3:]))
    if not all(map(math.isfinite, values)) or abs(norm - 1.0) > 0.1:
        raise UserError(
            f"{option}: must be x y z [m] and a quaternion qx qy qz qw of length 1, got "
            f"{' '.join(f'{v:g}' for v in values)}"
        )
    return transform_from_pose(values[:3], [v / norm for v in values[3:]])


def _slice(text: str | None) -> slice:
    if text is None:
        return slice(None)
    tokens = text.split(":")
    try:
        if not 2 <= len(tokens) <= 3:
            raise ValueError
        numbers = [int(token) if token else None for token in tokens]
        if any(n is not None and n < 0 for n in numbers) or (len(tokens) == 3 and numbers[2] == 0):
            raise ValueError
    except ValueError:
        raise UserError(
            f"--frames: must be START:STOP or START:STOP:STEP with numbers from 0 on, as ::2 or "
            f"100:200, got '{text}'"
        ) from None
    return slice(*numbers)
