# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A small place from its survey to cloud, mesh and record, through files, against the truth."""

import json

import cv2
import numpy as np
import pytest
from scipy.spatial import cKDTree

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_reconstruction.accuracy import cloud_accuracy
from aerotwin_reconstruction.bundle import BundleParameters
from aerotwin_reconstruction.dense import DenseParameters
from aerotwin_reconstruction.dense.fusion import DenseCloud
from aerotwin_reconstruction.reconstruction import reconstruct
from aerotwin_reconstruction.surface import SurfaceParameters
from aerotwin_reconstruction.survey import (
    ExifGnssNoise,
    GimbalErrors,
    PatternParameters,
    SurveyCamera,
    fly_shots,
    plan_shots,
)
from aerotwin_reconstruction.survey.photograph import photograph
from aerotwin_registration.ply import read_ply
from aerotwin_rendering import WorldQueries
from aerotwin_worlds import World, load_world

ORIGIN = GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=400.0)
HALF_M, BOX_M, ROOF_M = 40.0, 5.0, 4.0
CAMERA = SurveyCamera(width_px=400, height_px=300)
PIXEL_M = 30.0 / 300.0  # on the ground, from 30 m
TO_SURFACE_M = 0.15  # the bar of the campus, with pixels 2.7 times as large


def noise_picture(rng, n):
    coarse = sum(
        cv2.resize(rng.normal(size=(n >> k, n >> k, 3)), (n, n), interpolation=cv2.INTER_CUBIC)
        for k in (1, 2, 3, 4)
    )
    return np.clip(128.0 + 35.0 * coarse, 0, 255).astype(np.uint8)


def small_world():
    """A square of noise with a box on it."""
    rng = np.random.default_rng(1)
    h, b, z = HALF_M, BOX_M, ROOF_M
    ground = np.array([[-h, -h, 0], [h, -h, 0], [h, h, 0], [-h, h, 0]], float)
    lower = np.array([[-b, -b, 0], [b, -b, 0], [b, b, 0], [-b, b, 0]], float)
    upper = lower + np.array([0.0, 0.0, z])
    walls = [np.stack([lower[i], lower[i - 1], upper[i - 1], upper[i]]) for i in range(4)]
    uv = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)
    square = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    meshes = [
        TexturedMesh(
            vertices_map=corners,
            triangles=square,
            uv=uv,
            texture=noise_picture(rng, 1024 if corners is ground else 128),
        )
        for corners in (ground, upper, *walls)
    ]
    return World(
        name="box",
        meshes=tuple(meshes),
        origin=ORIGIN,
        attribution="test",
        licence="test",
        start_p_map=np.zeros(3),
        start_yaw=0.0,
    )


@pytest.fixture(scope="module")
def world():
    return small_world()


