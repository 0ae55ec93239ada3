# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Features on the images of a scan before a painted wall."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform
from aerotwin_dense_localization.localization import Status, raster_path
from aerotwin_rendering import Rasteriser
from aerotwin_scenarios.dense_localization.flights import SCAN, CameraTrack, Pictures
from aerotwin_scenarios.dense_localization.mapping import make_map, record_frames
from aerotwin_scenarios.dense_localization.scanning import CAMERA
from evidence.dense_study.features import FeatureBaselines
from evidence.dense_study.results import METHODS
from support.wall_stage import NORTH, WALL_Y_M, wall_world

PLACED_M = {"orb": 0.15, "sift": 0.05}
"""At 4 m from a map whose pixels are 12 mm; features lie within a pixel or two of it."""
STANDOFF_M = 4.0


def track_of(poses):
    stamps_ns = np.arange(len(poses)) * 1_000_000_000
    return CameraTrack(stamps_ns=stamps_ns, T_map_optical=poses, T_map_optical_reported=poses)


@pytest.fixture(scope="module")
def rasteriser():
    return Rasteriser(wall_world().meshes)


@pytest.fixture(scope="module")
def baselines(rasteriser):
    afar = raster_path([-2.0, WALL_Y_M, 5.0], 4.0, 0.5, row_m=1, standoff_m=11, yaw_rad=NORTH)
    track = track_of(afar[:2])
    made = make_map(record_frames(rasteriser, track, seed=3), track, has_truth=True)
    path = raster_path([-0.5, WALL_Y_M, 5.0], 1.0, 0.5, row_m=1, standoff_m=4, yaw_rad=NORTH)
    return FeatureBaselines(made, path[:2], STANDOFF_M)


def test_features_place_an_image_in_four_ways(baselines, rasteriser):
    turn = Rotation.from_rotvec([0.02, -0.03, 0.05]).as_matrix()
    there = raster_path([0, WALL_Y_M, 5.1], 1, 1, row_m=1, standoff_m=STANDOFF_M, yaw_rad=NORTH)[0]
    there = there @ make_transform(turn, np.zeros(3))
    expected = there @ make_transform(np.eye(3), [0.3, -0.2, 0.2])
    grey = Pictures(rasteriser, CAMERA, seed=3).mono(there, 0, SCAN)
    found = baselines.localize(grey, expected)
    assert sorted(found) == sorted(METHODS[1:])
    for method, one in found.items():
        assert one.status is Status.TRACKED, f"{method}: {one.reason}"
        off_m = np.linalg.norm(one.T_map_cam[:3, 3] - there[:3, 3])
        assert off_m < PLACED_M[method.partition("_")[0]], method


def test_an_image_without_features_is_lost_and_says_why(baselines):
    there = raster_path([0, WALL_Y_M, 5], 1, 1, row_m=1, standoff_m=STANDOFF_M, yaw_rad=NORTH)[0]
    for one in baselines.localize(np.full((480, 752), 90, np.uint8), there).values():
        assert one.status is Status.LOST and one.T_map_cam is None
        assert one.reason == "0 of 0 matches agree"
