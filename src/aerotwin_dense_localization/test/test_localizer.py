# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A camera near a painted wall, localised in a map that was made from afar."""

import dataclasses
import re
from itertools import pairwise

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import invert_transform
from aerotwin_dense_localization.alignment import DepthImage, DirectAlignment
from aerotwin_dense_localization.localization import (
    ImageLocalizer,
    LocalizationParameters,
    Status,
    VirtualViews,
    follow_surface,
    raster_path,
    virtual_poses,
)
from aerotwin_dense_localization.localization import localizer as localizer_module
from aerotwin_dense_localization.localization.localizer import _covariance_map
from aerotwin_dense_localization.localization.witness import halves, witnessed
from aerotwin_dense_localization.mapping import SplatMapBuilder
from support.painted_wall import Wall, pose, waves

SCAN = PinholeCamera(width=300, height=200, fx=180.0, fy=180.0, cx=149.5, cy=99.5)
WALL = Wall(normal=(0.0, 0.0, 1.0), offset_m=3.0, paint=lambda x, y: waves(2.0 * x, 2.0 * y))
NEAR_M = 0.01
"""From the wall's 1 m; its map has pixels of 1.5 cm."""
PARAMETERS = LocalizationParameters(setback_m=0.5)
CELLS = 0.04
"""Overlap is counted in cells of 1/50 of a view's edges: one each of its width and height."""
FLOWN = [pose([0, 0, 0], [0.4 * k, 0.0, 0.0]) for k in range(8)]
"""Where the wall was mapped from."""


@pytest.fixture(scope="module")
def dense():
    builder = SplatMapBuilder()
    for k, T in enumerate(FLOWN):
        builder.add(WALL.keyframe(T, stamp_ns=k, sigma_m=0.005, seed=k))
    return builder.finished()


@pytest.fixture(scope="module")
def path():
    return np.array([pose([0, 0, 0], [x, 0.0, 2.0]) for x in (0.0, 2.8)])


@pytest.fixture
def views(dense, path):
    poses = virtual_poses(path, SCAN, distance_m=1.0, overlap=0.6, setback_m=0.5)
    views = VirtualViews(dense, SCAN, poses, PARAMETERS)
    yield views
    views.close()


def flight(n=16):
    rng = np.random.default_rng(4)
    return [
        pose(rng.normal(0, 0.01, 3), [2.8 * k / (n - 1), 0.03 * np.sin(k), 2.0]) for k in range(n)
    ]


def image(T, *, noise_dn=2.0, seed=0):
    grey = WALL.seen(SCAN, T)[0]
    return grey + np.random.default_rng(seed).normal(0, noise_dn, grey.shape)


def off_m(found, T):
    return float(np.linalg.norm(found.T_map_cam[:3, 3] - T[:3, 3]))


def test_every_image_of_a_scan_finds_its_place_and_nothing_accumulates(views):
    localizer, errors = ImageLocalizer(views, flight()[0]), []
    for k, T in enumerate(flight()):
        # Exposure changes from image to image.
        found = localizer.localize((0.7 + 0.04 * k) * image(T, seed=k) + 3.0 * k)
        assert found.status is Status.TRACKED, found.reason
        errors.append(off_m(found, T))
        assert np.degrees(turn(found.T_map_cam, T)) < 1.0
    assert max(errors) < NEAR_M
    assert np.mean(errors[8:]) < 2.0 * np.mean(errors[:8])


def turn(T_a, T_b):
    return Rotation.from_matrix(T_a[:3, :3].T @ T_b[:3, :3]).magnitude()


def test_views_that_are_rendered_ahead_change_nothing(dense, path):
    poses = virtual_poses(path, SCAN, distance_m=1.0, overlap=0.6, setback_m=0.5)
    found = []
    for n_kept in (1, 50):
        views = VirtualViews(
            dense, SCAN, poses, LocalizationParameters(setback_m=0.5, n_cached_views=n_kept)
        )
        localizer = ImageLocalizer(views, flight()[0])
        found.append([localizer.localize(image(T)).T_map_cam for T in flight()[:6]])
        views.close()
    assert np.array(found[0]).tobytes() == np.array(found[1]).tobytes()


