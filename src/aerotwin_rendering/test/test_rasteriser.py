# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The rasteriser against closed forms, Embree and supersampled pictures."""

import hashlib
import subprocess
import sys

import cv2
import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import CameraView, Rasteriser, WorldQueries, optical_pose

CAMERA = PinholeCamera(width=96, height=64, fx=80.0, fy=76.0, cx=47.5, cy=31.5)
SINGLE = 1e-6  # single precision of stored depths, relative
EMBREE = 1e-3  # metres; the bar of the rasteriser's depth
PSNR_DB = 30.0  # the bar of the picture against 64 samples a pixel
SAMPLE_ERROR = 0.06  # ratio of two spreads of 200 edges: 1/sqrt(2 * 200)
SMALL = PinholeCamera(width=12, height=5, fx=40.0, fy=40.0, cx=5.5, cy=2.0)
GREY = np.full((1, 1, 3), 200, np.uint8)
CLIFF_POSE = optical_pose([-10.0, -9.5, 7.0], yaw=1.5, pitch_down=0.1)


def facing_quad(quad, depth, left=-1.0, right=1.0, top=-1.0, bottom=1.0, texture=None):
    """A rectangle across the optical axis of a camera at the identity pose."""
    corners = [
        (left, top, depth), (right, top, depth), (right, bottom, depth), (left, bottom, depth)
    ]  # fmt: skip
    return quad(corners, texture)


def test_facing_rectangle_covers_the_pixels_whose_centres_project_into_it(quad):
    frame = Rasteriser([facing_quad(quad, 4.0)]).render_mono(CAMERA, np.eye(4))
    u, v = np.meshgrid(np.arange(96), np.arange(64))
    inside = (np.abs((u - 47.5) / 80.0 * 4.0) < 1.0) & (np.abs((v - 31.5) / 76.0 * 4.0) < 1.0)
    np.testing.assert_array_equal(np.isfinite(frame.depth), inside)
    np.testing.assert_allclose(frame.depth[inside], 4.0, rtol=SINGLE)
    within = cv2.erode(inside.astype(np.uint8), np.ones((3, 3))) > 0  # edges are softened
    assert (frame.image[within] == 100).all()


def test_a_pixel_sized_rectangle_lights_the_pixel_where_its_centre_projects(quad):
    centre = CAMERA.unproject(np.array([[20.0, 45.0]]), np.array([3.0]))[0]
    dx, dy = 0.49 * 3.0 / 80.0, 0.49 * 3.0 / 76.0
    mesh = facing_quad(quad, 3.0, centre[0] - dx, centre[0] + dx, centre[1] - dy, centre[1] + dy)
    hit = np.argwhere(np.isfinite(Rasteriser([mesh]).render_mono(CAMERA, np.eye(4)).depth))
    np.testing.assert_array_equal(hit, [[45, 20]])


def test_texture_stands_upright_and_unmirrored(quad):
    texture = np.repeat(np.array([[10, 80], [160, 240]], np.uint8)[..., None], 3, axis=2)
    mesh = facing_quad(quad, 1.0, -0.4, 0.4, -0.3, 0.3, texture=texture)
    image = Rasteriser([mesh], level_bias=-9.0).render_mono(CAMERA, np.eye(4)).image
    assert image[12, 18] == 10
    assert image[12, 77] == 80
    assert image[51, 18] == 160
    assert image[51, 77] == 240


def test_texture_is_linear_in_space_not_on_the_screen(quad):
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
    # A wall that recedes to the right: x from -1 to 1 while depth grows from 2 to 6.
    wall = quad([(-1, -1, 2), (1, -1, 6), (1, 1, 6), (-1, 1, 2)], np.repeat(ramp, 4, axis=0))
    frame = Rasteriser([wall], level_bias=-9.0).render_mono(CAMERA, np.eye(4))
    u = np.flatnonzero(np.isfinite(frame.depth[31]))[2:-2]
    ray = (u - 47.5) / 80.0
    x = 4.0 * ray / (1.0 - 2.0 * ray)  # x = ray * depth, depth = 4 + 2 x
    np.testing.assert_allclose(frame.depth[31, u], 4.0 + 2.0 * x, rtol=SINGLE)
    expected = (x + 1.0) / 2.0 * 256.0 - 0.5
    assert np.abs(frame.image[31, u] - expected).max() <= 0.5 + 1e-3  # rounding to a byte


