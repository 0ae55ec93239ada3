# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A world from straight above, without perspective: its picture, and where there is ground.

The camera is so high that no surface appears half a pixel beside its place.
"""

import json
import math
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import cv2
import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.errors import UserError
from aerotwin_rendering import CameraView, Rasteriser, optical_pose
from aerotwin_worlds import World, load_world

MOST_PX = 1000
PICTURE, GROUND, ABOUT = "top.jpg", "ground.png", "top.json"
REFUSED = 3
_MARGIN = 1.02
_SMALLEST_M = 1.0
_MOST_SHIFT_PX = 0.5
_EMPTY_RGB = (236, 239, 244)
_JPEG_QUALITY = 88


@dataclass(frozen=True, kw_only=True)
class TopView:
    """What a page needs to place things on the picture.

    `west_m`, `north_m` is the outer corner of its upper left pixel from the world's start.
    """

    width: int
    height: int
    m_per_px: float
    west_m: float
    north_m: float
    start_yaw_deg: float  # of the world, counter-clockwise from east
    attribution: str

    def pixel(self, east_m: float, north_m: float) -> tuple[int, int] | None:
        """Return column and row of a place from the world's start [m]; None beside the picture."""
        column = math.floor((east_m - self.west_m) / self.m_per_px)
        row = math.floor((self.north_m - north_m) / self.m_per_px)
        is_inside = 0 <= column < self.width and 0 <= row < self.height
        return (column, row) if is_inside else None


def render_top_view(world: World, most_px: int = MOST_PX) -> tuple[TopView, np.ndarray, np.ndarray]:
    """Return a view, its picture (h, w, 3) RGB, and where there is a surface (h, w) bool."""
    low, high = world.bounds_m
    size_m = np.maximum((high - low)[:2] * _MARGIN, _SMALLEST_M)
    m_per_px = float(size_m.max()) / most_px
    width, height = (max(round(length / m_per_px), 1) for length in size_m)
    middle = (low + high)[:2] / 2.0
    relief_m = max(float(high[2] - low[2]), 1.0)
    corner_m = math.hypot(width, height) * m_per_px / 2.0
    above_m = max(corner_m * relief_m / (_MOST_SHIFT_PX * m_per_px), corner_m)
    # The scale of the picture is that of the middle of the relief.
    eye = np.array([*middle, (low[2] + high[2]) / 2.0 + above_m])
    focal_px = above_m / m_per_px
    camera = PinholeCamera(
        width=width, height=height, fx=focal_px, fy=focal_px,
        cx=(width - 1) / 2.0, cy=(height - 1) / 2.0,
    )  # fmt: skip
    view = CameraView(
        camera=camera,
        T_map_optical=optical_pose(eye, yaw=math.pi / 2.0, pitch_down=math.pi / 2.0),
        encoding="rgb8",
        near_m=above_m / 2.0,
    )
    frame = Rasteriser(world.meshes, backend="cpu").render([view])[0]
    assert frame.depth is not None and frame.image is not None
    is_ground = np.isfinite(frame.depth)
    picture = np.where(is_ground[..., None], frame.image, np.array(_EMPTY_RGB, np.uint8))
    west, north = middle + np.array([-width, height]) * m_per_px / 2.0 - world.start_p_map[:2]
    about = TopView(
        width=width,
        height=height,
        m_per_px=m_per_px,
        west_m=float(west),
        north_m=float(north),
        start_yaw_deg=math.degrees(world.start_yaw),
        attribution=f"{world.name}; {world.attribution}; {world.licence}",
    )
    return about, picture, is_ground


def write_top_view(spec: str, folder: Path) -> None:
    """Write the files of a world's view into a folder; raises UserError as `load_world`."""
    about, picture, is_ground = render_top_view(load_world(spec))
    quality = [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY]
    cv2.imwrite(str(folder / PICTURE), picture[..., ::-1], quality)
    cv2.imwrite(str(folder / GROUND), is_ground.astype(np.uint8) * 255)
    (folder / ABOUT).write_text(json.dumps(asdict(about)), encoding="utf-8")


def read_top_view(folder: Path) -> tuple[TopView, np.ndarray]:
    """Return what `write_top_view` wrote: the view, and where there is a surface (h, w) bool."""
    about = TopView(**json.loads((folder / ABOUT).read_text(encoding="utf-8")))
    return about, cv2.imread(str(folder / GROUND), cv2.IMREAD_GRAYSCALE) > 0


def main() -> None:
    """Write the view of a world into a folder within so many seconds: the arguments."""
    signal.alarm(math.ceil(float(sys.argv[3])))  # ends it, also if the page was killed
    try:
        write_top_view(sys.argv[1], Path(sys.argv[2]))
    except UserError as error:
        sys.stdout.write(str(error))
        sys.exit(REFUSED)


if __name__ == "__main__":
    main()
