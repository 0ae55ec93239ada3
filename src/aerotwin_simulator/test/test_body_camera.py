# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures, depth and ids of one camera belong together; so do the rows of a frame."""

import dataclasses

import numpy as np
import pytest
import yaml

from aerotwin_core.camera_messages import picture_from_image
from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import R_CAM_OPTICAL, make_transform
from aerotwin_core.luma import grey_of
from aerotwin_core.messages import deserialize
from aerotwin_core.time import from_seconds
from aerotwin_meshes import TexturedMesh
from aerotwin_sensor_models import CameraParameters
from aerotwin_simulator import (
    AwaitedReadings,
    CameraSettings,
    ControllerSettings,
    Simulation,
    SimulatorParameters,
)
from aerotwin_simulator.body_camera import DEPTH, IDS, RGB, BodyCamera, CameraTopics, Eye
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.vehicle_cameras import check_vehicle_cameras, make_stereo_camera
from aerotwin_worlds.world_follower import Renderer

SMALL = {"width": 64, "height": 48, "fx": 40.0, "fy": 40.0, "cx": 31.5, "cy": 23.5}
RANGE = {"near_m": 0.3, "far_m": 10.0}
GREY, COLOUR = 120, (180, 120, 60)


def wall(z, half_width):
    """Return a grey square across the optical axis z, in map axes that are those of the camera."""
    s = half_width
    return TexturedMesh(
        vertices_map=np.array([[-s, -s, z], [s, -s, z], [s, s, z], [-s, s, z]], float),
        triangles=np.array([[0, 2, 1], [0, 3, 2]], np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32),
        texture=np.full((2, 2, 3), GREY, np.uint8),
    )


@pytest.fixture
def look(flat_world):
    """Return the frame, and the measured depth, of a camera before walls."""

    def at(walls, kinds):
        sinks = CameraTopics(image=Topic("image", ""), info=Topic("info", ""))
        eye = Eye(
            name="eye",
            frame_id="",
            T_body_optical=np.eye(4),
            camera_index=0,
            sinks=dict.fromkeys(kinds, sinks),
        )
        world = dataclasses.replace(flat_world, meshes=tuple(wall(*w) for w in walls))
        parameters = CameraParameters(**SMALL, **RANGE)
        camera = BodyCamera(parameters, [eye], rate_hz=10.0, renderer=Renderer(world), seed=0)
        (frame,) = camera.render([np.eye(4)])
        sensor = parameters.depth_sensor(0)
        return frame, sensor.measure(frame.depth, from_seconds(1.0), camera_index=0)

    return at


@pytest.mark.parametrize("kinds", [(DEPTH,), (RGB, DEPTH, IDS)])
def test_a_wall_nearer_than_the_range_hides_what_is_behind_it(look, kinds):
    _, depth = look([(0.2, 1.0), (5.0, 20.0)], kinds)
    assert np.isneginf(depth).all()


def test_a_wall_beyond_the_range_of_depth_is_in_picture_and_ids(look):
    frame, depth = look([(15.0, 60.0)], (RGB, DEPTH, IDS))
    assert np.isposinf(depth).all()
    assert (frame.ids == 0).all() and (frame.image == GREY).all()


class Standing:
    """A body that stands before the walls, looking at them."""

    end_ns = 50_000_000  # the first frame is due

    def pose(self, _):
        return make_transform(R_CAM_OPTICAL.T, np.zeros(3))


def test_a_pair_in_colour_has_the_same_colours_in_both_orders(flat_world):
    painted = dataclasses.replace(wall(5.0, 20.0), texture=np.full((2, 2, 3), COLOUR, np.uint8))
    world = dataclasses.replace(flat_world, meshes=(painted,))
    settings = {"width": 64, "height": 48, "focal_px": 40.0}
    pictures, topics = {}, {}
    for encoding in ("mono8", "rgb8", "bgr8"):
        parameters = SimulatorParameters(camera=CameraSettings(encoding=encoding, **settings))
        camera = make_stereo_camera(parameters, Renderer(world))
        ((_, messages),) = camera.frames(Standing())
        topics[encoding] = [topic.name for topic, _ in messages]
        images = [deserialize(cdr, topic.msgtype) for topic, cdr in messages[1::2]]
        assert {image.encoding for image in images} == {encoding}
        pictures[encoding] = [picture_from_image(image) for image in images]
    assert topics["mono8"] == topics["rgb8"] == topics["bgr8"]
    assert pictures["mono8"][0].ndim == 2
    np.testing.assert_array_equal(pictures["rgb8"], pictures["bgr8"])
    seen = np.mean(pictures["rgb8"], axis=(1, 2))
    np.testing.assert_allclose(seen, [COLOUR, COLOUR], atol=1.0)  # the noise of 3072 pixels
    grey = grey_of(pictures["rgb8"][0]).mean()
    assert grey == pytest.approx(pictures["mono8"][0].mean(), abs=1.0)


@pytest.fixture
def rolling(tmp_path):
    """Return parameters of a flight with a camera that needs 40 ms for its rows."""

    def make(*, rate_hz=None, stereo_hz=None, **parameters):
        shutter = {**SMALL, "readout_s": 0.04, "rate_hz": 30.0, "baseline_m": 0.1}
        preset = tmp_path / "rolling.yaml"
        preset.write_text(yaml.safe_dump({"source": "a test", "parameters": shutter}))
        if stereo_hz is not None:
            return SimulatorParameters(camera=CameraSettings(preset=str(preset), rate_hz=stereo_hz))
        eye = {"name": "eye", "preset": "rolling.yaml", "rate_hz": rate_hz}
        cameras = tmp_path / "cameras.yaml"
        cameras.write_text(yaml.safe_dump({"cameras": [eye]}))
        return SimulatorParameters(
            camera=CameraSettings(is_rendered=False, file=str(cameras)), **parameters
        )

    return make


@pytest.mark.parametrize("rates", [{}, {"rate_hz": 25.0}, {"stereo_hz": 60.0}])
def test_a_shutter_slower_than_the_frames_is_refused(rolling, rates):
    with pytest.raises(ParameterError, match=r"expected less than 25 Hz, .* found"):
        check_vehicle_cameras(rolling(**rates).camera)


@pytest.mark.parametrize("rates", [{"rate_hz": 24.0}, {"stereo_hz": 20.0}])
def test_a_shutter_may_be_slower_than_a_rate_that_is_overridden(rolling, rates):
    check_vehicle_cameras(rolling(**rates).camera)


def test_a_frame_that_a_reset_falls_into_is_not_delivered(rolling, flat_world, tmp_path):
    waited: list[int] = []
    simulation = Simulation(
        rolling(rate_hz=10.0, controller=ControllerSettings(kind="ros2")),
        flat_world,
        tmp_path,
        [],
        awaited={"": AwaitedReadings(waited.append)},
    )
    simulation.start()
    for k in range(80):
        if k == 30:  # 0.12 s: half the rows of the first frame are read
            simulation.reset()
        simulation.advance()
    simulation.close()
    assert waited == [200_000_000]
