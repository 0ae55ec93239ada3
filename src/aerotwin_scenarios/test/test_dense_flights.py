# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Mapping flight and scan before a painted wall, as a whole."""

import numpy as np
import pytest
import yaml

from aerotwin_core.frames import make_transform
from aerotwin_dense_localization.localization import ImageLocalization, Status, raster_path
from aerotwin_rendering import Rasteriser
from aerotwin_scenarios.dense_localization.flights import (
    CHANGING,
    T_BODY_OPTICAL,
    CameraTrack,
    Pictures,
    _between,
    camera_mission,
    fly_camera,
)
from aerotwin_scenarios.dense_localization.mapping import make_map, record_frames
from aerotwin_scenarios.dense_localization.scanning import CAMERA, ScanRun, scan_wall
from support.wall_stage import NORTH, WALL_Y_M, wall_world


@pytest.fixture(scope="module")
def world():
    return wall_world()


def test_a_mission_leads_the_camera_not_the_body(world):
    path = raster_path([1.0, WALL_Y_M, 4.0], 5.0, 1.0, row_m=1.0, standoff_m=2.0, yaw_rad=NORTH)
    content = yaml.safe_load(camera_mission(path, world, 0.7))
    first = content["waypoints"][0]
    ahead_m = T_BODY_OPTICAL[0, 3]
    np.testing.assert_allclose(first["position_m"], [1.0, WALL_Y_M - 2.0 - ahead_m, 4.0])
    assert first["yaw_deg"] == pytest.approx(90.0)
    assert content["speed_m_s"] == 0.7
    assert len(content["waypoints"]) == len(path) + 1  # and home


def test_scores_of_a_scan_count_what_has_no_pose_or_a_wrong_one():
    true = np.array([make_transform(np.eye(3), [k, 0.0, 0.0]) for k in range(4)])
    off = [0.1, 0.2, 0.9, None]
    found = tuple(
        ImageLocalization(
            status=Status.TRACKED if e is not None else Status.LOST,
            T_map_cam=None if e is None else make_transform(np.eye(3), [k - 5.0, e, 0.0]),
            covariance=None,
            correlation=0.0,
            overlap=0.0,
            reason="",
        )
        for k, e in enumerate(off)
    )
    track = CameraTrack(stamps_ns=np.arange(4), T_map_optical=true, T_map_optical_reported=true)
    scan = ScanRun(track=track, found=found, T_true_map=make_transform(np.eye(3), [5.0, 0.0, 0.0]))
    metrics = scan.metrics()
    assert (metrics["n_frames"], metrics["n_lost"]) == (4, 2)
    assert metrics["ate_mean_m"] == pytest.approx(0.4)
    assert metrics["ate_max_m"] == pytest.approx(0.9)
    assert metrics["ate_unaligned_mean_m"] > 4.9
    assert metrics["turn_mean_deg"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.flying
def test_what_was_mapped_from_afar_places_a_camera_at_the_wall(world, tmp_path):
    rasteriser = Rasteriser(world.meshes)
    afar = raster_path([-3.0, WALL_Y_M, 5.0], 6.0, 2.0, row_m=2.0, standoff_m=11.0, yaw_rad=NORTH)
    track = fly_camera(world, afar, tmp_path / "map", speed_m_s=2.0, rate_hz=1.0, seed=3)
    made = make_map(record_frames(rasteriser, track, seed=3), track, has_truth=False)
    assert made.n_links >= len(made.keyframes) - 1
    assert made.position_errors_m(is_aligned=True).mean() < 0.02
    R, p = made.T_true_map[:3, :3], made.T_true_map[:3, 3]
    points = made.dense_map.cloud.points @ R.T + p
    is_wall = points[:, 2] > 1.0
    assert np.abs(points[is_wall, 1] - WALL_Y_M).mean() < 0.05
    near = raster_path([-2.0, WALL_Y_M, 5.0], 3.0, 0.3, row_m=0.3, standoff_m=2.0, yaw_rad=NORTH)
    flown = fly_camera(world, near, tmp_path / "scan", speed_m_s=1.0, rate_hz=4.0, seed=3)
    pictures = Pictures(rasteriser, CAMERA, seed=3, exposure=CHANGING)
    metrics = scan_wall(made, near, flown, pictures, standoff_m=2.0).metrics()
    assert metrics["n_frames"] > 10
    assert metrics["n_lost"] == 0
    assert metrics["ate_mean_m"] < 0.05
    assert metrics["turn_mean_deg"] < 2.0


def test_a_track_ends_where_the_path_does_also_where_it_comes_by_twice():
    x = np.concatenate(
        [np.linspace(-3, 2, 51), np.linspace(2, -1, 31)[1:], np.linspace(-1, -3, 21)]
    )
    z = np.concatenate([np.zeros(51), np.full(30, 0.2), np.full(21, 0.1)])
    poses = np.array([make_transform(np.eye(3), [a, 0.0, b]) for a, b in zip(x, z, strict=True)])
    track = CameraTrack(
        stamps_ns=np.arange(len(x)), T_map_optical=poses, T_map_optical_reported=poses
    )
    way = [[-1.0, 0, 0], [2.0, 0, 0], [2.0, 0, 0.2], [-1.0, 0, 0.2]]
    part = _between(track, np.array([make_transform(np.eye(3), p) for p in way]))
    assert (part.stamps_ns[0], part.stamps_ns[-1]) == (20, 80)
