# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The bundle adjustment on made-up pictures of known points: derivatives, elimination, result."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import BrownCamera
from aerotwin_reconstruction.bundle.adjustment import (
    AdjustmentBlock,
    Priors,
    adjust,
    largest_angles,
    residuals,
    triangulate,
)
from aerotwin_reconstruction.bundle.features import (
    PhotoFeatures,
    find_features,
    match,
    nearby_pairs,
)
from aerotwin_reconstruction.bundle.kernels import linearise, reduce_to_pictures, step_of_points
from aerotwin_reconstruction.bundle.tracks import Tracks, link_tracks
from aerotwin_reconstruction.survey.flight import camera_rotation

STEP_ERROR = 2e-4  # of a forward difference: half the step times the second derivative
ROUNDING = 1e-8
SUB_PIXEL = 0.1  # of a spot's extremum; a shift of the scale pyramid is 0.25
LENS = np.array([600.0, 401.0, 298.0, -0.03, 0.01])
N_LINES, N_PER_LINE = 3, 4


def made_up(seed: int = 0) -> tuple[AdjustmentBlock, Tracks]:
    """Twelve pictures from 40 m over points on uneven ground, without error."""
    rng = np.random.default_rng(seed)
    centre = np.array(
        [
            [12.0 * j, 14.0 * i, 40.0 + rng.normal(0, 1)]
            for i in range(N_LINES)
            for j in range(N_PER_LINE)
        ]
    )
    rotation = np.stack(
        [
            camera_rotation(0.3 * k, 1.5 + 0.1 * rng.normal())
            @ Rotation.from_rotvec(0.05 * rng.normal(size=3)).as_matrix()
            for k in range(len(centre))
        ]
    )
    points = np.column_stack(
        [rng.uniform(-15, 50, 250), rng.uniform(-15, 45, 250), rng.uniform(0, 8, 250)]
    )
    camera = BrownCamera(
        width=802,
        height=597,
        fx=LENS[0],
        fy=LENS[0],
        cx=LENS[1],
        cy=LENS[2],
        k1=LENS[3],
        k2=LENS[4],
    )
    picture, point, pixels = [], [], []
    for p, X in enumerate(points):
        for k, (R, c) in enumerate(zip(rotation, centre, strict=True)):
            u, v = camera.project(((X - c) @ R)[None])[0]
            if 0 <= u < 802 and 0 <= v < 597:
                picture.append(k), point.append(p), pixels.append((u, v))
    tracks = Tracks(picture=np.array(picture), point=np.array(point), pixels=np.array(pixels))
    tracks, retained = tracks.select(np.ones(len(picture), bool))
    return AdjustmentBlock(
        rotation=rotation, centre=centre, lens=LENS.copy(), points=points[retained]
    ), tracks


def priors_of(block: AdjustmentBlock, sigma_m=0.02) -> Priors:
    return Priors(
        centre=block.centre.copy(),
        centre_sigma_m=np.full_like(block.centre, sigma_m),
        rotation=block.rotation.copy(),
        rotation_sigma=0.05,
        lens=np.array([600.0, 400.0, 300.0, 0.0, 0.0]),
        lens_sigma=np.array([6.0, 3.0, 3.0, 0.1, 0.1]),
    )


def test_the_projection_is_that_of_the_brown_camera():
    block, tracks = made_up()
    np.testing.assert_allclose(residuals(block, tracks), 0.0, atol=ROUNDING)


def test_derivatives_are_those_of_small_steps():
    block, tracks = made_up()
    one = Tracks(
        picture=tracks.picture[7:8], point=np.zeros(1, np.int64), pixels=tracks.pixels[7:8]
    )
    k, X = tracks.picture[7], block.points[tracks.point[7]]

    def moved(step):
        R = block.rotation.copy()
        R[k] = R[k] @ Rotation.from_rotvec(step[:3]).as_matrix()
        centre = block.centre.copy()
        centre[k] += step[3:6]
        scaled = np.array([1.0, 1.0, 1.0, 1e-4, 1e-4]) * step[6:11]
        trial = AdjustmentBlock(
            rotation=R, centre=centre, lens=block.lens + scaled, points=(X + step[11:])[None]
        )
        return residuals(trial, one)[0]

    numeric = approx_fprime(np.zeros(14), moved, 1e-6)
    numeric[:, 9:11] *= 1e4
    r, J_picture, J_point = np.empty((1, 2)), np.empty((1, 2, 11)), np.empty((1, 2, 3))
    linearise(
        block.rotation, block.centre, block.lens, X[None].copy(), one.picture, one.point,
        one.pixels, r, J_picture, J_point,
    )  # fmt: skip
    scale = np.abs(numeric).max(axis=0)
    np.testing.assert_allclose(
        J_picture[0] / scale[:11], numeric[:, :11] / scale[:11], atol=STEP_ERROR
    )
    np.testing.assert_allclose(
        J_point[0] / scale[11:], numeric[:, 11:] / scale[11:], atol=STEP_ERROR
    )


