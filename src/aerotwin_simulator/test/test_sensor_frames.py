# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The frames that sensor messages name are those that tf knows."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.messages import deserialize
from aerotwin_sensor_models import Imu, load_preset, seed_sequence
from aerotwin_sensor_models.imu import GRAVITY
from aerotwin_simulator import SimulatorParameters
from aerotwin_simulator.inertial_sensors import InertialSensors
from aerotwin_simulator.mounting import imu_transform
from aerotwin_simulator.topics import SinkGroup

ROUNDING = 1e-12
ARM_M = (0.1, -0.02, 0.03)


@pytest.fixture
def upside_down(tmp_path: Path) -> str:
    """Return the path of an IMU without errors, mounted upside down and turned to the side."""
    path = tmp_path / "upside_down.yaml"
    ideal = {"gyroscope": {}, "accelerometer": {}}
    mounting = {"lever_arm_m": list(ARM_M), "mounting_rpy_deg": [180.0, 0.0, 90.0]}
    path.write_text(yaml.safe_dump({"source": "test", "parameters": ideal | mounting}))
    return str(path)


@pytest.mark.parametrize("vehicle", ["", "uav1"])
def test_tf_turns_the_reading_of_a_mounted_imu_at_rest_into_gravity_upwards(upside_down, vehicle):
    prefix = f"{vehicle}/" if vehicle else ""
    edge = imu_transform(upside_down, vehicle)
    assert edge.child_frame_id == f"{prefix}imu_link"
    assert edge.header.frame_id == f"{prefix}base_link"
    p, q = edge.transform.translation, edge.transform.rotation
    assert (p.x, p.y, p.z) == ARM_M
    R_body_imu = Rotation.from_quat([q.x, q.y, q.z, q.w])
    still, at_rest = np.zeros(3), np.array([0.0, 0.0, GRAVITY])
    imu = Imu(load_preset("imu", upside_down), seed_sequence(0, 0, "imu"))
    read = imu.sample(0.004, at_rest, still, alpha_body=still).specific_force
    assert read[2] == pytest.approx(-GRAVITY)  # it does hang upside down
    np.testing.assert_allclose(R_body_imu.apply(read), at_rest, atol=ROUNDING * GRAVITY)
    # One literal case: the IMU's x is the body's y, its y the body's x.
    np.testing.assert_allclose(R_body_imu.apply([1.0, 0.0, 0.0]), (0.0, 1.0, 0.0), atol=ROUNDING)


@pytest.mark.parametrize("vehicle", ["", "uav1"])
def test_the_magnetometer_names_the_body_whose_axes_it_reads(vehicle):
    prefix = f"{vehicle}/" if vehicle else ""
    origin = GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0)
    sensors = InertialSensors(SimulatorParameters(), origin, SinkGroup([]), vehicle)
    imu, field, _ = sensors.outlets
    cdr = field.layout.pack(5, (1e-5, 2e-5, 3e-5))
    assert deserialize(cdr, field.topic.msgtype).header.frame_id == f"{prefix}base_link"
    cdr = imu.layout.pack(5, (0.0,) * 6)
    assert deserialize(cdr, imu.topic.msgtype).header.frame_id == f"{prefix}imu_link"
