# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The dense map of a painted plane."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates, uniform_filter

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import invert_transform
from aerotwin_dense_localization.mapping import (
    DenseMap,
    LinkParameters,
    MapParameters,
    SplatMapBuilder,
    StereoKeyframe,
    agree_poses,
    find_links,
)
from aerotwin_dense_localization.mapping.kernels import make_splats
from aerotwin_dense_localization.mapping.map_builder import _salience
from aerotwin_dense_localization.mapping.surface import from_lab, to_lab
from aerotwin_dense_localization.splats import SplatRasteriser
from aerotwin_dense_localization.splats.cloud import UPPER
from support.painted_wall import CAMERA, Wall, pose

SIGMA_M = 0.03
LONG = PinholeCamera(width=320, height=240, fx=500.0, fy=500.0, cx=159.5, cy=119.5)


def poses_along(n, step_m=0.25):
    rng = np.random.default_rng(7)
    return [pose(rng.normal(0, 0.01, 3), [step_m * k, 0.02 * k, 0.0]) for k in range(n)]


def build(keyframes, **parameters):
    builder = SplatMapBuilder(MapParameters(**parameters))
    return builder, [builder.add(keyframe) for keyframe in keyframes]


def test_points_become_better_with_every_view():
    wall, spread = Wall(), []
    for n in (1, 4, 9):
        frames = [
            wall.keyframe(pose([0, 0, 0], [0.01 * k, 0, 0]), sigma_m=SIGMA_M, seed=k)
            for k in range(n)
        ]
        builder, _ = build(frames, min_views=n)
        dense = builder.finished()
        spread.append(np.std(wall.off(dense.cloud.points)))
    # The normal is 0.2 rad off the axis. Views correlate little: nearest pixels, new noise.
    expected = SIGMA_M / np.linalg.norm(wall.normal)
    assert spread[0] == pytest.approx(expected, rel=0.05)
    assert spread[1] == pytest.approx(expected / 2.0, rel=0.1)
    assert spread[2] == pytest.approx(expected / 3.0, rel=0.15)


def test_a_second_pass_does_not_double_the_wall():
    wall = Wall()
    there = [wall.keyframe(T, sigma_m=0.01, seed=k) for k, T in enumerate(poses_along(6))]
    back = [replace(frame, stamp_ns=10 + k) for k, frame in enumerate(reversed(there))]
    once, _ = build(there)
    twice, reports = build([*there, *back])
    n_once, n_twice = (sum(map(len, builder.surfaces)) for builder in (once, twice))
    assert n_twice < 1.03 * n_once
    assert all(report.overlap > 0.97 for report in reports[6:])
    assert not any(report.n_finer for report in reports)


def test_a_wrong_depth_is_distinguished_from_a_thing_newly_seen():
    wall = Wall()
    frames = [wall.keyframe(pose([0, 0, 0], [0.02 * k, 0, 0]), sigma_m=0.005) for k in range(3)]
    patch = np.s_[80:140, 100:180]
    wrong = replace(frames[0], depth=frames[0].depth.copy())
    wrong.depth[patch] *= 0.8  # looks as before, lies elsewhere
    builder, reports = build([*frames, wrong])
    assert reports[-1].n_spurious > 0.95 * 60 * 80
    assert reports[-1].n_revealed < 0.05 * 60 * 80
    assert np.abs(wall.off(builder.finished().cloud.points)).max() < 0.1
    box = replace(wrong, image=frames[0].image.copy())
    box.image[patch] = 250
    builder, reports = build([*frames, box])
    assert reports[-1].n_revealed > 0.9 * 60 * 80
    assert reports[-1].is_surface


def test_what_is_seen_from_nearer_replaces_what_was_seen_from_afar():
    wall = Wall()
    far = [wall.keyframe(pose([0, 0, 0], [0.02 * k, 0, 0]), sigma_m=0.005) for k in range(3)]
    near = [
        wall.keyframe(pose([0, 0, 0], [0.01 * k, 0, 1.8]), sigma_m=0.002, seed=9 + k)
        for k in range(2)
    ]
    builder, reports = build([*far, *near])
    assert reports[3].n_finer > 0.9 * CAMERA.width * CAMERA.height * 0.85
    assert reports[3].n_replaced > 1000
    dense = builder.finished()
    finest = SplatRasteriser(CAMERA).render(dense.cloud, near[0].T_map_optical)
    inside = np.s_[20:-20, 20:-20]
    assert np.abs(finest.depth - near[0].depth)[inside].max() < 0.02
    assert np.abs(finest.grey - near[0].grey)[inside].mean() < 3.0


