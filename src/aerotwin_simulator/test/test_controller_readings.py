# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images, scans and samples of extra sensors that a Python class reads."""

import dataclasses
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.camera_messages import picture_from_image
from aerotwin_core.errors import UserError
from aerotwin_core.messages import stamp_ns
from aerotwin_core.parameters import replaced
from aerotwin_core.point_clouds import finite_points
from aerotwin_faults import FaultTiming
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import CameraReading, CloudReading, FieldsReading
from aerotwin_simulator import CameraSettings, ControllerSettings, Simulation, SimulatorParameters

STEP_NS = 4_000_000
SMALL = CameraSettings(width=64, height=48, rate_hz=10.0, encoding="bgr8")
TUTORIAL = Path(__file__).resolve().parents[3] / "docs" / "tutorials" / "bring_your_drone.md"
WALL_EAST_M, DISTANCE_M = 9.0, 4.0
DISTANCE_ERROR_M = 0.05
"""The lidar's noise (0.03 m) over the median, and the rest of an exponential approach."""
READER = textwrap.dedent(
    """
    class Sonar:
        topic, msgtype, rate_hz = "sonar/range", "sensor_msgs/msg/Range", 20.0

        def __init__(self, parameters, rng):
            self._rng = rng

        def sample(self, stamp_ns, truth):
            return {"range": truth.p_map_body[2] + self._rng.standard_normal()}


    class Reader:
        reads = ("stereo/left/image_raw", "lidar/points", "radar/points", "sonar/range")

        def __init__(self, context):
            self.received = []

        def step(self, sample):
            self.received += [(sample.stamp_ns, reading) for reading in sample.readings]
            return [0.0] * 4


    class Listener(Reader):
        reads = ("sonar/range",)


    class Deaf(Reader):
        reads = ()


    class Wrong(Reader):
        reads = "lidar/points"
    """
)


@pytest.fixture
def module(tmp_path, monkeypatch) -> str:
    (tmp_path / "own_readers.py").write_text(READER)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_readers"


@pytest.fixture
def read(module, fly):
    """Fly a class of the module for 0.6 s; return what it received, and the bag."""

    def run(name="Reader", **parameters):
        values = {
            "controller": ControllerSettings(kind=f"python:{module}:{name}"),
            "camera": SMALL,
            "lidar.preset": "spinning_16",
            "radar.preset": "ideal",
            "sensors.extra": (f"{module}:Sonar",),
            "duration_s": 0.6,
        }
        simulation, bag = fly(**(values | parameters))
        assert simulation.is_success, simulation.outcome
        return simulation.vehicles[0].backend.controller.received, bag

    return run


@pytest.fixture
def names_a_fleet(tmp_path):
    path = tmp_path / "fleet.yaml"
    path.write_text("vehicles: [{name: front}]")
    return str(path)


@pytest.mark.parametrize("prefix", ["", "front/"])
def test_readings_are_the_messages_in_the_step_of_their_publication(read, names_a_fleet, prefix):
    received, bag = read(**({"fleet.file": names_a_fleet} if prefix else {}))
    found = {}
    for step_ns, reading in received:
        found.setdefault(reading.topic, []).append((step_ns, reading))
    assert {topic: len(each) for topic, each in found.items()} == {
        "stereo/left/image_raw": 6,
        "lidar/points": 6,
        "radar/points": 2,
        "sonar/range": 12,
    }
    for topic, readings in found.items():
        messages = bag.messages([f"/{prefix}{topic}"])
        for (step_ns, reading), (_, sent_ns, message) in zip(readings, messages, strict=True):
            assert reading.stamp_ns == stamp_ns(message)
            assert sent_ns <= step_ns < sent_ns + STEP_NS
            if isinstance(reading, CameraReading):
                rgb = reading.image[:, :, ::-1]
                assert np.array_equal(rgb, picture_from_image(message))
            elif isinstance(reading, CloudReading):
                assert np.array_equal(reading.points_sensor, finite_points(message)[0])
                assert all(len(v) == len(reading.points_sensor) for v in reading.fields.values())
            elif isinstance(reading, FieldsReading):
                assert np.float32(reading.fields["range"]) == message.range


