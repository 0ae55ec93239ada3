# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""URDF of the ground robots, compared with what tf has."""

import numpy as np
import pytest

from aerotwin_core import cli
from aerotwin_ground_simulator.robot import GroundRobotParameters, describe_ground_robot
from support.urdf import joint_pose, read_urdf


@pytest.mark.parametrize("kind", ["unicycle", "bicycle"])
def test_a_ground_robot_stands_on_the_ground_with_its_lidar_where_tf_has_it(kind, tmp_path):
    parameters = GroundRobotParameters(vehicle=kind)
    robot, joints = read_urdf(describe_ground_robot(parameters))
    assert set(joints) == {("base_link", "lidar")}
    np.testing.assert_allclose(joints["base_link", "lidar"], parameters.T_base_lidar, atol=1e-7)
    wheels = [v for v in robot.iterfind("link/visual") if v.find("geometry/cylinder") is not None]
    assert len(wheels) == 4
    for wheel in wheels:
        radius = float(wheel.find("geometry/cylinder").get("radius"))
        assert joint_pose(wheel)[2, 3] == pytest.approx(radius)
        np.testing.assert_allclose(np.abs(joint_pose(wheel)[:3, 2]), (0, 1, 0), atol=1e-7)
    assert cli.main(["urdf", kind, "-o", str(tmp_path / "robot.urdf")]) == 0
    assert (tmp_path / "robot.urdf").read_text() == describe_ground_robot(parameters)
