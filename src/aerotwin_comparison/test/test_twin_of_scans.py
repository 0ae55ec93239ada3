# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A twin on real data: scans put together with published poses and with poses of our own."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.cli import main
from aerotwin_core.frames import transform_points
from aerotwin_core.trajectory import Trajectory
from aerotwin_registration import (
    CoarseProtocol,
    IcpProtocol,
    align,
    coarse_align,
    voxel_downsample,
    write_cloud,
)
from aerotwin_trajectory_evaluation import write_tum

FOLDER = "point_clouds/balm_hku_lounge"
N_SCANS = 7
# Of the lounge's README: single scans onto maps of published poses are 2.9 cm (median) to 8.2 cm
# off; here each stands on those before, over 10 m.
POSE_ERROR_M = 0.1
VOXEL_M = 0.1
ALIGNED_VOXEL_M = 0.2
GICP = IcpProtocol(
    method="gicp",
    robust_kernel="cauchy",
    robust_m=0.05,
    max_iterations=60,
    min_fitness=0.6,
    max_turn_deg=45.0,
)
SEARCH_M = 10.0
# The last attitude stands for upright: a lidar in the hand tilts by tens of degrees.
SEARCH = CoarseProtocol(max_tilt_deg=60.0)


def accumulate(scans, poses, voxel_m):
    """Return the mean of all points (m, 3) in each voxel of the map that the poses lead to."""
    placed = [transform_points(T, scan) for scan, T in zip(scans, poses, strict=True)]
    return voxel_downsample(np.concatenate(placed), voxel_m)


def poses_of(scans):
    """Align each scan to the map of those before it; return T_map_lidar, of the first: identity.

    The start is the place of the last scan. Scans are metres and up to 150 degrees apart: where
    it is too far off, a better one is sought around it.
    """
    poses = [np.eye(4)]
    for scan in scans[1:]:
        target = accumulate(scans[: len(poses)], poses, ALIGNED_VOXEL_M)
        thin = voxel_downsample(scan, ALIGNED_VOXEL_M)
        found = align(thin, target, T_target_source_initial=poses[-1], protocol=GICP)
        if not found.converged:
            start = coarse_align(
                scan,
                target,
                max_offset_m=SEARCH_M,
                T_target_source_initial=poses[-1],
                protocol=SEARCH,
            )
            assert start.converged, start.reason
            found = align(
                thin, target, T_target_source_initial=start.T_target_source, protocol=GICP
            )
        assert found.converged, found.reason
        poses.append(found.T_target_source)
    return np.array(poses)


def read_lounge(folder):
    """Return scans, stamps [ns] and T_world_lidar."""
    rows = np.loadtxt(folder / "poses_T_world_lidar.txt")
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3, :] = rows[:, 2:14].reshape(-1, 3, 4)
    scans = [np.load(folder / f"scan_{int(row[0]):03d}.npy").astype(np.float64) for row in rows]
    return scans, np.round(rows[:, 1] * 1e9).astype(np.int64), poses


@pytest.fixture(scope="module")
def lounge(shared_data, tmp_path_factory):
    """Write both maps of the first scans, their paths, and the map of all others as the model."""
    scans, stamps_ns, poses = read_lounge(shared_data(FOLDER))
    folder = tmp_path_factory.mktemp("lounge")
    first, rest = slice(0, N_SCANS), slice(N_SCANS, None)
    write_cloud(folder / "model.ply", accumulate(scans[rest], poses[rest], VOXEL_M))
    write_cloud(folder / "given.ply", accumulate(scans[first], poses[first], VOXEL_M))
    own = poses_of(scans[first])
    write_cloud(folder / "own.ply", accumulate(scans[first], own, VOXEL_M))
    for name, T in (("own.txt", own), ("given.txt", poses[first])):
        q = Rotation.from_matrix(T[:, :3, :3]).as_quat()
        write_tum(folder / name, Trajectory(stamps_ns[first], T[:, :3, 3], q))
    (folder / "indoor.yaml").write_text(
        "name: indoor\n"
        "map: {method: gicp, radius_m: 0.5, cut_m: 0.5, within_m: [0.05, 0.1, 0.25]}\n"
        "twin: {mean_margin_m: 0.02, std_margin_m: 0.02, n_resamples: 1000}\n"
    )
    return folder, poses, own


def test_poses_of_our_registration_map_the_lounge_as_the_published_ones_do(lounge, capsys):
    folder, poses, own = lounge
    # Our map is the lidar at the first scan, whose published pose is the identity to 6 mm.
    off = [np.linalg.norm(T[:3, 3] - p[:3, 3]) for T, p in zip(own, poses)]
    assert max(off) < POSE_ERROR_M
    tokens = [str(folder / name) for name in ("given.ply", "own.ply")]
    options = {
        "--reference": "model.ply",
        "--protocol": "indoor.yaml",
        "--trajectory-a": "given.txt",
        "--trajectory-b": "own.txt",
        "-o": "twin",
    }
    for key, name in options.items():
        tokens += [key, str(folder / name)]
    code = main(
        ["evaluate", "twin", *tokens, "--kind-a", "real", "--kind-b", "real", "--json", "-"]
    )
    assert code == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["is_aligned"]
    # The model's poses are those of the given map: what it scores is the floor of this comparison.
    provided, mine = (numbers[s]["map"]["correspondences"] for s in "ab")
    assert provided["share"] > 0.9 and mine["share"] > 0.9
    assert mine["mean_m"] == pytest.approx(provided["mean_m"], abs=0.02)
    assert numbers["verdict"] == "equivalent"
    report = (folder / "twin" / "report.html").read_text()
    assert "Both are real recordings" in report