def test_a_rendered_view_is_what_a_camera_sees_there():
    wall = Wall()
    frames = [wall.keyframe(T, sigma_m=0.005, seed=k) for k, T in enumerate(poses_along(8, 0.1))]
    builder, _ = build(frames)
    T = pose([0.02, -0.05, 0.03], [0.3, 0.05, 0.4])
    view = SplatRasteriser(CAMERA).render(builder.finished().cloud, T)
    grey, depth = wall.seen(CAMERA, T)
    inside = np.s_[30:-30, 30:-30]
    assert np.isfinite(view.depth[inside]).mean() > 0.99
    assert np.nanmedian(np.abs(view.depth - depth)[inside]) < 0.01
    assert np.nanmedian(np.abs(view.grey - grey)[inside]) < 4.0


def test_what_may_be_visible_is_all_that_is_rendered():
    frames = [Wall().keyframe(T, sigma_m=0.005) for T in poses_along(8, 0.5)]
    surfaces = build(frames)[0].surfaces
    dense = DenseMap(surfaces)
    T = pose([0.0, 0.2, 0.0], [0.5, 0.0, 1.0])
    some, rasteriser = dense.visible(LONG, T), SplatRasteriser(LONG)
    assert len(some) < 0.5 * len(dense)
    part, whole = rasteriser.render(some, T), rasteriser.render(dense.cloud, T)
    assert part.image.tobytes() == whole.image.tobytes()
    assert part.depth.tobytes() == whole.depth.tobytes()


def test_far_key_frames_share_no_points_and_a_view_shows_those_near_it():
    wall = Wall()
    drifted = pose([0, 0, 0], [0.0, 0.0, 0.1])  # a place seen again with another pose
    true = [pose([0, 0, 0], [x, 0.0, 0.0]) for x in (0.0, 0.02, 1.0, 1.02)]
    frames = [wall.keyframe(T, sigma_m=0.002, seed=k) for k, T in enumerate(true)]
    frames[2:] = [frame.at(drifted @ frame.T_map_optical) for frame in frames[2:]]
    builder, reports = build(frames, reach_m=0.5)
    assert [report.n_agreeing > 10_000 for report in reports] == [False, True, False, True]
    assert not any(report.n_spurious or report.n_replaced for report in reports)
    dense = builder.finished()
    for frame, T_wall in ((frames[1], np.eye(4)), (frames[3], drifted)):
        shown = dense.visible(CAMERA, frame.T_map_optical)
        there = (shown.points - T_wall[:3, 3]) @ T_wall[:3, :3]
        assert len(shown) > 10_000 and np.abs(wall.off(there)).max() < 0.02  # all of one place
    whole = DenseMap(dense.surfaces).visible(CAMERA, frames[1].T_map_optical)
    assert np.abs(wall.off(whole.points)).max() > 0.05


def test_a_splat_is_the_image_of_its_pixel():
    rays = np.array([[0.3, -0.2]], np.float32)
    depth, slopes = np.array([4.0], np.float32), np.array([[0.7, -0.4]], np.float32)
    T, size, pixel, sigma = pose([0.3, 0.1, -0.2], [1.0, 2.0, 3.0]), 0.6, 0.005, 0.02
    points, upper = np.empty((1, 3), np.float32), np.empty((1, 6), np.float32)
    make_splats(
        0, 1, rays, depth, np.array([sigma**2], np.float32), slopes,
        np.ascontiguousarray(T[:3]), pixel, size, 3.0, points, upper,
    )  # fmt: skip

    def on_surface(a, b):  # log z changes by the slopes
        z = 4.0 * np.exp(0.7 * (a - 0.3) - 0.4 * (b + 0.2))
        return T[:3, :3] @ [z * a, z * b, z] + T[:3, 3]

    h = 1e-5
    J = np.column_stack(
        [
            (on_surface(0.3 + h, -0.2) - on_surface(0.3 - h, -0.2)) / (2 * h),
            (on_surface(0.3, -0.2 + h) - on_surface(0.3, -0.2 - h)) / (2 * h),
        ]
    )
    ray = T[:3, :3] @ [0.3, -0.2, 1.0]
    expected = (size * pixel) ** 2 * J @ J.T + sigma**2 * np.outer(ray, ray)
    np.testing.assert_allclose(points[0], on_surface(0.3, -0.2), atol=1e-5)
    np.testing.assert_allclose(upper[0], expected[UPPER], rtol=1e-4, atol=1e-9)


