# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion blur against many renders of the exposure, automatic exposure, the same bytes again."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform
from aerotwin_core.parameters import ParameterError, load_parameters
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import CameraView, Rasteriser
from aerotwin_sensor_models import (
    AutoExposureParameters,
    CameraParameters,
    ExposureParameters,
    load_preset,
)
from aerotwin_simulator.body_camera import MONO, BodyCamera, CameraTopics, Eye
from aerotwin_simulator.topics import Topic
from aerotwin_worlds.world_follower import Renderer

LENS = {"width": 160, "height": 120, "fx": 120.0, "fy": 120.0, "cx": 79.5, "cy": 59.5}
STAMP_NS = 100_000_000
N_INSTANTS = 41


def walls(light=255):
    """Return a slanted wall of smooth random grey values, seen from its front."""
    rng = np.random.default_rng(5)
    coarse = rng.integers(0, light + 1, (24, 24, 1)).astype(float)
    texture = np.kron(coarse, np.ones((8, 8, 3))).astype(np.uint8)
    corners = [[-8.0, -8.0, 4.0], [8.0, -8.0, 4.0], [8.0, 8.0, 8.0], [-8.0, 8.0, 8.0]]
    return TexturedMesh(
        vertices_map=np.array(corners),
        triangles=np.array([[0, 2, 1], [0, 3, 2]], np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32),
        texture=texture,
    )


def moving(velocity, omega):
    """Return the motion of an optical frame that is at the origin at the stamp."""

    def pose(stamp_ns):
        dt = (stamp_ns - STAMP_NS) * 1e-9
        turn = Rotation.from_rotvec(np.multiply(omega, dt)).as_matrix()
        return make_transform(turn, np.multiply(velocity, dt))

    return pose


def body_camera(world, **parameters):
    sinks = {MONO: CameraTopics(image=Topic("image", ""), info=Topic("info", ""))}
    eye = Eye(
        name="eye", frame_id="eye", T_body_optical=np.eye(4), camera_index=0, sinks=sinks
    )  # fmt: skip
    return BodyCamera(
        CameraParameters(**{**LENS, **parameters}),
        [eye],
        rate_hz=10.0,
        renderer=Renderer(world),
        seed=3,
    )


def frames_of(camera, pose, end_ns=150_000_000, step_ns=4_000_000):
    size = camera.infos[0].width * camera.infos[0].height
    shape = (camera.infos[0].height, camera.infos[0].width)
    for now_ns in range(step_ns, end_ns + 1, step_ns):
        motion = SimpleNamespace(end_ns=now_ns, pose=pose)
        for stamp_ns, messages in camera.frames(motion):
            yield now_ns, stamp_ns, np.frombuffer(messages[1][1][-size:], np.uint8).reshape(shape)


def exposed_by_many_renders(mesh, camera, pose, time_s, readout_s):
    """Return the mean of renders at many instants of the exposure, row by row of a shutter."""
    rasteriser, height = Rasteriser((mesh,)), camera.height
    total = np.zeros((height, camera.width))
    shares = (np.arange(N_INSTANTS) + 0.5) / N_INSTANTS - 0.5
    groups = [(0, height)] if readout_s == 0.0 else [(row, row + 4) for row in range(0, height, 4)]
    for first, last in groups:
        delay_s = readout_s * 0.5 * (first + last - 1) / (height - 1) if readout_s else 0.0
        views = [
            CameraView(
                camera=camera,
                T_map_optical=pose(STAMP_NS + 1e9 * (delay_s + share * time_s)),
                rows=(first, last),
            )
            for share in shares
        ]
        rows = [frame.image[first:last].astype(float) for frame in rasteriser.render(views)]
        total[first:last] = np.mean(rows, axis=0)
    return total


MOTIONS = {
    "sideways": ((4.0, 0.0, 0.0), (0.0, 0.0, 0.0), 2.0),
    "slow": ((0.4, 0.2, 0.0), (0.0, 0.0, 0.1), 1.0),
    "yaw": ((0.0, 0.0, 0.0), (0.0, 2.0, 0.0), 2.0),
    "all": ((2.0, -1.5, 3.0), (-0.8, 0.6, 1.5), 2.0),
}


@pytest.mark.parametrize("model", ["pinhole", "fisheye"])
@pytest.mark.parametrize("name", MOTIONS)
def test_motion_blur_is_the_mean_of_many_renders(flat_world, name, model):
    velocity, omega, largest = MOTIONS[name]
    mesh, time_s = walls(), 0.02
    world = dataclasses.replace(flat_world, meshes=(mesh,))
    camera = body_camera(world, model=model, exposure=ExposureParameters(time_s=time_s))
    ((now_ns, stamp_ns, image),) = frames_of(camera, moving(velocity, omega))
    assert (now_ns, stamp_ns) == (112_000_000, STAMP_NS)  # a step after the end at 110 ms
    lens = CameraParameters(**LENS, model=model).lens()
    expected = exposed_by_many_renders(mesh, lens, moving(velocity, omega), time_s, 0.0)
    sharp = exposed_by_many_renders(mesh, lens, moving(velocity, omega), 0.0, 0.0)
    inside = (slice(12, -12), slice(12, -12))
    error = np.sqrt(np.mean((image - expected)[inside] ** 2))
    change = np.sqrt(np.mean((sharp - expected)[inside] ** 2))
    assert error < largest
    assert error < 0.5 * change or change < 2.0


