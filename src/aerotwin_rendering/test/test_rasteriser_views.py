# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Views of any camera, what a frame holds, changes of the world."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from aerotwin_core.camera import BrownCamera, FisheyeCamera, PinholeCamera
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import CameraView, Rasteriser, WorldQueries, optical_pose
from aerotwin_rendering.rasteriser import cpu, scene
from aerotwin_rendering.rasteriser import lens as lens_module
from aerotwin_rendering.rasteriser.lens import MOST_LENSES, Lenses, lens_of
from aerotwin_rendering.rasteriser.scratch import make_scratch

SIZE = {"width": 160, "height": 120}
CENTRE = {"cx": 79.5, "cy": 59.5}
PINHOLE = PinholeCamera(**SIZE, **CENTRE, fx=100.0, fy=98.0)
CAMERAS = {
    "pinhole": PINHOLE,
    "skew": PinholeCamera(**SIZE, **CENTRE, fx=100.0, fy=98.0, skew=4.0),
    "brown": BrownCamera(**SIZE, **CENTRE, fx=98.0, fy=97.0, k1=-0.28, k2=0.07, p1=2e-4, p2=1e-4),
    "fisheye of 160 degrees": FisheyeCamera(**SIZE, **CENTRE, fx=58.0, fy=58.0, k1=0.01),
}
EMBREE = 1e-3  # metres; the bar of the rasteriser's depth
SINGLE = 1e-6  # single precision of stored depths, relative
POSES = {
    "front": optical_pose([-10.0, -9.5, 7.0], yaw=1.5, pitch_down=0.1),
    "down": optical_pose([4.0, -12.0, 19.0], yaw=1.9, pitch_down=1.3),
}


def cast(world, camera, T):
    """Depth and mesh of every pixel, from Embree casting the camera's own rays."""
    rays = camera.rays().reshape(-1, 2)
    known = np.isfinite(rays[:, 0])
    directions = np.column_stack([rays[known], np.ones(known.sum())])
    origins = np.broadcast_to(T[:3, 3], directions.shape)
    ranges = WorldQueries(world).cast(origins, directions @ T[:3, :3].T)
    depth = np.full(len(rays), np.inf)
    depth[known] = ranges / np.linalg.norm(directions, axis=1)
    return depth.reshape(camera.height, camera.width), known.reshape(camera.height, camera.width)


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("name", CAMERAS)
def test_no_pixel_of_any_lens_is_lost_and_depth_is_embrees(name, pose, coarse_cliff, world_of):
    camera, T = CAMERAS[name], POSES[pose]
    frame = Rasteriser(coarse_cliff).render([CameraView(camera=camera, T_map_optical=T)])[0]
    expected, known = cast(world_of(*coarse_cliff), camera, T)
    np.testing.assert_array_equal(np.isfinite(frame.depth), np.isfinite(expected))
    assert (frame.image[~known] == 0).all()
    hit = np.isfinite(expected)
    assert hit.mean() > 0.4
    # Beside an occluding edge single-precision rays may pass on the other side: two in a thousand.
    wrong = np.abs(frame.depth[hit] - expected[hit]) > EMBREE
    assert wrong.mean() < 0.002


def test_the_fisheye_looks_sideways():
    camera = CAMERAS["fisheye of 160 degrees"]
    lens = lens_of(camera)
    assert lens.high_x > 5.0  # 79 degrees from the axis
    assert np.isnan(camera.rays()).any()


def test_every_lens_is_made_once_however_many_there_are(quad, monkeypatch):
    cameras = [dataclasses.replace(PINHOLE, fx=PINHOLE.fx + k) for k in range(MOST_LENSES + 4)]
    made = []
    monkeypatch.setattr(lens_module, "lens_of", lambda c: made.append(c) or lens_of(c))
    rasteriser = Rasteriser([quad([(-1, -1, 3), (1, -1, 3), (1, 1, 3), (-1, 1, 3)])])
    views = [CameraView(camera=camera, T_map_optical=np.eye(4)) for camera in cameras]
    for _ in range(3):
        rasteriser.render(views)
    assert made == cameras
    # Nor twice if several threads ask at once; those not used for longest make room for others.
    lenses = Lenses()
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lenses.of, [cameras[:MOST_LENSES]] * 3))
    assert len(made) == len(cameras) + MOST_LENSES
    lenses.of(cameras[-1:])
    lenses.of(cameras[1:MOST_LENSES])
    assert len(made) == len(cameras) + MOST_LENSES + 1
    lenses.of(cameras[:1])
    assert made[-1] == cameras[0]