@pytest.fixture(scope="module")
def result(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    pattern = PatternParameters(
        pattern="lawnmower", height_m=30.0, forward_overlap=0.8, side_overlap=0.75
    )
    shots = plan_shots(pattern, CAMERA, low_m=(-12, -10), high_m=(12, 10), ground_z_m=0.0)
    gnss = ExifGnssNoise()
    taken = fly_shots(shots, GimbalErrors(), gnss, seed=1000)
    area = {"area_m": [-12.0, -10.0, 12.0, 10.0]}
    photograph(world, taken, CAMERA, gnss, folder, record=area)
    out = tmp_path_factory.mktemp("reconstruction")
    record = reconstruct(
        folder,
        out,
        bundle=BundleParameters(feature_scale=1.0, n_features=600),
        dense=DenseParameters(scale=1.0, pixel_step=1, voxel_m=0.2),
        surface=SurfaceParameters(cell_m=0.4, texel_m=0.2),
        world=world,
    )
    return out, record


def test_poses_are_better_than_gnss_and_far_better_than_the_gimbal(result):
    _, record = result
    assert record["alignment"]["n_tied"] == record["alignment"]["n_pictures"]
    assert record["alignment"]["reprojection_rms_px"] < 0.5
    assert record["pose_errors"]["position_rmse_m"] < np.sqrt(0.02**2 * 2 + 0.04**2)
    assert record["pose_errors"]["angle_rmse_deg"] < 0.15  # the gimbal: 1.7


def test_the_cloud_lies_on_the_surface_and_covers_ground_and_roof(result, world):
    out, record = result
    columns, _ = read_ply(out / "cloud.ply")
    points = np.column_stack([columns[name] for name in "xyz"]).astype(float)
    assert len(points) == record["cloud"]["n_points"]
    assert WorldQueries(world).distance(points).mean() < TO_SURFACE_M
    tree = cKDTree(points)
    for half, z in ((10.0, 0.0), (BOX_M, ROOF_M)):
        cells = np.stack(np.meshgrid(*[np.arange(-half, half, 0.5) + 0.25] * 2), -1).reshape(-1, 2)
        if z == 0.0:
            cells = cells[np.abs(cells).max(axis=1) > BOX_M + 2.0]
        target = np.column_stack([cells, np.full(len(cells), z)])
        assert np.mean(tree.query(target)[0] < 0.5) > 0.9
    normals = np.column_stack([columns[f"n{name}"] for name in "xyz"])
    flat = (np.abs(points[:, :2]).max(axis=1) < BOX_M - 1.0) & (points[:, 2] > ROOF_M - 0.5)
    assert np.median(normals[flat, 2]) > 0.95


def test_the_mesh_loads_as_a_world_with_the_heights_and_colours_of_the_place(result, world):
    out, _ = result
    found = load_world(out)
    assert found.origin.latitude_deg == pytest.approx(ORIGIN.latitude_deg)
    queries = WorldQueries(found)
    x, y = np.meshgrid(*[np.arange(-3.0, 3.1, 1.0)] * 2)
    assert np.abs(queries.height(x, y) - ROOF_M).mean() < 2.0 * PIXEL_M
    x, y = np.meshgrid(np.arange(7.5, 10.0, 0.5), np.arange(-8.0, 8.0, 0.5))
    assert np.abs(queries.height(x, y)).mean() < 2.0 * PIXEL_M
    mesh, ground = found.meshes[0], world.meshes[0].texture
    seen = np.abs(mesh.vertices_map[:, :2]).max(axis=1) < 10.0
    seen &= np.abs(mesh.vertices_map[:, :2]).max(axis=1) > BOX_M + 2.5
    h, w = mesh.texture.shape[:2]
    u, v = (mesh.uv[seen] * [w, h]).astype(int).T
    place = mesh.vertices_map[seen][:, :2]
    j, i = (
        ((place[:, 0] + HALF_M) / 80.0 * 1024).astype(int),
        ((HALF_M - place[:, 1]) / 80.0 * 1024).astype(int),
    )
    true = cv2.GaussianBlur(ground, (0, 0), 1.5)[i, j].astype(float).ravel()
    assert np.corrcoef(mesh.texture[v, u].astype(float).ravel(), true)[0, 1] > 0.6


def test_the_record_compares_the_cloud_with_the_world(result, world):
    out, record = result
    columns, _ = read_ply(out / "cloud.ply")
    points = np.column_stack([columns[name] for name in "xyz"]).astype(float)
    found, single = record["accuracy"], 1e-4
    mean = WorldQueries(world).distance(points).mean()
    assert found["to_surface_mean_m"] == pytest.approx(mean, abs=single)
    assert found["floor_mean_m"] < 0.01 < found["to_surface_mean_m"]
    assert 0.7 < found["completeness"] < 0.9  # walls are not seen well from straight above
    assert "completeness_in_strips" not in found


def test_a_survey_without_truth_is_not_compared(result, world, tmp_path):
    (tmp_path / "survey.json").write_text("{}")
    cloud = DenseCloud(
        points=np.zeros((1, 3)), normals=np.zeros((1, 3)), colours=np.zeros((1, 3), np.uint8)
    )
    with pytest.raises(UserError, match="--against"):
        cloud_accuracy(cloud, world, tmp_path, {}, 0.1)


def test_the_record_says_what_was_done(result):
    out, record = result
    assert json.loads((out / "reconstruction.json").read_text()) == json.loads(json.dumps(record))
    assert set(record["stages_s"]) == {
        "alignment", "stereo", "fusion", "surface", "accuracy",
    }  # fmt: skip
    assert (out / "poses.csv").read_text().count("\n") == record["alignment"]["n_pictures"] + 1