def test_a_camera_that_was_carried_away_is_found_again(views):
    localizer = ImageLocalizer(views, flight()[0])
    assert localizer.localize(image(flight()[0])).status is Status.TRACKED
    there = pose([0, 0, 0], [2.5, 0.0, 2.0])
    found = localizer.localize(image(there))
    assert found.status is Status.RELOCALIZED
    assert off_m(found, there) < NEAR_M
    assert localizer.localize(image(there)).status is Status.TRACKED


def test_a_camera_that_knows_nothing_is_found(views):
    there = pose([0, 0, 0.02], [1.3, 0.02, 2.0])
    found = ImageLocalizer(views).localize(image(there))
    assert found.status is Status.RELOCALIZED
    assert off_m(found, there) < NEAR_M


def test_a_camera_beside_the_views_is_found_by_its_looks(views):
    there = pose([0, 0, -0.03], [1.45, 0.2, 2.05])
    places = views.places(image(there))
    assert places[0].correlation > 0.8 > 0.6 > places[-1].correlation
    T_map_cam = views.poses[places[0].k] @ places[0].T_view_cam
    pixel_m = 8.0 * 1.5 / SCAN.fx  # of the small view
    assert np.linalg.norm(T_map_cam[:2, 3] - there[:2, 3]) < 1.5 * pixel_m
    found = ImageLocalizer(views).localize(image(there))
    assert found.status is Status.RELOCALIZED
    assert off_m(found, there) < NEAR_M


def test_a_single_image_is_placed_by_a_view_from_its_own_place(dense):
    there, start = pose([0.0, 0.0, 0.02], [1.3, 0.02, 1.9]), pose([0.02, 0.0, 0.0], [1.2, 0.0, 1.7])
    overlaps = []
    for n in (0, 1):
        views = VirtualViews(
            dense, SCAN, start, LocalizationParameters(setback_m=0.0, n_refinements=n)
        )
        found = ImageLocalizer(views, start).localize(image(there))
        views.close()
        assert found.status is Status.TRACKED, found.reason
        assert off_m(found, there) < NEAR_M
        overlaps.append(found.overlap)
    assert overlaps[0] < 0.9 and overlaps[1] > 0.99


def test_of_two_places_that_look_alike_none_is_believed():
    def again(x, y):  # every 0.9 m
        phase = 2.0 * np.pi * x / 0.9
        return (
            120.0
            + 30.0 * np.sin(phase)
            + 20.0 * np.sin(2.0 * phase + 3.0 * y)
            + 10.0 * np.sin(7.0 * y)
        )

    wall = dataclasses.replace(WALL, paint=again)
    views = views_of(wall)
    grey = wall.seen(SCAN, pose([0, 0, 0], [1.3, 0.0, 2.0]))[0]
    noise = np.random.default_rng(0).normal(0, 4.0, grey.shape)
    found = ImageLocalizer(views).localize(grey + noise)
    views.close()
    assert found.status is Status.LOST
    assert re.search(r"two places (0\.9|1\.8|2\.7)\d m apart look alike", found.reason)


def views_of(wall):
    """Return views 0.5 m behind a scan at 1 m from a wall that was mapped."""
    builder = SplatMapBuilder()
    for k, T in enumerate(FLOWN):
        builder.add(wall.keyframe(T, stamp_ns=k, sigma_m=0.005, seed=k))
    path = np.array([pose([0, 0, 0], [x, 0.0, 2.0]) for x in (0.0, 2.8)])
    poses = virtual_poses(path, SCAN, distance_m=1.0, overlap=0.6, setback_m=0.5)
    parameters = dataclasses.replace(PARAMETERS, n_candidates=len(poses))
    return VirtualViews(builder.finished(), SCAN, poses, parameters)


def test_a_place_that_half_of_the_image_does_not_find_is_not_believed(views):
    here, there = pose([0, 0, 0], [1.4, 0.0, 2.0]), pose([0, 0, 0], [2.1, 0.1, 2.0])
    view = views.render(here)
    first, other = halves(image(there))
    mixed = np.where(np.isnan(first), image(here), first)
    alone = view.aligner.align(mixed, SCAN, np.eye(4))
    believed = dataclasses.replace(alone, converged=True, reason="")
    judged = witnessed(view.aligner, mixed, SCAN, believed)
    assert not judged.converged
    assert judged.reason.startswith("half of the image alone finds no place there")
    assert np.isnan(other).sum() + np.isnan(first).sum() == first.size


