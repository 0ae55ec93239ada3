# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Render one picture of a world, in colour.

The camera stands at a position in the map, looks along its yaw (0 = east, 90 = north) and is
pitched down by --pitch-deg. Height is that above the map's zero, or with --above-ground above the
surface.

  aerotwin world render cliff --position-m -10 -10 6 --yaw-deg 90 -o cliff.png
"""

import argparse
from pathlib import Path


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
    parser.add_argument("--focal-px", type=float, help="default: 458 px at 752 px of width")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="PNG")


def run(args: argparse.Namespace) -> int:
    """Render and write the picture."""
    import math

    import cv2
    import numpy as np

    from aerotwin_core.camera import PinholeCamera
    from aerotwin_core.errors import UserError
    from aerotwin_worlds import Rasteriser, WorldQueries, load_world
    from aerotwin_worlds.view import optical_pose

    width, height = args.size_px
    if not (1 <= width <= 8192 and 1 <= height <= 8192):
        raise UserError(f"--size-px: must be 1 to 8192, got {width} {height}; choose another")
    world = load_world(args.world)
    position = np.array(args.position_m or world.start_p_map, float)
    if not args.position_m:
        position[2] += 2.0
    elif args.above_ground:
        position[2] += WorldQueries(world).height(position[0], position[1])
        if not np.isfinite(position).all():
            raise UserError("--above-ground: there is no surface at that place; choose another")
    yaw = world.start_yaw if args.yaw_deg is None else math.radians(args.yaw_deg)
    focal = args.focal_px or 458.0 * width / 752.0
    camera = PinholeCamera(
        width=width, height=height, fx=focal, fy=focal, cx=(width - 1) / 2, cy=(height - 1) / 2
    )
    pose = optical_pose(position, yaw=yaw, pitch_down=math.radians(args.pitch_deg))
    picture = Rasteriser(world.meshes).render_rgb(camera, pose)
    if not cv2.imwrite(str(args.out), picture[..., ::-1]):
        raise UserError(f"{args.out}: cannot be written; check the folder and its ending (.png)")
    print(f"{args.out}  ({world.name}; {world.attribution}; {world.licence})")
    return 0
