# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""OpenGL draws what the compiled kernels compute; nothing breaks where there is no driver."""

import gc

import numpy as np
import pytest

from aerotwin_core.camera import FisheyeCamera, PinholeCamera
from aerotwin_core.errors import UserError
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import CameraView, Rasteriser, optical_pose
from aerotwin_rendering.rasteriser import gl_probe, rasteriser

CAMERA = PinholeCamera(width=160, height=120, fx=100.0, fy=98.0, cx=79.5, cy=61.0, skew=2.0)
POSE = optical_pose([-10.0, -24.0, 7.0], yaw=1.5, pitch_down=0.1)
DEPTH = 1e-3  # metres
# Drivers blend texels with 8-bit weights and take the footprint from 2 x 2 pixels.
FILTER_MEAN, FILTER_MOST = 0.5, 4
SILHOUETTE = 2e-3  # share of pixels beside an edge that single precision may turn over


@pytest.fixture(scope="module")
def pair(coarse_cliff):
    if gl_probe.opengl_renderer() is None:
        pytest.skip("no OpenGL 4.3 driver answers through EGL")
    return [Rasteriser(coarse_cliff, backend=backend) for backend in ("cpu", "egl")]


def compare(pair, view):
    cpu, egl = (rasteriser.render([view])[0] for rasteriser in pair)
    if view.encoding != "none":
        difference = np.abs(cpu.image.astype(int) - egl.image)
        assert difference.mean() < FILTER_MEAN
        assert (difference > FILTER_MOST).mean() < SILHOUETTE
    if view.depth:
        same = np.isclose(cpu.depth, egl.depth, rtol=0.0, atol=DEPTH)
        assert (~same).mean() < SILHOUETTE
    if view.ids:
        assert (cpu.ids != egl.ids).mean() < SILHOUETTE
    return egl


@pytest.mark.parametrize("encoding", ["mono8", "rgb8", "none"])
def test_opengl_shows_what_the_kernels_show(pair, encoding):
    assert pair[1].backend == "egl"
    frame = compare(
        pair, CameraView(camera=CAMERA, T_map_optical=POSE, encoding=encoding, ids=True)
    )
    assert np.isinf(frame.depth).any() and np.isfinite(frame.depth).any()


def test_opengl_obeys_rows_and_clip_planes(pair):
    view = CameraView(
        camera=CAMERA, T_map_optical=POSE, rows=(20, 70), near_m=22.0, far_m=27.0, ids=True
    )
    frame = compare(pair, view)
    assert not frame.image[:20].any() and not frame.image[70:].any()
    seen = frame.depth[20:70][np.isfinite(frame.depth[20:70])]
    assert seen.size and seen.min() > 22.0 - DEPTH and seen.max() < 27.0 + DEPTH


def test_opengl_shows_light_and_repeating_textures(pair, quad):
    texture = np.random.default_rng(4).integers(0, 255, (16, 16, 3)).astype(np.uint8)
    plain = quad([(-2, -1, 2), (2, -1, 4), (2, 1, 4), (-2, 1, 2)], texture)
    for repeats in (True, False):
        mesh = TexturedMesh(
            vertices_map=plain.vertices_map, triangles=plain.triangles, texture=texture,
            uv=3.0 * plain.uv - np.float32(1.3), repeats=repeats,
            light=np.array([0.2, 1.5, 0.7, 1.0], np.float32),
        )  # fmt: skip
        both = [Rasteriser([mesh], backend=backend) for backend in ("cpu", "egl")]
        compare(both, CameraView(camera=CAMERA, T_map_optical=np.eye(4), encoding="rgb8"))


def test_opengl_shows_replaced_meshes(coarse_cliff, pair):
    for rasteriser_ in pair:
        rasteriser_.replace(coarse_cliff[1:])
    try:
        frame = compare(pair, CameraView(camera=CAMERA, T_map_optical=POSE, ids=True))
        assert set(np.unique(frame.ids)) <= {-1, 0, 1}
    finally:
        for rasteriser_ in pair:
            rasteriser_.replace(coarse_cliff)


