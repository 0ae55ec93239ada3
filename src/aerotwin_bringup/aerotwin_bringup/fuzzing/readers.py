# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How the evaluators read each format: the content, for comparison, and all that was said.

Each function raises `AssertionError` where what a reader returned is not what it promises.
"""

from pathlib import Path
from typing import Any

import numpy as np

Answer = tuple[Any, tuple[str, ...]]


def read_map(path: Path) -> Answer:
    """Read a cloud, surface or grid as `aerotwin evaluate map` does."""
    from aerotwin_voxel_cloud import Surface, load_map

    found = load_map(path)
    assert np.isfinite(found.points).all(), "points that are no numbers were passed"
    assert np.isfinite(found.bounds_m).all() and found.plain()
    content = [found.points.tobytes()]
    if isinstance(found.content, Surface):
        triangles = found.content.triangles
        assert len(triangles), "a surface without triangles was passed"
        assert triangles.min() >= 0 and triangles.max() < len(found.points), "a corner is nowhere"
        content.append(triangles.tobytes())
    else:
        assert len(found.points), "an empty cloud was passed"
    return content, (*found.notes, *(() if found.unit.startswith("m ") else (found.unit,)))


def read_tum(path: Path) -> Answer:
    """Read a TUM file as `aerotwin evaluate trajectory` does."""
    return _trajectory(path, "tum")


def read_kitti(path: Path) -> Answer:
    """Read a KITTI file."""
    return _trajectory(path, "kitti")


def read_euroc(path: Path) -> Answer:
    """Read a EuRoC file."""
    return _trajectory(path, "euroc")


def read_csv_trajectory(path: Path) -> Answer:
    """Read a trajectory with named columns."""
    return _trajectory(path, "csv")


def _trajectory(path: Path, file_format: str) -> Answer:
    from aerotwin_trajectory_evaluation.files import load_trajectory

    found = load_trajectory(path, file_format=file_format)
    return _poses(found.trajectory), found.notes


def _poses(trajectory: Any) -> list[bytes]:
    assert len(trajectory), "an empty trajectory was passed"
    assert np.isfinite(trajectory.p_ref_body).all() and np.isfinite(trajectory.q_ref_body).all()
    assert (np.diff(trajectory.stamps_ns) > 0).all(), "stamps do not increase"
    arrays = trajectory.stamps_ns, trajectory.p_ref_body, trajectory.q_ref_body
    return [array.tobytes() for array in arrays]


def read_bag(path: Path) -> Answer:
    """Read every message of a bag, its trajectory and its clouds."""
    from aerotwin_core.bag import BagReader
    from aerotwin_core.errors import UserError
    from aerotwin_registration.bag_clouds import read_bag_cloud

    bag = BagReader(path)
    content: list[Any] = [(topic, stamp, cdr) for topic, stamp, cdr in bag.raw()]
    said: list[str] = []
    for read in (_bag_poses, _bag_cloud):
        try:
            content.append(read(bag, read_bag_cloud))
        except UserError as error:
            said.append(str(error))
    assert all(path.name in line for line in said), f"the bag is not named: {said}"
    return content, (*bag.problems, *said)


def _bag_poses(bag: Any, _: Any) -> list[bytes]:
    return _poses(bag.poses("/odom").trajectory)


def _bag_cloud(bag: Any, read_bag_cloud: Any) -> bytes:
    cloud = read_bag_cloud(bag, "/points", poses="/odom")
    assert len(cloud) and np.isfinite(cloud.points).all()
    return cloud.points.tobytes()


def read_protocol(path: Path) -> Answer:
    """Read the map part of a protocol file."""
    from aerotwin_core.protocol import load_protocol
    from aerotwin_map_evaluation.protocol import MapProtocol

    return load_protocol(MapProtocol, "map", path, {}).plain(), ()