def test_motion_blur_and_rolling_shutter_together_are_the_mean_of_each_row(flat_world):
    mesh, time_s, readout_s = walls(), 0.015, 0.03
    pose = moving((1.0, 2.0, 0.0), (-1.0, 1.0, 0.0))
    world = dataclasses.replace(flat_world, meshes=(mesh,))
    exposure = ExposureParameters(time_s=time_s)
    camera = body_camera(world, exposure=exposure, readout_s=readout_s)
    ((_, stamp_ns, image),) = frames_of(camera, pose)
    assert stamp_ns == STAMP_NS
    lens = CameraParameters(**LENS).lens()
    expected = exposed_by_many_renders(mesh, lens, pose, time_s, readout_s)
    still = exposed_by_many_renders(mesh, lens, pose, time_s, 0.0)
    inside = (slice(12, -12), slice(12, -12))
    error = np.sqrt(np.mean((image - expected)[inside] ** 2))
    assert error < 0.3 * np.sqrt(np.mean((still - expected)[inside] ** 2))


@pytest.mark.parametrize("blur", [{}, {"exposure": ExposureParameters(time_s=0.02)}])
def test_a_frame_is_delivered_if_the_flight_lasts_until_its_shutter_closes(flat_world, blur):
    closes_ns = STAMP_NS + (10_000_000 if blur else 0)
    for end_ns, expected in ((closes_ns - 1, []), (closes_ns, [STAMP_NS])):
        taken = frames_of(body_camera(flat_world, **blur), moving([0] * 3, [0] * 3), end_ns, end_ns)
        assert [stamp_ns for _, stamp_ns, _ in taken] == expected


def test_a_camera_at_rest_is_as_sharp_with_an_exposure_time(flat_world):
    world = dataclasses.replace(flat_world, meshes=(walls(),))
    pose = moving((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    ((_, _, sharp),) = frames_of(body_camera(world), pose)
    ((_, _, image),) = frames_of(body_camera(world, exposure=ExposureParameters(time_s=0.02)), pose)
    np.testing.assert_array_equal(image, sharp)


def test_automatic_exposure_follows_a_step_of_the_light(flat_world):
    light = ((2.05, 1.0), (2.05, 0.5), (4.05, 0.5), (4.05, 0.02))
    automatic = AutoExposureParameters(target_dn=100.0, speed=0.5)
    exposure = ExposureParameters(time_s=0.005, automatic=automatic, light_curve=light)
    world = dataclasses.replace(flat_world, meshes=(walls(light=160),))
    pose = moving((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    taken = list(frames_of(body_camera(world, exposure=exposure), pose, end_ns=6_000_000_000))
    level = {round(stamp * 1e-8): image.mean() for _, stamp, image in taken}
    assert level[20] == pytest.approx(100.0, abs=2.0)  # frames of 0.1 s
    assert level[21] == pytest.approx(50.0, abs=3.0)  # the light has halved
    assert 65.0 < level[22] < 78.0  # half of the error in stops: 71
    assert level[40] == pytest.approx(100.0, abs=2.0)
    before, after = level[40] / 0.5, level[59] / 0.02
    assert level[59] < 60.0  # exposure time and gain are at their limits
    assert after > 2.0 * before


def test_a_restart_forgets_the_exposure(flat_world):
    automatic = AutoExposureParameters(target_dn=60.0)
    exposure = ExposureParameters(time_s=0.005, automatic=automatic)
    world = dataclasses.replace(flat_world, meshes=(walls(),))
    pose = moving((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    camera = body_camera(world, exposure=exposure)
    first = [image for _, _, image in frames_of(camera, pose, end_ns=950_000_000)]
    camera.restart(0)
    again = [image for _, _, image in frames_of(camera, pose, end_ns=950_000_000)]
    assert len(first) == len(again) == 9
    np.testing.assert_array_equal(first, again)
    assert first[0].mean() > first[-1].mean() + 10.0


@pytest.mark.parametrize("name", ["as_flown", "as_flown_rolling"])
def test_the_bytes_depend_on_neither_steps_nor_instance(flat_world, name):
    preset = dataclasses.replace(load_preset("camera", name), **LENS)
    world = dataclasses.replace(flat_world, meshes=(walls(),))
    pose = moving((1.0, 0.5, 0.0), (0.0, 1.0, 0.0))
    kept = {f.name: getattr(preset, f.name) for f in dataclasses.fields(preset)}
    runs = [
        [image for _, _, image in frames_of(body_camera(world, **kept), pose, 650_000_000, step)]
        for step in (4_000_000, 4_000_000, 10_000_000)
    ]
    assert len(runs[0]) == 6
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])


def test_the_shutter_of_the_presets_is_that_of_their_sources():
    flown, rolling = load_preset("camera", "as_flown"), load_preset("camera", "as_flown_rolling")
    assert rolling.readout_s == pytest.approx(479 * 29.47e-6, abs=1e-4)
    assert dataclasses.replace(rolling, readout_s=0.0) == flown
    flown.check_rate(60.0)
    with pytest.raises(ParameterError, match=r"less than 66.67 Hz, as the longest exposure is"):
        flown.check_rate(70.0)


@pytest.mark.parametrize(
    ("exposure", "message"),
    [
        ({"automatic": {"target_dn": 100.0}}, "time_s, where automatic exposure begins"),
        ({"automatic": {"shortest_s": 0.1}}, "longest_s must not be below shortest_s"),
    ],
)
def test_an_exposure_that_cannot_be_is_refused(exposure, message):
    with pytest.raises(ParameterError, match=message):
        load_parameters(CameraParameters, {"exposure": exposure}, where="test")