def test_a_fisheye_beside_a_pinhole_is_rendered_on_the_cpu(pair):
    fisheye = FisheyeCamera(width=64, height=48, fx=25.0, fy=25.0, cx=31.5, cy=23.5)
    views = [CameraView(camera=camera, T_map_optical=POSE) for camera in (CAMERA, fisheye, CAMERA)]
    cpu, egl = (rasteriser_.render(views) for rasteriser_ in pair)
    np.testing.assert_array_equal(cpu[1].image, egl[1].image)
    np.testing.assert_array_equal(egl[0].image, egl[2].image)
    assert egl[0].image.shape == (120, 160)


def test_without_a_graphics_card_the_cpu_is_chosen(quad, monkeypatch):
    monkeypatch.delenv(gl_probe.VARIABLE, raising=False)
    monkeypatch.setattr(rasteriser, "has_graphics_card", lambda: False)
    assert Rasteriser([quad([(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])]).backend == "cpu"


def test_software_drivers_are_not_taken_for_a_graphics_card(monkeypatch):
    monkeypatch.setattr(gl_probe, "DEVICE_FILES", ("/dev/null",))
    for name, expected in (
        ("llvmpipe (LLVM 15.0.6, 256 bits)", False), (None, False),
        ("NVIDIA H100 80GB HBM3/PCIe/SSE2", True),
    ):  # fmt: skip
        monkeypatch.setattr(gl_probe, "opengl_renderer", lambda name=name: name)
        assert gl_probe.has_graphics_card() is expected


def test_a_driver_that_aborts_counts_as_none(monkeypatch):
    monkeypatch.setattr(gl_probe, "_PROGRAM", "import os; os.abort()")
    assert gl_probe.opengl_renderer.__wrapped__() is None


def test_a_demanded_driver_that_is_missing_is_named(quad, monkeypatch):
    monkeypatch.setattr(rasteriser, "opengl_renderer", lambda: None)
    with pytest.raises(UserError, match="OpenGL"):
        Rasteriser([quad([(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])], backend="egl")


def test_a_card_whose_driver_fails_leaves_the_cpu(quad, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("cannot create context")

    monkeypatch.delenv(gl_probe.VARIABLE, raising=False)
    monkeypatch.setattr(rasteriser, "has_graphics_card", lambda: True)
    monkeypatch.setattr(rasteriser, "opengl_renderer", lambda: "a card")
    monkeypatch.setattr(rasteriser, "EglRenderer", fail)
    mesh = quad([(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
    assert Rasteriser([mesh]).backend == "cpu"
    with pytest.raises(UserError, match="cannot create context"):
        Rasteriser([mesh], backend="egl")


def test_the_environment_chooses_and_wrong_names_are_refused(monkeypatch):
    monkeypatch.setenv(gl_probe.VARIABLE, "cpu")
    assert gl_probe.choose_backend("auto") == "cpu"
    assert gl_probe.choose_backend("egl") == "egl"
    monkeypatch.setenv(gl_probe.VARIABLE, "vulkan")
    with pytest.raises(UserError, match="vulkan"):
        gl_probe.choose_backend("auto")


def test_a_renderer_collected_on_the_thread_of_another_takes_nothing_from_it(coarse_cliff, pair):
    view = CameraView(camera=CAMERA, T_map_optical=POSE, encoding="rgb8")
    retained, lost = (Rasteriser(coarse_cliff, backend="egl") for _ in range(2))
    before = retained.render([view])[0].image
    lost.render([view])
    painters = [lost._egl._painter]
    lost._egl._painter = None
    del lost
    retained._egl._thread.submit(painters.clear).result()
    retained._egl._thread.submit(gc.collect).result()
    np.testing.assert_array_equal(retained.render([view])[0].image, before)
