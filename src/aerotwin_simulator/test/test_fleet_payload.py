# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A vehicle of a fleet leaves what it leaves alone: topics, frames, scans, setup of its sensors."""

import json

import pytest
import yaml

from aerotwin_core.messages import deserialize
from aerotwin_core.parameters import replaced
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.recording import MemorySink

CLOUD, TRANSFORMS = "sensor_msgs/msg/PointCloud2", "tf2_msgs/msg/TFMessage"


@pytest.fixture(scope="module")
def flights(tmp_path_factory, flat_world):
    """The setup of a vehicle with a lidar and its messages, alone and as one of a fleet."""
    tmp_path = tmp_path_factory.mktemp("fleet")
    (tmp_path / "fleet.yaml").write_text(yaml.safe_dump({"vehicles": [{"name": "a"}]}))
    found = []
    for fleet in ("none", str(tmp_path / "fleet.yaml")):
        values = {
            "camera.is_rendered": False,
            "controller.kind": "ros2",
            "lidar.preset": "spinning_16",
            "fleet.file": fleet,
            "duration_s": 0.25,
        }
        sink = MemorySink()
        parameters = replaced(SimulatorParameters(), values)
        simulation = Simulation(parameters, flat_world, tmp_path, [sink])
        simulation.start()
        while simulation.outcome is None:
            simulation.advance()
        found.append((simulation.vehicles[0].sensor_setup(), sink))
        simulation.close()
    return found


def unnamed(text):
    return text.removeprefix("/").removeprefix("a/")


def test_topics_and_stamps_are_those_of_one_alone(flights):
    alone, fleet = (
        [(unnamed(topic), stamp) for topic, stamp, _ in sink.messages] for _, sink in flights
    )
    assert ("lidar/points", 100_000_000) in alone and alone == fleet


def test_scans_are_the_same_in_frames_of_the_vehicle(flights):
    (_, alone), (_, fleet) = flights
    pairs = list(zip(alone.of("lidar/points"), fleet.of("a/lidar/points"), strict=True))
    for one, other in pairs:
        first, second = (deserialize(cdr, CLOUD) for _, cdr in (one, other))
        assert first.fields == second.fields  # with the time of each point, to undo the motion
        assert bytes(first.data) == bytes(second.data)
        assert second.header.frame_id == f"a/{first.header.frame_id}"
    assert pairs
    edges = [
        {(each.header.frame_id, each.child_frame_id) for each in message.transforms}
        for message in (
            deserialize(sink.of("/tf_static")[0][1], TRANSFORMS) for sink in (alone, fleet)
        )
    ]
    assert {tuple(f"a/{name}" for name in edge) for edge in edges[0]} == edges[1]


def test_the_setup_of_the_sensors_is_the_same(flights):
    alone, fleet = (json.dumps(setup) for setup, _ in flights)
    assert fleet.replace('"/a/', '"/').replace('"a/', '"') == alone
    assert '"/a/lidar/points"' in fleet