@pytest.mark.parametrize("name", CAMERAS)
def test_ground_through_the_camera_is_cut_at_the_near_plane_in_every_lens(name, quad):
    camera = CAMERAS[name]
    ground = quad([(-900, 1.5, -400), (900, 1.5, -400), (900, 1.5, 900), (-900, 1.5, 900)])
    view = CameraView(camera=camera, T_map_optical=np.eye(4), near_m=2.0, far_m=50.0)
    depth = Rasteriser([ground]).render([view])[0].depth
    x, y = np.moveaxis(camera.rays(), -1, 0)
    expected = np.where(y > 0.0, 1.5 / np.where(y > 0.0, y, 1.0), np.inf)
    expected[~((expected >= 2.0) & (expected < 50.0) & (np.abs(x * expected) < 900.0))] = np.inf
    np.testing.assert_allclose(depth, expected, rtol=SINGLE)


def test_ids_are_places_in_the_sequence_of_meshes(quad):
    left = quad([(-1, -1, 3), (0, -1, 3), (0, 1, 3), (-1, 1, 3)])
    right = quad([(0, -1, 3), (1, -1, 3), (1, 1, 3), (0, 1, 3)])
    view = CameraView(
        camera=PINHOLE, T_map_optical=np.eye(4), encoding="none", depth=False, ids=True
    )
    frame = Rasteriser([left, right]).render([view])[0]
    assert frame.image is None and frame.depth is None
    assert frame.ids[60, 70] == 0 and frame.ids[60, 90] == 1 and frame.ids[60, 5] == -1


@pytest.mark.parametrize("encoding", ["mono8", "rgb8"])
def test_rows_of_a_rolling_shutter_are_those_of_the_whole_picture(encoding, coarse_cliff):
    rasteriser = Rasteriser(coarse_cliff)
    views = [
        CameraView(
            camera=PINHOLE, T_map_optical=POSES["front"], encoding=encoding, ids=True, rows=rows
        )
        for rows in (None, (30, 77))
    ]
    whole, part = rasteriser.render(views)
    for a, b in ((whole.image, part.image), (whole.depth, part.depth), (whole.ids, part.ids)):
        np.testing.assert_array_equal(a[30:77], b[30:77])
        assert not b[:30].any() and not b[77:].any()


def test_grey_is_the_luma_of_the_colours(coarse_cliff):
    T = POSES["front"]
    views = [CameraView(camera=PINHOLE, T_map_optical=T, encoding=e) for e in ("mono8", "rgb8")]
    grey, colour = (frame.image for frame in Rasteriser(coarse_cliff).render(views))
    luma = colour @ np.array([0.299, 0.587, 0.114])
    # Colours, their luma and the grey are each rounded once in the texture and once in the picture.
    assert np.abs(grey - luma).max() < 2.0


def test_light_is_linear_between_vertices_and_ends_at_white(quad):
    plain = quad([(-1, -1, 2), (1, -1, 2), (1, 1, 2), (-1, 1, 2)])
    light = np.array([0.0, 4.0, 4.0, 0.0], np.float32)  # 100 * 4 is beyond white
    mesh = TexturedMesh(
        vertices_map=plain.vertices_map, triangles=plain.triangles, uv=plain.uv,
        texture=plain.texture, light=light,
    )  # fmt: skip
    frame = Rasteriser([mesh]).render([CameraView(camera=PINHOLE, T_map_optical=np.eye(4))])[0]
    u = np.flatnonzero(np.isfinite(frame.depth[60]))[1:-1]  # edges are softened
    expected = np.minimum(400.0 * ((u - 79.5) / 100.0 * 2.0 + 1.0) / 2.0, 255.0)
    assert np.abs(frame.image[60, u] - expected).max() <= 0.5 + 1e-3


def test_a_repeating_texture_repeats_and_another_continues_its_rim(quad):
    ramp = np.repeat(np.arange(0, 200, 25, dtype=np.uint8)[None, :, None], 3, axis=2)
    corners = [(-1, -1, 1.25), (1, -1, 1.25), (1, 1, 1.25), (-1, 1, 1.25)]
    plain = quad(corners, ramp)
    rows = []
    for repeats in (True, False):
        mesh = TexturedMesh(
            vertices_map=plain.vertices_map, triangles=plain.triangles,
            uv=(3.0 * plain.uv - 1.0).astype(np.float32), texture=ramp, repeats=repeats,
        )  # fmt: skip
        view = CameraView(camera=PINHOLE, T_map_optical=np.eye(4))
        rows.append(Rasteriser([mesh], level_bias=-9.0).render([view])[0].image[60].astype(int))
    u = np.arange(160)
    texel = ((u - 79.5) / 100.0 * 1.25 / 2.0 + 0.5) * 3.0 * 8 - 8 - 0.5
    expected = np.interp(texel % 8, np.arange(9), [*range(0, 200, 25), 0])
    assert np.abs(rows[0] - expected).max() <= 0.5 + 1e-3
    assert np.abs(rows[1] - np.clip(25.0 * texel, 0, 175)).max() <= 0.5 + 1e-3