def test_ground_that_passes_under_the_camera_is_cut_at_the_near_plane(quad):
    ground = quad([(-500, 1.5, -400), (500, 1.5, -400), (500, 1.5, 900), (-500, 1.5, 900)])
    depth = Rasteriser([ground]).render_mono(CAMERA, np.eye(4)).depth
    ray = (np.arange(64) - 31.5) / 76.0
    expected = np.full(64, np.inf)
    below = (ray > 0) & (900 * ray > 1.5)
    expected[below] = 1.5 / ray[below]
    np.testing.assert_allclose(depth, np.repeat(expected[:, None], 96, axis=1), rtol=SINGLE)


def test_nearer_surface_hides_the_farther_one_whatever_their_order(quad):
    near = facing_quad(quad, 2.0, -0.2, 0.2, texture=np.full((1, 1, 3), 50, np.uint8))
    far = facing_quad(quad, 3.0, -9.0, 9.0, texture=np.full((1, 1, 3), 150, np.uint8))
    for meshes in ([near, far], [far, near]):
        image = Rasteriser(meshes).render_mono(CAMERA, np.eye(4)).image
        assert image[32, 48] == 50
        assert image[32, 10] == 150


def test_of_coincident_surfaces_the_first_is_seen(quad):
    first = facing_quad(quad, 2.0, texture=np.full((1, 1, 3), 50, np.uint8))
    second = facing_quad(quad, 2.0, texture=np.full((1, 1, 3), 150, np.uint8))
    image = Rasteriser([first, second]).render_mono(CAMERA, np.eye(4)).image
    assert image[32, 48] == 50


def test_a_far_checkerboard_is_its_mean_grey(quad):
    checks = (np.indices((256, 256)).sum(axis=0) % 2 * 200).astype(np.uint8)
    board = facing_quad(quad, 5.0, texture=np.repeat(checks[..., None], 3, axis=2))
    frame = Rasteriser([board]).render_mono(CAMERA, np.eye(4))
    within = cv2.erode(np.isfinite(frame.depth).astype(np.uint8), np.ones((3, 3))) > 0
    assert np.abs(frame.image[within].astype(int) - 100).max() <= 1


def test_surface_of_many_triangles_has_no_cracks():
    n = 60
    grid = np.linspace(-3, 3, n)
    x, y = np.meshgrid(grid, grid)
    rng = np.random.default_rng(0)
    inner = np.zeros((n, n))
    inner[1:-1, 1:-1] = 1.0
    x, y = (a + inner * rng.uniform(-0.03, 0.03, a.shape) for a in (x, y))
    z = 2.5 + 0.2 * rng.uniform(size=x.shape)
    corner = np.arange(n * n, dtype=np.int32).reshape(n, n)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]
    mesh = TexturedMesh(
        vertices_map=np.dstack([x, y, z]).reshape(-1, 3),
        triangles=np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3),
        uv=np.zeros((n * n, 2), np.float32),
        texture=np.full((1, 1, 3), 9, np.uint8),
    )
    # Integer coordinates of the camera put vertices of an unperturbed grid onto pixel centres.
    frame = Rasteriser([mesh]).render_mono(CAMERA, np.eye(4))
    assert np.isfinite(frame.depth).all()


def test_depth_on_the_cliff_is_that_of_embree(coarse_cliff, world_of):
    frame = Rasteriser(coarse_cliff).render_mono(CAMERA, CLIFF_POSE)
    u, v = np.meshgrid(np.arange(96.0), np.arange(64.0))
    rays = CAMERA.unproject(np.column_stack([u.ravel(), v.ravel()]), np.ones(u.size))
    directions = rays @ CLIFF_POSE[:3, :3].T
    origins = np.broadcast_to(CLIFF_POSE[:3, 3], directions.shape)
    ranges = WorldQueries(world_of(*coarse_cliff)).cast(origins, directions)
    expected = ranges / np.linalg.norm(rays, axis=1)
    depth = frame.depth.ravel()
    np.testing.assert_array_equal(np.isfinite(depth), np.isfinite(expected))
    hit = np.isfinite(depth)
    assert hit.mean() > 0.9
    # Beside an occluding edge single-precision rays may pass on the other side: two in a thousand.
    wrong = np.abs(depth[hit] - expected[hit]) > EMBREE
    assert wrong.mean() < 0.002


