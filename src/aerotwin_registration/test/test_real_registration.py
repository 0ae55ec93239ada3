# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Real scans with published motions; the figures are those of point_clouds/README.md."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import transform_points
from aerotwin_registration import (
    ICP_PRESETS,
    IcpProtocol,
    align,
    read_cloud,
    voxel_downsample,
)

CAR_T_TARGET_SOURCE = np.array(
    [
        [0.982304, 0.166685, -0.0854066, 0.0446816],
        [-0.150189, 0.973488, 0.172524, 0.191998],
        [0.111899, -0.156644, 0.981296, -0.0356313],
        [0.0, 0.0, 0.0, 1.0],
    ]
)
PLANE = replace(ICP_PRESETS["plane"], voxel_m=0.2)


def errors(T, T_true):
    """Return (shift [cm], turn [deg]) between two poses."""
    turn = Rotation.from_matrix(T_true[:3, :3].T @ T[:3, :3]).magnitude()
    return 100.0 * np.linalg.norm(T[:3, 3] - T_true[:3, 3]), np.degrees(turn)


# The truth is good to 2 cm / 0.3 deg: six neighbours or thirty, every result lies within.
@pytest.mark.parametrize(
    ("protocol", "limit_cm", "limit_deg"),
    [
        (IcpProtocol(robust_kernel="cauchy", robust_m=0.3), 3.3, 0.24),
        (IcpProtocol(method="point_to_plane", n_neighbours=6), 1.5, 0.15),
        (IcpProtocol(method="gicp", n_neighbours=6), 0.7, 0.33),
    ],
    ids=["point_to_point", "point_to_plane", "gicp"],
)
def test_outdoor_pair_from_the_identity(shared_data, protocol, limit_cm, limit_deg):
    folder = shared_data("point_clouds/small_gicp")
    source, target = (read_cloud(folder / f"{name}.ply").points for name in ("source", "target"))
    result = align(source, target, protocol=replace(protocol, voxel_m=0.25))
    shift, turn = errors(result.T_target_source, np.loadtxt(folder / "T_target_source.txt"))
    assert result.converged, result.reason
    assert shift <= limit_cm and turn <= limit_deg


@pytest.fixture(scope="module")
def car(shared_data):
    folder = shared_data("point_clouds/libpointmatcher")
    target = np.loadtxt(folder / "car_cloud400.csv", delimiter=",", skiprows=1)[:, :3]
    return np.loadtxt(folder / "car_cloud401.csv"), target


def car_protocol(method, max_iterations=20):
    """The README's choices; 20 iterations are those of the solver that its figures come from."""
    return IcpProtocol(method=method, voxel_m=0.02, radius_m=0.5, max_iterations=max_iterations)


@pytest.mark.parametrize("method", ["point_to_point", "point_to_plane"])
def test_car_pair_is_out_of_reach_of_plain_icp_and_said_to_be(car, method):
    result = align(*car, protocol=car_protocol(method))
    assert not result.converged
    assert result.reason == "still moving after 20 iterations"


def test_car_pair_is_refused_to_point_to_point_however_long_it_iterates(car):
    result = align(*car, protocol=car_protocol("point_to_point", 1500))
    assert errors(result.T_target_source, CAR_T_TARGET_SOURCE)[1] > 1.0
    assert not result.converged
    assert "explains" in result.reason and "more of the points" in result.reason


def test_car_pair_is_solved_by_point_to_plane_once_it_may_iterate_until_it_settles(car):
    """A right answer late is a right answer: as near as GICP's, far within the truth's 0.1."""
    result = align(*car, protocol=car_protocol("point_to_plane", 1500))
    shift, turn = errors(result.T_target_source, CAR_T_TARGET_SOURCE)
    assert result.converged, result.reason
    assert 20 < result.n_iterations < 100
    assert shift < 1.35 and turn < 0.15  # GICP: 0.8 cm / 0.15 deg


def test_car_pair_is_solved_by_gicp(car):
    result = align(*car, protocol=car_protocol("gicp"))
    shift, turn = errors(result.T_target_source, CAR_T_TARGET_SOURCE)
    assert result.converged, result.reason
    assert shift < 0.85 and turn < 0.155  # 0.8 cm / 0.15 deg as printed


@pytest.fixture(scope="module")
def lounge(shared_data):
    folder = shared_data("point_clouds/balm_hku_lounge")
    table = np.loadtxt(folder / "poses_T_world_lidar.txt")
    poses = [np.vstack([row[2:].reshape(3, 4), [0, 0, 0, 1]]) for row in table]
    scans = [np.load(folder / f"scan_{int(row[0]):03d}.npy").astype(float) for row in table]
    return poses, scans


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_lounge_scans_meet_their_successors(lounge, every):
    poses, scans = lounge
    found = []
    for i in range(0, len(scans) - 1, every):
        T = np.linalg.inv(poses[i]) @ poses[i + 1]
        result = align(scans[i + 1], scans[i], T_target_source_initial=T, protocol=PLANE)
        assert result.converged, result.reason
        found.append(errors(result.T_target_source, T))
    if every == 1:  # the README's median is that of all pairs
        assert (np.median(found, axis=0) <= [1.2, 0.08]).all()
    assert (np.max(found, axis=0) <= [2.5, 0.17]).all()


@pytest.mark.slow
def test_every_lounge_scan_finds_its_place_in_the_map_of_the_others(lounge):
    poses, scans = lounge
    placed = [transform_points(T, points) for T, points in zip(poses, scans, strict=True)]
    rng, found = np.random.default_rng(1000), []
    for i, T in enumerate(poses):
        others = voxel_downsample(np.vstack(placed[:i] + placed[i + 1 :]), 0.2)
        start = T.copy()
        start[:3, 3] += rng.normal(0.0, 0.2, 3)
        start[:3, :3] = (
            Rotation.from_euler("z", rng.normal(0.0, 3.0), degrees=True).as_matrix() @ T[:3, :3]
        )
        result = align(scans[i], others, T_target_source_initial=start, protocol=PLANE)
        assert result.converged, result.reason
        found.append(errors(result.T_target_source, T))
    assert (np.median(found, axis=0) <= [2.9, 0.09]).all()
    assert (np.max(found, axis=0) <= [8.2, 0.19]).all()