def test_colours_survive_their_fusion():
    rgb = np.random.default_rng(0).integers(0, 256, (50, 40, 3)).astype(np.float32)
    assert np.abs(from_lab(to_lab(rgb)) - rgb).max() < 1.5
    grey = rgb[..., :1]
    np.testing.assert_array_equal(from_lab(to_lab(grey)), grey)
    white = to_lab(np.full((1, 3), 255.0))
    np.testing.assert_allclose(white, [[255.0, 0.0, 0.0]], atol=0.5)


TABLE_DN = 1.0
"""OpenCV takes the gamma of sRGB from a table."""


def lab_of(rgb):
    """Return CIE L*a*b* of sRGB 0 to 255, times 2.55, as IEC 61966-2-1 and CIE 15 have them."""
    c = np.asarray(rgb, float) / 255.0
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    t = linear @ to_xyz.T / [0.9505, 1.0, 1.0891]
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(f, -1, 0)
    return 2.55 * np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def test_a_fused_colour_is_the_mean_of_what_was_seen_in_lab():
    rng = np.random.default_rng(4)
    frame = Wall().keyframe(np.eye(4))
    images = rng.integers(0, 256, (3, *frame.depth.shape, 3), dtype=np.uint8)
    builder, _ = build(
        [replace(frame, stamp_ns=k, image=image) for k, image in enumerate(images)], min_views=3
    )
    (surface,) = builder.surfaces
    assert (surface.n_seen == 3).all()
    seen = images.reshape(3, -1, 3)[:, surface.pixels]
    np.testing.assert_allclose(surface.colours, lab_of(seen).mean(axis=0), atol=TABLE_DN)
    other = lab_of(seen.mean(axis=0))
    assert np.abs(surface.colours - other).mean() > 5.0  # it is not the mean of red, green, blue


def bilinear(image, shape):
    """Return an image sampled at the middles of as many pixels as the shape has."""
    rows, columns = ((np.arange(n) + 0.5) * m / n - 0.5 for n, m in zip(shape, image.shape))
    grid = np.meshgrid(rows, columns, indexing="ij")
    return map_coordinates(np.asarray(image, float), grid, order=1, mode="nearest")


def spectral_residual(grey):
    """Return the saliency of Hou and Zhang (CVPR 2007), eq. 8 to 11, of 64 x 64 pixels."""
    spectrum = np.fft.fft2(bilinear(grey, (64, 64)))
    log = np.log(np.abs(spectrum))
    rest = np.exp(log - uniform_filter(log, 3, mode="mirror"))
    power = np.abs(np.fft.ifft2(rest * np.exp(1j * np.angle(spectrum)))) ** 2
    smooth = gaussian_filter(power, 8.0, radius=2, mode="mirror")
    return bilinear(smooth / smooth.max(), np.shape(grey))


LUMA = [0.299, 0.587, 0.114]
RED_AT, BLUE_AT = np.s_[60:90, 40:80], np.s_[150:180, 220:260]


def conspicuous():
    """Return a dull colour image with a red and a blue thing on it."""
    image = np.random.default_rng(0).integers(90, 110, (240, 320, 3), dtype=np.uint8)
    image[RED_AT], image[BLUE_AT] = (250, 20, 20), (20, 20, 250)
    return image


def test_salience_is_the_spectral_residual_of_the_luma():
    frame = replace(Wall().keyframe(np.eye(4)), image=conspicuous())
    for keyframe in (frame, replace(frame, image=np.rint(frame.grey).astype(np.uint8))):
        expected = spectral_residual(conspicuous() @ LUMA)
        # OpenCV treats the rim of the spectrum otherwise; red and blue exchanged have -0.07.
        assert np.corrcoef(_salience(keyframe).ravel(), expected.ravel())[0, 1] > 0.95