def test_eliminating_the_points_solves_the_whole_system():
    block, tracks = made_up()
    rng = np.random.default_rng(1)
    n, k, m = len(tracks.picture), len(block.centre), tracks.n_points
    r, A, B = rng.normal(size=(n, 2)), rng.normal(size=(n, 2, 11)), rng.normal(size=(n, 2, 3))
    weight = rng.uniform(0.2, 1.0, n)
    size, damping = 6 * k + 5, 0.1
    J = np.zeros((2 * n, size + 3 * m))
    for i in range(n):
        at, rows = 6 * tracks.picture[i], slice(2 * i, 2 * i + 2)
        J[rows, at : at + 6], J[rows, size - 5 : size] = A[i, :, :6], A[i, :, 6:]
        J[rows, size + 3 * tracks.point[i] : size + 3 * tracks.point[i] + 3] = B[i]
    H = J.T @ (np.repeat(weight, 2)[:, None] * J)
    H[np.arange(size), np.arange(size)] += 5.0  # as priors make it regular
    H[np.arange(size, len(H)), np.arange(size, len(H))] *= 1.0 + damping
    whole = -np.linalg.solve(H, J.T @ (np.repeat(weight, 2) * r.ravel()))

    S, g = np.zeros((size, size)), np.zeros(size)
    V, g_v, points = np.empty((m, 3, 3)), np.empty((m, 3)), np.empty((m, 3))
    reduce_to_pictures(A, B, r, weight, tracks.picture, tracks.starts, k, damping, S, g, V, g_v)
    S = np.tril(S) + np.tril(S, -1).T + 5.0 * np.eye(size)
    step = -np.linalg.solve(S, g)
    step_of_points(A, B, weight, tracks.picture, tracks.starts, step, V, g_v, points)
    np.testing.assert_allclose(step, whole[:size], atol=1e-6)
    np.testing.assert_allclose(points.ravel(), whole[size:], atol=1e-6)


def test_poses_and_lens_are_found_from_disturbed_ones():
    block, tracks = made_up()
    rng = np.random.default_rng(2)
    turn = Rotation.from_rotvec(rng.normal(0.0, 0.02, (len(block.centre), 3))).as_matrix()
    start = replace(
        block,
        rotation=np.ascontiguousarray(block.rotation @ turn),
        centre=block.centre + rng.normal(0.0, 0.3, block.centre.shape),
        lens=np.array([603.0, 400.0, 300.0, 0.0, 0.0]),
    )
    start = replace(start, points=triangulate(start, tracks))
    priors = replace(priors_of(block), rotation_sigma=10.0)
    wide, _ = adjust(start, tracks, priors, huber_px=30.0)
    found, costs = adjust(wide, tracks, priors, huber_px=1.0, settled=1e-9)
    assert (np.diff(costs) < 0.0).all()
    # Only the lens's weak priors pull away from the truth.
    np.testing.assert_allclose(found.centre, block.centre, atol=0.02)
    np.testing.assert_allclose(found.lens[:3], LENS[:3], atol=0.5)
    off = np.swapaxes(block.rotation, 1, 2) @ found.rotation
    assert Rotation.from_matrix(off).magnitude().max() < 1e-3


def test_wrong_observations_hardly_move_the_result():
    block, tracks = made_up()
    rng = np.random.default_rng(3)
    pixels = tracks.pixels + rng.normal(0.0, 0.3, tracks.pixels.shape)
    wrong = rng.random(len(pixels)) < 0.03
    pixels[wrong] += rng.uniform(-200.0, 200.0, (int(wrong.sum()), 2))
    found, _ = adjust(block, replace(tracks, pixels=pixels), priors_of(block), huber_px=1.0)
    assert np.abs(found.centre - block.centre).max() < 0.06  # three sigma of GNSS


