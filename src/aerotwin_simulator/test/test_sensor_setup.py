# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the bag and config.yaml tell an estimator, read back by the plain library of MCAP."""

import json

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader

from aerotwin_core.bag import BagReader
from aerotwin_core.parameters import to_mapping
from aerotwin_sensor_models import load_preset
from aerotwin_simulator import (
    CameraSettings,
    ControllerSettings,
    FleetSettings,
    MissionSettings,
    Simulation,
    SimulatorParameters,
    topics,
)
from aerotwin_simulator.recording import BagSink, add_sensors
from aerotwin_simulator.sensor_setup import flat

SECONDS = 4.0
SIGMAS = 5.0


@pytest.fixture(scope="module")
def standing(tmp_path_factory, flat_world):
    """A fleet of two on the ground, motors off: the folder, its setups and its bag's file."""
    folder = tmp_path_factory.mktemp("setup")
    (folder / "config.yaml").write_text("parameters: {seed: 3}\n")
    (folder / "fleet.yaml").write_text(
        "vehicles: [{name: a, camera: true}, {name: b, start_north_m: 3.0}]"
    )
    parameters = SimulatorParameters(
        fleet=FleetSettings(file=str(folder / "fleet.yaml")),
        camera=CameraSettings(is_rendered=False),
        controller=ControllerSettings(kind="ros2"),
        mission=MissionSettings(file="none"),
        duration_s=SECONDS,
        seed=3,
        speed=0.0,
    )
    bag = BagSink(folder / "bag", record="inertial")
    simulation = Simulation(parameters, flat_world, folder, [bag])
    setups = {vehicle.name: vehicle.sensor_setup() for vehicle in simulation.vehicles}
    add_sensors(folder, setups)
    bag.describe(setups)
    try:
        simulation.start()
        while simulation.outcome is None:
            simulation.advance()
    finally:
        simulation.close()
        bag.close()
    return folder, setups


def records(folder):
    with (folder / "bag" / "bag_0.mcap").open("rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        assert summary.statistics.metadata_count == len(summary.metadata_indexes)
        return {record.name: record.metadata for record in reader.iter_metadata()}


def test_the_plain_library_reads_the_setup_of_each_vehicle(standing):
    folder, setups = standing
    found = records(folder)
    assert set(found) == {"a/sensors", "b/sensors"}
    assert found["a/sensors"] == flat(setups["a"])
    imu = load_preset("imu", SimulatorParameters().sensors.imu)
    of_a = found["a/sensors"]
    assert of_a["imu.topic"] == "/a/imu/data_raw"
    for key, value in (
        ("gyroscope.noise_density_rad_s_sqrt_hz", imu.gyroscope.noise_density),
        ("gyroscope.bias_random_walk_rad_s2_sqrt_hz", imu.gyroscope.random_walk),
        ("gyroscope.bias_correlation_time_s", imu.gyroscope.correlation_time_s),
        ("accelerometer.noise_density_m_s2_sqrt_hz", imu.accelerometer.noise_density),
        ("accelerometer.bias_random_walk_m_s3_sqrt_hz", imu.accelerometer.random_walk),
    ):
        assert json.loads(of_a[f"imu.{key}"]) == value
    assert json.loads(of_a["gravity_map_m_s2"]) == [0.0, 0.0, -9.81]


def test_config_yaml_holds_the_same_beside_what_stood_there(standing):
    folder, setups = standing
    content = yaml.safe_load((folder / "config.yaml").read_text())
    assert content["parameters"] == {"seed": 3}
    assert content["sensors"] == setups
    add_sensors(folder, {"": setups["b"]})
    assert yaml.safe_load((folder / "config.yaml").read_text())["sensors"] == setups["b"]


def test_presets_are_recorded_as_loaded(standing):
    _, setups = standing
    found = setups["b"]["presets"]
    assert set(found) == {"imu", "barometer", "magnetometer", "gnss"}
    inherited = load_preset("magnetometer", "px4_gazebo_classic").noise_density_t
    assert found["magnetometer"]["noise_density_t"] == inherited
    camera = setups["a"]["cameras"]["stereo_left"]["parameters"]
    assert camera["noise"] == to_mapping(load_preset("camera_noise", "default"))


def test_extrinsics_are_those_of_the_static_transforms(standing):
    folder, setups = standing
    edges = {
        edge.child_frame_id: edge
        for _, _, message in BagReader(folder / "bag").messages(["/tf_static"])
        for edge in message.transforms
    }
    imu = setups["a"]["imu"]
    moved = edges[imu["frame_id"]].transform
    np.testing.assert_allclose(
        imu["T_base_imu"]["translation_m"],
        [moved.translation.x, moved.translation.y, moved.translation.z],
    )
    left = setups["a"]["cameras"]["stereo_left"]
    moved = edges["a/stereo_left"].transform.translation
    np.testing.assert_allclose(
        left["T_base_optical"]["translation_m"], [moved.x, moved.y, moved.z], atol=1e-12
    )
    assert left["frame_id"] == "a/stereo_left_optical"
    assert left["readout_s"] == 0.0
    assert setups["b"]["cameras"] == {}


def test_the_mean_reading_of_a_gyroscope_at_rest_is_its_true_bias(standing):
    """It stands still, so what it reads is bias and noise: two ways to the same number."""
    folder, setups = standing
    bag = BagReader(folder / "bag")
    for name in ("a", "b"):
        gyroscope = setups[name]["imu"]["gyroscope"]
        read = np.array(
            [
                (m.angular_velocity.x, m.angular_velocity.y, m.angular_velocity.z)
                for _, _, m in bag.messages([f"/{name}/imu/data_raw"])
            ]
        )
        reported = np.array(
            [
                (m.angular_velocity.x, m.angular_velocity.y, m.angular_velocity.z)
                for _, _, m in bag.messages([f"/{name}/truth/imu_bias"])
            ]
        )
        assert len(reported) == int(10 * SECONDS)
        sigma = gyroscope["noise_density_rad_s_sqrt_hz"] / np.sqrt(SECONDS)
        np.testing.assert_allclose(read.mean(axis=0), reported.mean(axis=0), atol=SIGMAS * sigma)
        drift = gyroscope["bias_random_walk_rad_s2_sqrt_hz"] * np.sqrt(SECONDS)
        start = gyroscope["true_bias_at_start_rad_s"]
        np.testing.assert_allclose(reported[-1], start, atol=SIGMAS * drift)
        assert np.abs(start).max() > SIGMAS * sigma  # it is more than the noise leaves open


@pytest.mark.parametrize(
    ("topic", "kind", "preset"),
    [
        (topics.IMU, "imu", "adis16448"),
        (topics.MAGNETIC_FIELD, "magnetometer", "default"),
        (topics.AIR_PRESSURE, "barometer", "default"),
        (topics.GNSS_FIX, "gnss", "gnss_default"),
    ],
)
def test_the_documented_rate_of_a_sensor_topic_is_that_of_its_default_preset(topic, kind, preset):
    assert getattr(SimulatorParameters().sensors, kind) == preset
    assert topic.rate_hz == load_preset(kind, preset).rate_hz