def test_a_small_thing_makes_a_surface_where_it_draws_the_eye():
    frame = replace(Wall().keyframe(np.eye(4)), image=conspicuous())
    salience = spectral_residual(conspicuous() @ LUMA)
    salience /= salience.sum()
    dull = np.s_[150:180, 40:80]
    between = 0.5 * float(salience[BLUE_AT].sum() + salience[dull].sum())
    choices = {
        "new_distance_m": 10.0, "new_overlap": 0.5, "new_saliency": 1.0 - between, "margin_px": 0
    }  # fmt: skip
    for place, is_surface in ((BLUE_AT, True), (dull, False)):
        without = replace(frame, depth=frame.depth.copy())
        without.depth[place] = np.nan
        _, (_, report) = build([without, frame], **choices)
        assert report.overlap > 0.98
        share = pytest.approx(salience[place].sum(), rel=0.25)  # as alike as the oracle is
        assert 1.0 - report.saliency == share
        assert report.is_surface is is_surface


@pytest.mark.parametrize("is_half_blind", [False, True])
def test_what_a_camera_would_show_of_a_view_follows_from_its_pose(is_half_blind):
    camera = PinholeCamera(width=320, height=240, fx=200.0, fy=200.0, cx=159.5, cy=119.5)
    frame = Wall(normal=(0.0, 0.0, 1.0)).keyframe(np.eye(4), camera=camera)
    if is_half_blind:  # the left of a stereo pair's view has no depth
        frame.depth[:, :160] = np.nan
    width_m = 319 / 200.0 * 3.0
    for share in (0.25, 0.75):  # half a column of the grid, a twelfth of nine tenths, is open
        found = frame.view_shown_from(pose([0, 0, 0], [(1.0 - share) * width_m, 0, 0]))
        assert found == pytest.approx(share, abs=0.5 / 12 + 0.05)
    assert frame.view_shown_from(pose([0, 0, 0], [2 * width_m, 0, 0])) == 0.0
    frame.depth[:] = np.nan
    assert frame.view_shown_from(np.eye(4)) == 0.0


def test_ties_bring_wrong_poses_together_also_across_lines():
    wall, rng = Wall(normal=(0.0, 0.0, 1.0)), np.random.default_rng(3)
    true = [pose([0, 0, 0], [0.5 * k, 0.6 * line, 0.1 * line]) for line in (0, 1) for k in range(4)]
    frames = [
        wall.keyframe(T, stamp_ns=k, sigma_m=0.01, seed=k).at(
            T @ pose(rng.normal(0, 0.01, 3), rng.normal(0, 0.05, 3))
        )
        for k, T in enumerate(true)
    ]
    parameters = LinkParameters(prior_m=0.1, prior_deg=1.0)
    links = find_links(frames, parameters)
    assert any(link.a >= 4 > link.b for link in links)  # from line to line
    for link in links:
        off = invert_transform(invert_transform(true[link.a]) @ true[link.b]) @ link.T_a_b
        assert np.linalg.norm(off[:3, 3]) < 0.01
    agreed = agree_poses(frames, links, parameters)
    # What is left in common is the mean of the given errors: compare steps between neighbours.
    for k in range(7):
        step = invert_transform(agreed[k].T_map_optical) @ agreed[k + 1].T_map_optical
        right = invert_transform(true[k]) @ true[k + 1]
        assert np.linalg.norm((invert_transform(right) @ step)[:3, 3]) < 0.01


@pytest.mark.parametrize(
    ("change", "tokens"),
    [
        ({"depth": np.zeros((3, 3))}, "depth must be"),
        ({"image": np.zeros((240, 320))}, "image must be"),
        ({"T_map_optical": np.full((4, 4), np.nan)}, "T_map_optical of key-frame 0"),
    ],
)
def test_bad_key_frames_are_refused(change, tokens):
    with pytest.raises(ValueError, match=tokens):
        replace(Wall().keyframe(np.eye(4)), **change)


def test_a_map_of_nothing_is_refused():
    with pytest.raises(ValueError, match="must have a surface"):
        DenseMap([])


def test_colour_key_frames_give_colour_splats():
    frame = Wall().keyframe(np.eye(4))
    tinted = StereoKeyframe(
        stamp_ns=0,
        image=np.stack([frame.image, frame.image // 2, frame.image // 4], axis=-1),
        depth=frame.depth,
        variance=frame.variance,
        camera=CAMERA,
        T_map_optical=np.eye(4),
    )
    cloud = build([tinted], min_views=1)[0].finished().cloud
    assert cloud.colours.shape[1] == 3
    ratio = np.median(cloud.colours[:, 0] / np.maximum(cloud.colours[:, 1], 1.0))
    assert ratio == pytest.approx(2.0, rel=0.05)