def test_an_image_tells_its_camera(read):
    received, bag = read()
    image = next(reading for _, reading in received if isinstance(reading, CameraReading))
    info = next(bag.messages(["/stereo/left/camera_info"]))[2]
    assert (image.camera, image.encoding, image.image.shape) == ("stereo_left", "bgr8", (48, 64, 3))
    assert np.array_equal(image.camera_matrix.ravel(), info.k)
    assert image.T_body_optical[:3, 3] == pytest.approx([0.10, 0.055, 0.0])
    assert image.T_body_optical[:3, 2] == pytest.approx([1.0, 0.0, 0.0])


def test_a_delay_of_the_camera_delays_its_reading(read):
    delayed = [("camera_delay", {"seconds": 0.1}, FaultTiming(begin_ns=0))]
    received, _ = read(faults=delayed)
    ages = {
        step_ns - reading.stamp_ns for step_ns, reading in received if reading.topic[:6] == "stereo"
    }
    assert ages == {100_000_000}


@pytest.mark.parametrize(("name", "topics"), [("Listener", {"sonar/range"}), ("Deaf", set())])
def test_a_class_gets_what_it_reads_and_no_more(read, name, topics):
    received, _ = read(name)
    assert {reading.topic for _, reading in received} == topics


def test_readings_need_no_recipient_of_the_topics(read, module, flat_world, tmp_path):
    expected, _ = read()
    parameters = replaced(
        SimulatorParameters(),
        {
            "controller.kind": f"python:{module}:Reader",
            "camera": SMALL,
            "lidar.preset": "spinning_16",
            "radar.preset": "ideal",
            "sensors.extra": (f"{module}:Sonar",),
            "duration_s": 0.6,
        },
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [])
    simulation.start()
    while simulation.outcome is None:
        simulation.advance()
    simulation.close()
    received = simulation.vehicles[0].backend.controller.received
    assert [(t, r.topic, r.stamp_ns) for t, r in received] == [
        (t, r.topic, r.stamp_ns) for t, r in expected
    ]
    for (_, one), (_, other) in zip(received, expected, strict=True):
        if isinstance(one, CameraReading):
            assert one.image.tobytes() == other.image.tobytes()
        elif isinstance(one, CloudReading):
            assert one.points_sensor.tobytes() == other.points_sensor.tobytes()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "Reader",
            r"reads: expected topics of sensors on board \(sonar/range\), found 'stereo/left",
        ),
        ("Wrong", "reads: expected names of topics, found 'lidar/points'"),
    ],
)
def test_a_sensor_that_is_not_on_board_is_refused_at_the_start(
    module, flat_world, tmp_path, name, reason
):
    parameters = replaced(
        SimulatorParameters(),
        {
            "controller.kind": f"python:{module}:{name}",
            "camera.is_rendered": False,
            "sensors.extra": (f"{module}:Sonar",),
        },
    )
    with pytest.raises(UserError, match=reason):
        Simulation(parameters, flat_world, tmp_path, [])


def test_the_class_of_the_tutorial_keeps_its_distance_from_a_wall(
    flat_world, tmp_path, monkeypatch
):
    """The oracle is the true distance of the vehicle's centre to the plane of the wall."""
    (code,) = re.findall(r"```python\n# keep_distance\.py\n(.*?)```", TUTORIAL.read_text(), re.S)
    (tmp_path / "keep_distance.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    corners = [(WALL_EAST_M, y, z) for y, z in ((-20, 0), (20, 0), (20, 15), (-20, 15))]
    wall = TexturedMesh(
        vertices_map=np.array(corners, float),
        triangles=np.array([(0, 1, 2), (0, 2, 3)], np.int32),
        uv=np.zeros((4, 2), np.float32),
        texture=np.full((2, 2, 3), 90, np.uint8),
        name="wall",
    )
    world = dataclasses.replace(flat_world, meshes=(*flat_world.meshes, wall))
    parameters = replaced(
        SimulatorParameters(),
        {
            "controller.kind": "python:keep_distance:DistanceKeeper",
            "camera.is_rendered": False,
            "lidar.preset": "spinning_16",
            "duration_s": 10.0,
        },
    )
    simulation = Simulation(parameters, world, tmp_path, [])
    simulation.start()
    while simulation.outcome is None:
        simulation.advance()
    simulation.close()
    p_map = simulation.vehicles[0].p_map_body
    assert pytest.approx(DISTANCE_M, abs=DISTANCE_ERROR_M) == WALL_EAST_M - p_map[0]
    ray_m = WorldQueries(world).cast_one(p_map, np.array([1.0, 0.0, 0.0]))
    assert ray_m == pytest.approx(DISTANCE_M, abs=DISTANCE_ERROR_M)
