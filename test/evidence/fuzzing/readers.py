# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How the evaluators read each format: the content, for comparison, and all that was said.

Each function raises `AssertionError` where what a reader returned is not what it promises.
"""

import hashlib
import zlib
from pathlib import Path
from typing import Any

import numpy as np

Answer = tuple[Any, tuple[str, ...]]


def read_map(path: Path) -> Answer:
    """Read a cloud, surface or grid as `aerotwin evaluate map` does."""
    from aerotwin_voxel_cloud import TriangleSurface, load_map

    found = load_map(path)
    assert np.isfinite(found.points).all(), "points that are no numbers were passed"
    assert np.isfinite(found.bounds_m).all() and found.plain()
    content = [found.points.tobytes()]
    if isinstance(found.content, TriangleSurface):
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
    content: list[Any] = [(topic, stamp, zlib.crc32(cdr)) for topic, stamp, cdr in bag.raw()]
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


def read_flight(path: Path) -> Answer:
    """Read a flight that was recorded, as `recorded_flight` does."""
    from aerotwin_trajectory_evaluation.recordings import read_recording

    found = read_recording(path)
    assert np.isfinite(found.position).all() and (np.diff(found.t) > 0).all()
    return [found.t.tobytes(), found.position.tobytes(), found.is_geodetic], found.notes


def read_submap(path: Path) -> Answer:
    """Read a submap whose checksum is that of the file: whoever sent it made both."""
    from aerotwin_teach_repeat.route_graph.submap_files import FolderSubmaps, SubmapRecord

    data = path.read_bytes()
    record = SubmapRecord(
        vertex_id=0, n_points=0, n_bytes=len(data), sha256=hashlib.sha256(data).hexdigest()
    )
    found = FolderSubmaps(path.parent.parent, "npz", {0: record}).load(0)
    return [found.points.tobytes(), found.normals.tobytes()], ()


def read_dense_map(path: Path) -> Answer:
    """Read the map of a manifest's folder."""
    from aerotwin_dense_localization.mapping.folder import load_map

    found, about = load_map(path.parent)
    surfaces = [[getattr(s, n).tobytes() for n in ("pixels", "depth")] for s in found.surfaces]
    return [surfaces, found.cloud.points.tobytes(), about], ()


def read_survey(path: Path) -> Answer:
    """Read the pictures of a survey and what they say of themselves."""
    from aerotwin_reconstruction.bundle.features import read_picture
    from aerotwin_reconstruction.survey import read_photos

    photos = read_photos(path)
    return [[str(photo.tag), read_picture(photo.path).tobytes()] for photo in photos], ()


def read_airframe(path: Path) -> Answer:
    """Read the parameters of a vehicle."""
    from aerotwin_multirotor_dynamics.airframe import load_airframe

    return load_airframe(path), ()


def read_metrics(path: Path) -> Answer:
    """Read the results of a run, of which nothing is checked but that they are JSON."""
    from aerotwin_report.runs import read_document

    return read_document(path), ()