def test_points_lie_where_rays_meet_and_angles_are_between_them():
    block, tracks = made_up()
    np.testing.assert_allclose(triangulate(block, tracks), block.points, atol=1e-4)
    rotation = np.stack([np.eye(3)] * 2)
    pair = AdjustmentBlock(
        rotation=rotation,
        centre=np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
        lens=LENS,
        points=np.array([[0.0, 0.0, 1.0]]),
    )
    two = Tracks(picture=np.array([0, 1]), point=np.zeros(2, np.int64), pixels=np.zeros((2, 2)))
    assert largest_angles(pair, two)[0] == pytest.approx(0.5 * np.pi)


def test_tracks_join_matches_and_drop_contradictions():
    pixels = [np.arange(8.0).reshape(4, 2) + 10 * k for k in range(3)]
    pairs = np.array([[0, 1], [1, 2], [0, 2]])
    # Feature 0 runs through all three; feature 1 of picture 0 ends as two features of picture 2.
    matches = [np.array([[0, 0], [1, 1]]), np.array([[0, 0], [1, 1]]), np.array([[1, 2]])]
    tracks = link_tracks(pixels, pairs, matches, n_enough=10)
    assert tracks.n_points == 1
    np.testing.assert_array_equal(tracks.picture, [0, 1, 2])
    np.testing.assert_array_equal(tracks.pixels, [p[0] for p in pixels])


def test_pairs_are_those_that_look_at_the_same_place():
    positions = np.array([[0.0, 0, 40], [30, 0, 40], [60, 0, 40]])
    slanted = np.array([-1.0, 0.0, -1.0]) / np.sqrt(2.0)
    axes = np.array([[0.0, 0, -1], [0, 0, -1], slanted])
    kinds = {"n_neighbours": 1, "largest_angle_deg": 60.0}
    near = nearby_pairs(positions, axes, distance_m=0.0, **kinds)
    np.testing.assert_array_equal(near, [[0, 1], [1, 2]])
    looked = nearby_pairs(positions, axes, distance_m=60.0, **kinds)
    assert [1, 2] in looked.tolist()
    narrow = nearby_pairs(positions, axes, distance_m=0.0, n_neighbours=2, largest_angle_deg=30.0)
    np.testing.assert_array_equal(narrow, [[0, 1]])


def test_features_stand_in_the_middle_of_what_they_show_whatever_the_scale():
    rng = np.random.default_rng(0)
    at, x = rng.uniform(40.0, 360.0, (30, 2)), np.arange(400.0)
    spots = sum(
        150.0 * np.exp(-((x - u) ** 2 + (x[:, None] - v) ** 2) / (2.0 * 6.0**2)) for u, v in at
    )
    image = np.clip(60.0 + spots, 0, 255).astype(np.uint8)
    for scale in (1.0, 0.5):
        pixels = find_features(image, scale=scale, n_most=400).pixels
        off = pixels[:, None] - at
        nearest = np.linalg.norm(off, axis=-1).argmin(axis=1)
        off = off[np.arange(len(pixels)), nearest]
        off = off[np.linalg.norm(off, axis=1) < 1.0]
        assert len(off) > 20
        np.testing.assert_allclose(np.median(off, axis=0), 0.0, atol=SUB_PIXEL)


def test_features_match_where_descriptors_and_geometry_agree():
    block, _ = made_up()
    block = replace(block, lens=np.array([600.0, 400.5, 298.0, 0.0, 0.0]))
    rng = np.random.default_rng(4)
    K = np.array([[600.0, 0, 400.5], [0, 600.0, 298.0], [0, 0, 1.0]])
    X = np.column_stack([rng.uniform(0, 15, 120), rng.uniform(-5, 10, 120), rng.uniform(0, 6, 120)])
    descriptors = rng.random((120, 128)).astype(np.float32)
    descriptors /= np.linalg.norm(descriptors, axis=1, keepdims=True)
    order, found = rng.permutation(120), []
    for k, index in ((0, np.arange(120)), (1, order)):
        x = (X[index] - block.centre[k]) @ block.rotation[k]
        pixels = (x[:, :2] / x[:, 2:]) * 600.0 + [400.5, 298.0]
        found.append(
            PhotoFeatures(pixels=pixels.astype(np.float32), descriptors=descriptors[index])
        )
    found[1].pixels[:10] += 60.0  # ten whose place is wrong
    pairs = match(*found, K, ratio=0.8, epipolar_px=1.0)
    np.testing.assert_array_equal(pairs[:, 0], order[pairs[:, 1]])
    assert len(pairs) >= 105 and np.mean(pairs[:, 1] < 10) < 0.05
