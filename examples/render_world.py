# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Make a generated world and render what a camera sees of it: a picture and its depth."""

import argparse
import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from aerotwin_core import PinholeCamera
from aerotwin_rendering import CameraView, Rasteriser, optical_pose
from aerotwin_worlds import load_world


def main(folder: Path) -> None:
    """Render the entrance of a campus in colour, with depth."""
    # A name from worlds/, a YAML file or a folder; "campus@1003" asks for another seed, another
    # campus. The ground and textures of this one are coarse, so that it is made in seconds.
    world = load_world("campus", parameters={"texel_m": 0.08})
    print(f"{world.name}: {world.n_triangles} triangles, from {world.bounds_m[0].round()} m")

    # Focal length and centre in pixels, as a calibration file has them.
    camera = PinholeCamera(width=640, height=400, fx=400.0, fy=400.0, cx=319.5, cy=199.5)
    # Where it is in the map (x east, y north, z up); yaw counts from east, counter-clockwise.
    T_map_optical = optical_pose([-70.0, -60.0, 22.0], yaw=math.radians(40), pitch_down=0.35)
    view = CameraView(camera=camera, T_map_optical=T_map_optical, encoding="rgb8")

    # One rasteriser serves any number of pictures; views of one instant go in one call.
    (frame,) = Rasteriser(world.meshes).render([view])
    # Depth is along the optical axis, infinite where there is only sky.
    is_seen = np.isfinite(frame.depth)
    print(f"sees {100 * is_seen.mean():.0f} % surface, nearest {frame.depth.min():.1f} m")

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.2), layout="constrained")
    left.imshow(frame.image)
    shown = right.imshow(np.where(is_seen, frame.depth, np.nan), cmap="turbo")
    figure.colorbar(shown, ax=right, label="depth [m]")
    for axes, title in ((left, "image"), (right, "depth; sky has none")):
        axes.set_title(title)
        axes.set_axis_off()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "render_world.png", dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/examples"))
    main(parser.parse_args().output)
