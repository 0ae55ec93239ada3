# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Judge a map against the true surface: how accurate it is, how complete, and where is it off.

The map is made here from the surface of a generated place: with noise, a bend, a hole, and in a
frame that is off by half a metre, as that of a SLAM is which did not quite know where it began.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform, transform_points
from aerotwin_map_evaluation import MapProtocol, SurfaceReference, evaluate_map
from aerotwin_reconstruction.degradation import sample_surface
from aerotwin_worlds import World, load_world

NOISE_M = 0.05


def make_map(world: World, rng: np.random.Generator) -> np.ndarray:
    """Return points (n, 3) of a map of the cliff: noisy, bent, with a hole, misplaced."""
    points = sample_surface(world.meshes, 0.3, seed=1).points_map  # one per 0.3 m squared
    is_near = (np.abs(points[:, 0]) < 30.0) & (np.abs(points[:, 1]) < 25.0)
    is_hole = np.hypot(points[:, 0] - 10.0, points[:, 2] - 8.0) < 4.0
    points = points[is_near & ~is_hole]
    points += rng.normal(0.0, NOISE_M, points.shape)
    points[:, 1] += 0.3 * (points[:, 0] / 30.0) ** 2  # bent by 30 cm at both ends
    T = make_transform(Rotation.from_euler("z", 2.0, degrees=True).as_matrix(), [0.3, -0.4, 0.1])
    return transform_points(T, points)


def main(folder: Path) -> None:
    """Align the map, score it, and draw each point's distance to the true surface."""
    world = load_world("cliff", parameters={"spacing_m": 0.8, "texel_m": 0.5})
    points = make_map(world, np.random.default_rng(7))

    # The protocol fixes every choice, and its hash stands in the result: two maps are comparable
    # when their hashes are equal. within_m are the distances that count as "near".
    protocol = MapProtocol(voxel_m=0.5, within_m=(0.1, 0.2, 0.4))
    result = evaluate_map(SurfaceReference(*world.surface()), points, protocol=protocol)

    # Read first whether the alignment may be used; a failed one says why and is no identity.
    print(f"aligned: {result.registration.converged}, {result.registration.reason}")
    before, after = result.surface_distances, result.aligned_surface_distances
    print(f"distance to the surface: mean {before.mean():.3f} m as it came, {after.mean():.3f} m")
    print(f"                         aligned; its noise alone makes about {0.8 * NOISE_M:.3f} m")

    figure, (front, histogram) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    is_wall = np.abs(result.points_map[:, 1]) < 12.0
    shown = front.scatter(
        *result.points_map[is_wall][:, [0, 2]].T, c=after[is_wall], s=2.0, cmap="turbo", vmax=0.2
    )
    figure.colorbar(shown, ax=front, label="distance to the true surface [m]")
    front.set(xlabel="east [m]", ylabel="up [m]", aspect="equal", title="the cliff from the sea")
    bins = np.linspace(0.0, 0.8, 60)
    histogram.hist(
        [before, after], bins, label=["as it came", "aligned"], histtype="stepfilled", alpha=0.7
    )
    histogram.set(xlabel="distance to the true surface [m]", ylabel="points")
    histogram.legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "evaluate_map.png", dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/examples"))
    main(parser.parse_args().output)