def test_after_a_place_without_expectation_what_looks_alike_near_it_needs_a_witness(views):
    places, n = flight(), []

    def counted(*arguments):
        n.append(1)
        return witnessed(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(localizer_module, "witnessed", counted)
        localizer = ImageLocalizer(views)
        for T, n_more in zip(places, (1, 1, 0), strict=False):
            before = len(n)
            assert localizer.localize(image(T)).is_localized
            assert (len(n) - before >= 1) is bool(n_more)


def test_the_covariance_of_a_witnessed_place_grows_with_what_view_and_image_disagree():
    """Images are bent smoothly, as by a map that is: errors are then not those of noise.

    Of six unknowns the squared errors over the covariance are drawn from F(6, 6), which has a
    median of 1, and 95 % below 4.3, where bends of both halves are independent.
    """
    rng = np.random.default_rng(11)
    here = pose([0, 0, 0], [1.4, 0.0, 2.0])
    grey, depth = WALL.seen(SCAN, here)
    aligner = DirectAlignment(DepthImage(grey=grey, depth=depth, camera=SCAN))
    ratios, alone = [], []
    for _ in range(30):
        bends = [cv2.GaussianBlur(rng.normal(0, 1, grey.shape), (0, 0), 25.0) for _ in range(2)]
        u, v = (b / b.std() + n for b, n in zip(bends, np.indices(grey.shape)[::-1], strict=True))
        bent = cv2.remap(
            grey.astype(np.float32), u.astype(np.float32), v.astype(np.float32), cv2.INTER_LINEAR
        )
        found = aligner.align(bent, SCAN, np.eye(4))
        assert found.converged, found.reason
        E = invert_transform(found.T_view_cam)
        d = np.concatenate([E[:3, 3], Rotation.from_matrix(E[:3, :3]).as_rotvec()])
        honest = witnessed(aligner, bent, SCAN, found)
        assert honest.converged, honest.reason
        ratios.append(d @ np.linalg.solve(honest.covariance, d) / 6.0)
        alone.append(d @ np.linalg.solve(found.covariance, d) / 6.0)
    assert np.median(alone) > 20.0
    assert 0.3 < np.median(ratios) < 3.0  # sigmas are right within a factor of 1.7


def test_beside_the_path_a_view_is_rendered_where_the_camera_is(views):
    beside = pose([0, 0, 0.35], [1.4, 0.35, 1.9])
    found = ImageLocalizer(views, beside).localize(image(beside))
    assert found.is_localized
    assert off_m(found, beside) < NEAR_M


def test_what_is_not_the_wall_is_lost_and_the_next_image_is_not(views):
    localizer, places = ImageLocalizer(views, flight()[0]), flight()
    localizer.localize(image(places[0]))
    other = 120.0 + np.random.default_rng(0).normal(0, 40, (200, 300))
    lost = localizer.localize(other)
    assert lost.status is Status.LOST
    assert lost.T_map_cam is None and lost.covariance is None and lost.reason
    again = localizer.localize(image(places[1]))
    assert again.is_localized
    assert off_m(again, places[1]) < NEAR_M


def test_the_covariance_is_that_of_the_camera_in_axes_of_the_map():
    rng = np.random.default_rng(0)
    T_map_view, T_view_cam = pose(rng.normal(0, 1, 3), [1, 2, 3]), pose([0.1, 0, 0], [0.5, 0.2, 1])
    T_map_cam = T_map_view @ T_view_cam
    A = rng.normal(0, 1e-3, (6, 6))
    covariance = A @ A.T
    draws = rng.multivariate_normal(np.zeros(6), covariance, 20_000)
    moved = T_map_view @ np.array([pose(d[3:], d[:3]) for d in draws]) @ T_view_cam
    turns = moved[:, :3, :3] @ T_map_cam[:3, :3].T
    found = np.column_stack(
        [moved[:, :3, 3] - T_map_cam[:3, 3], Rotation.from_matrix(turns).as_rotvec()]
    )
    expected = _covariance_map(covariance, T_map_view, T_map_cam)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((np.cov(found.T) - expected) / scale).max() < 0.05  # 5 / sqrt(20 000) = 0.035


def test_a_raster_goes_to_and_fro_at_its_distance():
    poses = raster_path([2.0, 5.0, 1.0], 4.0, 1.0, row_m=0.6, standoff_m=2.0, yaw_rad=np.pi / 2)
    expected = [
        [2, 3, 1], [6, 3, 1], [6, 3, 1.5], [2, 3, 1.5], [2, 3, 2], [6, 3, 2],
    ]  # fmt: skip
    np.testing.assert_allclose(poses[:, :3, 3], expected, atol=1e-12)
    for T in poses:
        np.testing.assert_allclose(T[:3, 2], [0, 1, 0], atol=1e-12)  # looks north, at the wall
        np.testing.assert_allclose(T[:3, 1], [0, 0, -1], atol=1e-12)
    with pytest.raises(ValueError, match="row_m must be positive"):
        raster_path([0, 0, 0], 1, 1, row_m=0, standoff_m=1, yaw_rad=0)


def test_a_path_keeps_its_distance_from_the_map(dense):
    path = np.array([pose([0, 0, 0], [x, 0.0, 1.0 + 0.3 * x]) for x in (0.2, 2.6)])
    poses = follow_surface(path, dense, standoff_m=0.8)
    assert len(poses) >= 6
    np.testing.assert_allclose(poses[:, 2, 3], 3.0 - 0.8, atol=0.03)
    np.testing.assert_allclose(poses[[0, -1], 0, 3], [0.2, 2.6], atol=1e-9)
    away = np.array([pose([0, 0, 0], [x, 9.0, 1.0]) for x in (0.2, 2.6)])
    with pytest.raises(ValueError, match="no surface before"):
        follow_surface(away, dense, standoff_m=0.8)


def shared_on_wall(p_a, p_b):
    """Return the smaller share of a view of the wall, 1 m ahead of b, that two level poses share.

    Closed form: views are rectangles on the wall.
    """
    size_m = np.array([SCAN.width - 1, SCAN.height - 1]) / SCAN.fx
    shares = []
    for here, there in ((p_a, p_b), (p_b, p_a)):
        mine, other = 0.5 * size_m, 0.5 * size_m * (1.0 + here[2] - there[2])
        apart = np.abs(there[:2] - here[:2])
        shared = np.minimum(mine, apart + other) - np.maximum(-mine, apart - other)
        shares.append(np.prod(np.maximum(shared, 0.0) / (2.0 * mine)))
    return min(shares)


@pytest.mark.parametrize("overlap", [0.3, 0.6, 0.8, 0.9])
@pytest.mark.parametrize(
    "end_m", [(2.8, 0.0, 0.0), (0.0, 2.8, 0.0), (2.8, 0.2, 0.0), (2.0, 2.0, 0.0), (0.0, 0.0, 2.8)]
)
def test_virtual_key_frames_share_the_requested_area(end_m, overlap):
    way = np.array([pose([0, 0, 0], p) for p in ((0.0, 0.0, 0.0), end_m)])
    poses = virtual_poses(way, SCAN, distance_m=1.0, overlap=overlap, setback_m=0.5)
    assert poses[-1, :3, 3] == pytest.approx(np.add(end_m, [0.0, 0.0, -0.5]))
    n_stations = int(np.ceil(np.linalg.norm(end_m) / 0.05))
    for a, b in pairwise(poses[:-1, :3, 3]):
        station_before = b - np.array(end_m) / n_stations
        assert shared_on_wall(a, b) < overlap + CELLS
        assert shared_on_wall(a, station_before) >= overlap - CELLS


@pytest.mark.parametrize("drift_m", [0.0, 0.001, 0.2])
def test_more_overlap_takes_more_virtual_key_frames(drift_m):
    way = np.array([pose([0, 0, 0], [x, drift_m * x, 0.0]) for x in (0.0, 10.0)])
    counts = [
        len(virtual_poses(way, SCAN, distance_m=1.0, overlap=overlap, setback_m=0.5))
        for overlap in (0.2, 0.4, 0.6, 0.8, 0.9)
    ]
    assert counts == sorted(set(counts))
    # A view is 1.66 m wide: 0.33 m share 0.8 of it, less what the path rises; stations are 5 cm.
    assert 25 <= counts[3] <= 45


def test_all_of_a_view_cannot_be_shared(path):
    with pytest.raises(ValueError, match="overlap"):
        virtual_poses(path, SCAN, distance_m=1.0, overlap=1.0, setback_m=0.0)


def test_there_must_be_a_virtual_key_frame(dense):
    with pytest.raises(ValueError, match="no pose"):
        VirtualViews(dense, SCAN, np.empty((0, 4, 4)))