def test_picture_of_the_cliff_is_that_of_64_samples_a_pixel(coarse_cliff):
    fine = 8
    large = PinholeCamera(
        width=96 * fine, height=64 * fine, fx=80.0 * fine, fy=76.0 * fine,
        cx=47.5 * fine + (fine - 1) / 2, cy=31.5 * fine + (fine - 1) / 2,
    )  # fmt: skip
    pose = optical_pose([-10.0, -24.0, 7.0], yaw=1.5, pitch_down=0.05)
    rasteriser = Rasteriser(coarse_cliff)
    image = rasteriser.render_mono(CAMERA, pose).image.astype(float)
    samples = rasteriser.render_mono(large, pose).image.astype(float)
    reference = samples.reshape(64, fine, 96, fine).mean(axis=(1, 3))
    assert np.std(reference) > 15.0  # there is something to see
    psnr = 10.0 * np.log10(255.0**2 / np.mean((image - reference) ** 2))
    assert psnr >= PSNR_DB


def test_an_edge_is_blended_by_an_eighth_and_a_slanting_plane_not_at_all(quad):
    white = facing_quad(quad, 2.0, -5.0, 0.001, -5.0, 5.0, np.full((1, 1, 3), 200, np.uint8))
    black = facing_quad(quad, 9.0, -50.0, 50.0, -50.0, 50.0, np.zeros((1, 1, 3), np.uint8))
    row = Rasteriser([white, black]).render_mono(CAMERA, np.eye(4)).image[31]
    np.testing.assert_array_equal(row[46:50], [200, 175, 25, 0])
    stripes = np.zeros((1, 256, 3), np.uint8)
    stripes[:, 128:] = 200
    wall = quad([(-1, -9, 2), (1, -9, 12), (1, 9, 12), (-1, 9, 2)], stripes)  # 79 degrees
    image = Rasteriser([wall], level_bias=-9.0).render_mono(CAMERA, np.eye(4)).image
    # The stripe's edge is as sharp as bilinear look-up makes it: one texel is far below a pixel.
    seen = image[31][np.isfinite(Rasteriser([wall]).render_mono(CAMERA, np.eye(4)).depth[31])]
    assert set(seen[1:-1]) <= {0, 200}


def test_softened_edges_are_nearer_to_the_covered_area(quad):
    rng = np.random.default_rng(6)
    errors = {"sampled": [], "softened": []}
    black = quad([(-99, -99, 9), (99, -99, 9), (99, 99, 9), (-99, 99, 9)], GREY * 0)
    for x in rng.uniform(-0.05, 0.05, 200):
        white = quad([(-9, -9, 2), (x, -9, 2), (x, 9, 2), (-9, 9, 2)], GREY)
        rasteriser = Rasteriser([white, black])
        frame = rasteriser.render([CameraView(camera=SMALL, T_map_optical=np.eye(4))])[0]
        edge = x / 2.0 * SMALL.fx + SMALL.cx
        covered = 200.0 * np.clip(edge + 0.5 - np.arange(SMALL.width), 0.0, 1.0)
        errors["softened"].append(frame.image[2] - covered)
        errors["sampled"].append(np.where(frame.depth[2] < 5.0, 200.0, 0.0) - covered)
    rmse = {name: np.sqrt(np.mean(np.square(rows))) for name, rows in errors.items()}
    # Mean squares for a pixel pair at an edge: 1/12 when sampled, 1/48 + 2/64 when softened.
    expected = np.sqrt((1 / 48 + 2 / 64) * 12)
    assert rmse["softened"] / rmse["sampled"] == pytest.approx(expected, abs=SAMPLE_ERROR)