def test_meshes_share_one_packed_texture_and_known_ones_are_not_prepared_again(quad, monkeypatch):
    made = []
    for name in ("build_clusters", "build_pyramid"):
        function = getattr(scene, name)
        monkeypatch.setattr(scene, name, lambda *a, f=function, n=name: (made.append(n), f(*a))[1])
    texture = np.full((4, 4, 3), 90, np.uint8)
    first = quad([(-1, -1, 3), (0, -1, 3), (0, 1, 3), (-1, 1, 3)], texture)
    second = quad([(0, -1, 3), (1, -1, 3), (1, 1, 3), (0, 1, 3)], texture)
    third = quad([(-1, -1, 2), (1, -1, 2), (1, 1, 2), (-1, 1, 2)], np.full((1, 1, 3), 7, np.uint8))
    view = CameraView(camera=PINHOLE, T_map_optical=np.eye(4), ids=True)
    rasteriser = Rasteriser([first, second])
    rasteriser.render([view])
    assert made == ["build_clusters", "build_clusters", "build_pyramid"]
    made.clear()
    rasteriser.replace([second, third])
    frame = rasteriser.render([view])[0]
    assert made == ["build_clusters", "build_pyramid"]
    assert frame.ids[60, 80] == 1 and frame.image[60, 80] == 7
    np.testing.assert_array_equal(frame.image, Rasteriser([second, third]).render([view])[0].image)


@pytest.mark.parametrize(
    "wrong",
    [{"encoding": "bgr8"}, {"near_m": 0.0}, {"far_m": 0.01}, {"rows": (5, 5)}, {"rows": (0, 999)}],
)
def test_a_view_with_wrong_values_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        CameraView(camera=PINHOLE, T_map_optical=np.eye(4), **wrong)


def test_cameras_of_any_kind_give_the_same_bytes_on_any_number_of_threads(coarse_cliff):
    views = [CameraView(camera=c, T_map_optical=POSES["down"], ids=True) for c in CAMERAS.values()]
    all_frames = [Rasteriser(coarse_cliff, n_threads=n).render(views) for n in (1, 2, 3)]
    for frames in zip(*all_frames, strict=True):
        for name in ("image", "depth", "ids"):
            assert len({getattr(frame, name).tobytes() for frame in frames}) == 1


@pytest.mark.parametrize("encoding", ["mono8", "rgb8"])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 61), (5, 3), (7, 60), (9, 62), (17, 9)])
def test_a_small_image_is_the_corner_of_a_large_one(width, height, encoding, coarse_cliff):
    # But for its last row and column, whose edges a neighbour softens.
    large = PINHOLE
    small = dataclasses.replace(large, width=width, height=height)
    rasteriser = Rasteriser(coarse_cliff, backend="cpu")
    views = [
        CameraView(camera=camera, T_map_optical=POSES["front"], encoding=encoding, ids=True)
        for camera in (large, small)
    ]
    whole, corner = rasteriser.render(views)
    np.testing.assert_array_equal(corner.depth, whole.depth[:height, :width])
    np.testing.assert_array_equal(corner.ids, whole.ids[:height, :width])
    inner = np.s_[: height - 1, : width - 1]
    np.testing.assert_array_equal(corner.image[inner], whole.image[inner])


GUARD = 64
"""Elements before and behind what a kernel may touch."""


def guarded(array):
    """Return memory like an array between guards, and these."""
    memory = np.full(GUARD + array.size + GUARD, 77, array.dtype)
    end = GUARD + array.size
    return memory[GUARD:end].reshape(array.shape), (memory[:GUARD], memory[end:])


@pytest.mark.parametrize("encoding", ["mono8", "rgb8"])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 5), (8, 61), (9, 60), (33, 7)])
@pytest.mark.parametrize("name", ["pinhole", "brown"])
def test_kernels_write_nowhere_else(name, width, height, encoding, coarse_cliff, monkeypatch):
    guards = []

    def make_guarded(n_rows, n_columns):
        made = make_scratch(n_rows, n_columns)
        replaced = {}
        for field in (
            "cluster",
            "surface",
            "shaded",
            "softened",
            "hit_edges",
            "wide",
            "small",
            "bounds",
        ):
            replaced[field], around = guarded(getattr(made, field))
            guards.extend(around)
        nearest, around = guarded(made.nearest)
        guards.extend(around)
        return made._replace(**replaced, nearest=nearest, nearest_bits=nearest.view(np.int32))

    monkeypatch.setattr(cpu, "make_scratch", make_guarded)
    camera = dataclasses.replace(CAMERAS[name], width=width, height=height)
    view = CameraView(camera=camera, T_map_optical=POSES["front"], encoding=encoding)
    before = Rasteriser(coarse_cliff, backend="cpu", n_threads=1).render([view])[0]
    assert guards
    assert all((guard == 77).all() for guard in guards)
    monkeypatch.undo()
    after = Rasteriser(coarse_cliff, backend="cpu", n_threads=1).render([view])[0]
    np.testing.assert_array_equal(before.image, after.image)
