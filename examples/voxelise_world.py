# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Turn a world into voxels, write them as binvox, and draw them from above and in a cut."""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from aerotwin_voxel_cloud import frame_of_box, read_binvox, voxelise, write_binvox
from aerotwin_worlds import load_world

RESOLUTION_M = 0.5


def main(folder: Path) -> None:
    """Voxelise a stadium, write it, read it back and draw it."""
    world = load_world("stadium", parameters={"texel_m": 0.5, "spacing_m": 2.0})
    vertices, triangles = world.surface()

    # The frame says which cells there are: a box of the map by its centre and size. It is a choice
    # apart from the surface, so that two surfaces can be laid into the same cells and compared.
    frame = frame_of_box([0.0, 0.0, 10.0], [200.0, 160.0, 24.0], RESOLUTION_M)
    # A cell is occupied when a triangle touches it: thin walls and cables are never lost.
    grid = voxelise(vertices, triangles, RESOLUTION_M, frame=frame)
    print(f"{grid.n_occupied} of {frame.n_cells} cells of {RESOLUTION_M} m are occupied")

    # Back from the file it is the same grid; AirSim's dialect is another argument of both.
    folder.mkdir(parents=True, exist_ok=True)
    write_binvox(folder / "stadium.binvox", grid)
    grid, _ = read_binvox(folder / "stadium.binvox")

    # Grids are sparse; dense() is the array (east, north, up) that planners and networks want.
    occupied = grid.dense()
    low, high = grid.origin_m, grid.origin_m + RESOLUTION_M * np.array(grid.dims)
    layer = occupied.shape[2] - np.argmax(occupied[:, :, ::-1], axis=2)
    height_m = np.where(occupied.any(axis=2), low[2] + RESOLUTION_M * layer, np.nan)

    figure, (top, cut) = plt.subplots(
        2, 1, figsize=(9, 8), height_ratios=(6, 1), layout="constrained"
    )
    extent = (low[0], high[0], low[1], high[1])
    shown = top.imshow(height_m.T, origin="lower", extent=extent, cmap="turbo")
    figure.colorbar(shown, ax=top, label="height of the highest cell [m]")
    top.axhline(0.0, color="white", linestyle="--")
    extent = (low[0], high[0], low[2], high[2])
    cut.imshow(occupied[:, grid.dims[1] // 2].T, origin="lower", extent=extent, cmap="Greys")
    top.set(xlabel="east [m]", ylabel="north [m]", title=f"{world.name} from above")
    cut.set(xlabel="east [m]", ylabel="up [m]", title="cut along the dashed line")
    figure.savefig(folder / "voxelise_world.png", dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/examples"))
    main(parser.parse_args().output)