def test_stereo_pair_is_two_views_a_baseline_apart(coarse_cliff):
    rasteriser = Rasteriser(coarse_cliff)
    rig = StereoRig(camera=CAMERA, baseline_m=0.11)
    left, right = rasteriser.render_stereo(rig, CLIFF_POSE)
    T_right = CLIFF_POSE.copy()
    T_right[:3, 3] += 0.11 * CLIFF_POSE[:3, 0]
    for frame, T in ((left, CLIFF_POSE), (right, T_right)):
        single = rasteriser.render_mono(CAMERA, T)
        np.testing.assert_array_equal(frame.image, single.image)
        np.testing.assert_array_equal(frame.depth, single.depth)


def test_points_seen_left_appear_right_by_the_disparity(quad):
    texture = np.random.default_rng(1).integers(0, 255, (64, 64, 3)).astype(np.uint8)
    rasteriser = Rasteriser([facing_quad(quad, 2.0, -3, 3, -3, 3, texture)])
    rig = StereoRig(camera=CAMERA, baseline_m=0.25)  # disparity 80 * 0.25 / 2 = 10 px
    left, right = rasteriser.render_stereo(rig, np.eye(4))
    np.testing.assert_array_equal(left.image[:, 10:], right.image[:, :-10])


def test_number_of_threads_does_not_change_a_byte(coarse_cliff):
    frames = [
        Rasteriser(coarse_cliff, n_threads=n).render_mono(CAMERA, CLIFF_POSE) for n in (1, 2, 3)
    ]
    assert len({f.image.tobytes() for f in frames}) == 1
    assert len({f.depth.tobytes() for f in frames}) == 1


_PROGRAM = """
import hashlib, numpy as np
from aerotwin_core.camera import PinholeCamera
from aerotwin_worlds import Rasteriser, optical_pose
from aerotwin_generated_worlds.cliff import CliffParameters, build_cliff
meshes = build_cliff(CliffParameters(seed=3, spacing_m=0.4, texel_m=0.06))
camera = PinholeCamera(width=96, height=64, fx=80.0, fy=76.0, cx=47.5, cy=31.5)
pose = optical_pose([-10.0, -9.5, 7.0], yaw=1.5, pitch_down=0.1)
frame = Rasteriser(meshes, n_threads=1).render_mono(camera, pose)
digest = hashlib.sha256(frame.image.tobytes() + frame.depth.tobytes())
for mesh in meshes:
    for array in (mesh.vertices_map, mesh.triangles, mesh.uv, mesh.texture):
        digest.update(array.tobytes())
print(digest.hexdigest())
"""


def test_another_process_makes_the_same_bytes(coarse_cliff):
    frame = Rasteriser(coarse_cliff, n_threads=2).render_mono(CAMERA, CLIFF_POSE)
    digest = hashlib.sha256(frame.image.tobytes() + frame.depth.tobytes())
    for mesh in coarse_cliff:
        for array in (mesh.vertices_map, mesh.triangles, mesh.uv, mesh.texture):
            digest.update(array.tobytes())
    out = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True, timeout=300
    )
    assert out.stdout.strip() == digest.hexdigest()


def test_colour_picture_keeps_the_channels_in_order(quad):
    red = facing_quad(quad, 2.0, texture=np.full((1, 1, 3), (200, 100, 50), np.uint8))
    picture = Rasteriser([red]).render_rgb(CAMERA, np.eye(4))
    np.testing.assert_array_equal(picture[32, 48], [200, 100, 50])


def test_sky_is_smooth_and_brightest_overhead(quad):
    rasteriser = Rasteriser([facing_quad(quad, 2.0)])
    up = rasteriser.render_mono(CAMERA, optical_pose([0, 0, 50], yaw=0.3, pitch_down=-0.6)).image
    assert np.abs(np.diff(up.astype(int), axis=0)).max() <= 1
    assert up[0].mean() > up[-1].mean()


def test_a_pose_with_nan_is_refused(quad):
    with pytest.raises(ValueError, match="finite"):
        Rasteriser([facing_quad(quad, 2.0)]).render_mono(CAMERA, np.full((4, 4), np.nan))
