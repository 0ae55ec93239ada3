# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teach a route in a point cloud without driving it, and let a robot repeat it by its lidar."""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from aerotwin_reconstruction.degradation import sample_surface
from aerotwin_rendering import WorldQueries
from aerotwin_repeat_evaluation import lateral_errors
from aerotwin_scenarios.teach_repeat import RepeatStudy, run_repeat
from aerotwin_teach_repeat.teaching import teach_route
from aerotwin_worlds import load_world

WAYPOINTS = [[0.8, -35.5], [8.8, -35.7], [16.8, -35.9], [20.8, -35.8]]  # east, north, on the road


def main(folder: Path) -> None:
    """Teach 20 m of a campus road, repeat them once, and compare where the robot really was."""
    world = load_world("campus", parameters={"spacing_m": 1.0, "texel_m": 0.3})
    # The cloud stands for a reconstruction; here it is the true surface, a point per 0.2 m squared.
    cloud = sample_surface(world.meshes, 0.2, seed=7).points_map
    is_near = np.abs(cloud[:, :2] - [10.0, -36.0]).max(axis=1) < 45.0

    # Way-points become a smooth path on the ground; every vertex of the graph has a submap, what
    # a lidar would see around it. save() writes the graph into a folder for a robot.
    graph = teach_route(cloud[is_near], np.array(WAYPOINTS))
    route_ids = graph.runs[0]
    print(f"taught {len(route_ids)} vertices")

    # Closed loop: the simulated robot hands over scans of the true world and wheel speeds, gets
    # commands back, and is told nothing of the truth. It starts up to 0.5 m beside the route.
    study = RepeatStudy(n_repeats=1, seed=1000)
    record = run_repeat(graph, route_ids, WorldQueries(world), study, 0)
    print(f"{record.state}: {record.reason}")
    route = graph.poses_map(route_ids)[:, :3, 3]
    # Left of the route is positive.
    true = lateral_errors(route, record.truth.p_ref_body)
    settled = true.error_m[true.s_m > 5.0]
    print(f"beside the route: RMS {100 * np.sqrt(np.mean(settled**2)):.1f} cm after the first 5 m")

    figure, (place, error) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    place.scatter(*cloud[is_near][::20, :2].T, c=cloud[is_near][::20, 2], s=0.3, cmap="Greys")
    place.plot(*route[:, :2].T, color="C0", linewidth=4, alpha=0.4, label="taught")
    place.plot(*record.truth.p_ref_body[:, :2].T, color="C1", label="driven")
    place.set(xlabel="east [m]", ylabel="north [m]", aspect="equal")
    place.set(xlim=(-10.0, 32.0), ylim=(-52.0, -20.0))
    place.legend(loc="upper right")
    error.plot(true.s_m, 100.0 * true.error_m)
    error.set(xlabel="along the route [m]", ylabel="truly beside the route [cm]")
    error.grid(alpha=0.3)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "teach_and_repeat.png", dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/examples"))
    main(parser.parse_args().output)
