# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Find where a picture was taken, 4 m from a cliff, in a dense map that was made from 10 m."""

import argparse
import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from aerotwin_core import PinholeCamera
from aerotwin_core.frames import make_transform
from aerotwin_dense_localization import depth, localization, mapping, splats
from aerotwin_rendering import Rasteriser
from aerotwin_worlds import load_world

CAMERA = PinholeCamera(width=480, height=320, fx=300.0, fy=300.0, cx=239.5, cy=159.5)
BASELINE_M = 0.5
WALL = {"corner_map": (-14.0, 0.8, 5.0), "along_m": 6.0, "up_m": 1.0, "yaw_rad": math.pi / 2}


def shift(x_m: float, y_m: float, z_m: float) -> np.ndarray:
    """Return a motion along the optical axes: right, down, ahead."""
    return make_transform(np.eye(3), [x_m, y_m, z_m])


def make_map(real: Rasteriser) -> mapping.DenseMap:
    """Return the map that a stereo pair makes from 10 m, its poses known."""
    stereo, builder = depth.StereoDepth(CAMERA, BASELINE_M), mapping.SplatMapBuilder()
    path = localization.raster_path(**WALL, row_m=2.0, standoff_m=10.0)
    poses = localization.virtual_poses(path, CAMERA, distance_m=10.0, overlap=0.7, setback_m=0.0)
    for k, T_left in enumerate(poses):
        left = real.render_mono(CAMERA, T_left).image
        right = real.render_mono(CAMERA, T_left @ shift(BASELINE_M, 0.0, 0.0)).image
        found = stereo.depth(left, right)  # with the variance of each pixel
        builder.add(mapping.StereoKeyframe(stamp_ns=k, image=left, depth=found.depth,
            variance=found.variance, camera=CAMERA, T_map_optical=T_left))  # fmt: skip
    return builder.finished()


def main(folder: Path) -> None:
    """Map the wall, take a picture of it, and find where that was."""
    world = load_world("cliff", parameters={"spacing_m": 0.3, "texel_m": 0.05})
    real = Rasteriser(world.meshes)
    dense_map = make_map(real)
    print(f"the map has {len(dense_map)} splats")

    # The map is rendered where the camera is going to fly: virtual key-frames to compare with.
    path = localization.raster_path(**WALL, row_m=1.0, standoff_m=4.0)
    poses = localization.virtual_poses(path, CAMERA, distance_m=4.0, overlap=0.6, setback_m=1.0)
    T_true = path[0] @ shift(2.0, -0.3, 0.2)  # beside the path
    picture = real.render_mono(CAMERA, T_true).image
    # Without a start it is looked for everywhere; what fits two places is lost, and says so.
    with localization.ImageLocalizer(
        localization.VirtualViews(dense_map, CAMERA, poses)
    ) as localizer:
        found = localizer.localize(picture)
    if not found.is_localized:
        raise SystemExit(f"lost: {found.reason}")
    error_m = np.linalg.norm(found.T_map_cam[:3, 3] - T_true[:3, 3])
    print(f"{found.status}: off by {100.0 * error_m:.1f} cm")

    cloud = dense_map.visible(CAMERA, found.T_map_cam)
    seen = splats.SplatRasteriser(CAMERA).render(cloud, found.T_map_cam)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    left.imshow(picture, cmap="gray", vmin=0, vmax=255)
    left.set(title="the picture", xticks=[], yticks=[])
    right.imshow(seen.grey, cmap="gray", vmin=0, vmax=255)
    right.set(title="the map, seen from where the picture was found", xticks=[], yticks=[])
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "localise_image.png", dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/examples"))
    main(parser.parse_args().output)
