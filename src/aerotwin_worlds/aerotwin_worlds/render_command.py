# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Render one picture of a world: colours, depths or which mesh is where.

The camera stands at a position in the map, looks along its yaw (0 = east, 90 = north) and is
pitched down by --pitch-deg. Height is that above the map's zero, or with --above-ground above the
surface. Attribution and licence of the world stand in the picture.

  aerotwin world render cliff --position-m -10 -10 6 --yaw-deg 90 -o cliff.png
  aerotwin world render stadium --fisheye-deg 155 --show depth -o stadium.png
"""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from aerotwin_core.camera import CameraModel
    from aerotwin_worlds import World

FOCAL_SHARE = 458.0 / 752.0  # of the width: the stereo camera of XTDrone, 79 degrees
MIN_FOCAL_PX, MAX_FOCAL_PX = 1.0, 1e6


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("world", metavar="WORLD")
    parser.add_argument(
        "--position-m", type=float, nargs=3, metavar=("X", "Y", "Z"), help="default: 2 m over start"
    )
    parser.add_argument("--above-ground", action="store_true", help="Z counts from the surface")
    parser.add_argument("--yaw-deg", type=float, help="default: the world's start heading")
    parser.add_argument("--pitch-deg", type=float, default=0.0, help="downwards (0)")
    parser.add_argument("--size-px", type=int, nargs=2, default=(752, 480), metavar=("W", "H"))
    lens = parser.add_mutually_exclusive_group()
    lens.add_argument("--focal-px", type=float, help="default: 458 px at 752 px of width")
    lens.add_argument(
        "--fisheye-deg", type=float, metavar="FIELD", help="equidistant lens, full angle across"
    )
    parser.add_argument(
        "--show", choices=("colour", "depth", "ids"), default="colour", help="what to show (colour)"
    )
    parser.add_argument("--far-m", type=float, default=math.inf, help="leave out what is farther")
    parser.add_argument("--renderer", choices=("auto", "cpu", "egl"), default="auto")
    parser.add_argument("--no-caption", action="store_true", help="attribution is printed only")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="PNG")


def run(args: argparse.Namespace) -> int:
    """Render and write the picture."""
    import cv2

    from aerotwin_core.errors import UserError
    from aerotwin_rendering import CameraView, Rasteriser
    from aerotwin_rendering.view import optical_pose
    from aerotwin_worlds import load_world
    from aerotwin_worlds.frame_picture import draw_caption, show

    camera = _camera(args)
    if not np.isfinite(args.position_m or (0.0, 0.0, 0.0)).all():
        raise UserError("--position-m: expected three finite numbers; choose others")
    world = load_world(args.world)
    yaw = world.start_yaw if args.yaw_deg is None else math.radians(args.yaw_deg)
    pose = optical_pose(_position(args, world), yaw=yaw, pitch_down=math.radians(args.pitch_deg))
    try:
        view = CameraView(
            camera=camera,
            T_map_optical=pose,
            encoding="rgb8" if args.show == "colour" else "none",
            depth=args.show == "depth",
            ids=args.show == "ids",
            far_m=args.far_m,
        )
    except ValueError as error:
        raise UserError(f"{error}; choose another position or distance") from None
    picture = show(Rasteriser(world.meshes, backend=args.renderer).render([view])[0])
    credit = f"{world.name}; {world.attribution}; {world.licence}"
    if not args.no_caption:
        draw_caption(picture, credit)
    if not cv2.imwrite(str(args.out), picture[..., ::-1]):
        raise UserError(f"{args.out}: cannot be written; check the folder and its ending (.png)")
    print(f"{args.out}  ({credit})", *world.missing, sep="\n")
    return 0


def _camera(args: argparse.Namespace) -> "CameraModel":
    """Return the camera of the arguments, its axis through the middle of the picture."""
    from aerotwin_core.camera import FisheyeCamera, PinholeCamera
    from aerotwin_core.errors import UserError

    width, height = args.size_px
    if not (1 <= width <= 8192 and 1 <= height <= 8192):
        raise UserError(f"--size-px: must be 1 to 8192, got {width} {height}; choose another")
    centre = {"cx": (width - 1) / 2, "cy": (height - 1) / 2}
    try:
        if args.fisheye_deg is None:
            focal = FOCAL_SHARE * width if args.focal_px is None else args.focal_px
            if not MIN_FOCAL_PX <= focal <= MAX_FOCAL_PX:
                raise ValueError(f"must be {MIN_FOCAL_PX:g} to {MAX_FOCAL_PX:g}, got {focal:g}")
            return PinholeCamera(width=width, height=height, fx=focal, fy=focal, **centre)
        half_field = math.radians(args.fisheye_deg) / 2.0
        focal = width / 2.0 / half_field if half_field > 0.0 else math.nan
        return FisheyeCamera(
            width=width, height=height, fx=focal, fy=focal, **centre,
            field_of_view_deg=args.fisheye_deg,
        )  # fmt: skip
    except ValueError as error:
        raise UserError(f"--focal-px or --fisheye-deg: {error}; choose another") from None


def _position(args: argparse.Namespace, world: "World") -> np.ndarray:
    from aerotwin_core.errors import UserError
    from aerotwin_rendering import WorldQueries

    position = np.array(args.position_m or world.start_p_map, float)
    if not args.position_m:
        position[2] += 2.0
    elif args.above_ground:
        position[2] += WorldQueries(world).height(position[0], position[1])
        if not np.isfinite(position).all():
            raise UserError("--above-ground: there is no surface at that place; choose another")
    return position
