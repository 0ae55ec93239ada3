# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""URDF of the vehicles: read by the rules of its format, compared with what tf has."""

import numpy as np
import pytest
import yaml

from aerotwin_core import cli
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import airframe_names, load_airframe
from aerotwin_simulator import SimulatorParameters
from aerotwin_simulator.fixed_frames import describe_vehicle
from support.urdf import edges_of, joint_pose, read_urdf

ROUNDING = 1e-7  # angles next to a pitch of 90 degrees are known to the root of double precision
CAMERAS = [
    {"name": "down", "pitch_deg": 90.0, "z_m": -0.05},
    {"name": "aslant", "roll_deg": 10.0, "pitch_deg": 20.0, "yaw_deg": -130.0, "y_m": 0.07},
]


@pytest.fixture
def equipped(tmp_path):
    """Parameters of a vehicle with every kind of sensor that has a frame."""
    path = tmp_path / "cameras.yaml"
    path.write_text(yaml.safe_dump({"cameras": CAMERAS}))
    return {
        "camera.file": str(path), "lidar.preset": "spinning_16", "lidar.roll_deg": 15.0,
        "sensors.range_finder": "lidar_lite_v3",
    }  # fmt: skip


def test_a_flight_publishes_one_description_whose_joints_are_those_of_tf(
    fly, controllers, equipped
):
    changes = {"controller.kind": f"python:{controllers}:Climber", "duration_s": 0.1, **equipped}
    _, bag = fly(**changes)
    ((_, _, description),) = bag.messages(["/robot_description"])
    _, joints = read_urdf(description.data)
    fixed = edges_of(next(bag.messages(["/tf_static"]))[2].transforms)
    assert set(joints) == set(fixed)
    for frames, T in fixed.items():
        np.testing.assert_allclose(joints[frames], T, atol=ROUNDING, err_msg=str(frames))
    expected = {"imu_link", "down_optical", "aslant", "lidar", "range_finder", "rotor_3"}
    assert expected < {child for _, child in fixed}
    # One literal case: the camera that looks down has its x along the body's -z.
    np.testing.assert_allclose(joints["base_link", "down"][:3, 0], (0, 0, -1), atol=ROUNDING)


@pytest.mark.parametrize("vehicle", ["", "uav1"])
@pytest.mark.parametrize("name", airframe_names())
def test_mass_inertia_and_rotors_are_those_of_the_airframe(name, vehicle):
    airframe = load_airframe(name)
    parameters = replaced(SimulatorParameters(), {"airframe": name})
    robot, joints = read_urdf(describe_vehicle(parameters, vehicle))
    prefix = f"{vehicle}/" if vehicle else ""
    base = robot.find(f"link[@name='{prefix}base_link']")
    assert float(base.find("inertial/mass").get("value")) == airframe.mass_kg
    inertia = {key: float(value) for key, value in base.find("inertial/inertia").items()}
    ixx, iyy, izz = airframe.inertia_kg_m2
    assert inertia == {"ixx": ixx, "iyy": iyy, "izz": izz, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}
    for k, rotor in enumerate(airframe.rotors):
        hub = joints[f"{prefix}base_link", f"{prefix}rotor_{k}"]
        np.testing.assert_array_equal(hub[:3, 3], rotor.position_m)
        disc = robot.find(f"link[@name='{prefix}rotor_{k}']/visual/geometry/cylinder")
        assert float(disc.get("radius")) == airframe.propeller.radius_m
    assert all(frame.startswith(prefix) for edge in joints for frame in edge)


def test_arms_and_legs_end_at_the_hubs_and_feet():
    airframe = load_airframe("x500")
    parameters = replaced(SimulatorParameters(), {"airframe": "x500"})
    robot, _ = read_urdf(describe_vehicle(parameters))
    ends = []
    for visual in robot.iterfind("link[@name='base_link']/visual"):
        if (rod := visual.find("geometry/cylinder")) is not None:
            ends.append(joint_pose(visual) @ (0.0, 0.0, 0.5 * float(rod.get("length")), 1.0))
    tips = [rotor.position_m for rotor in airframe.rotors] + [*airframe.contact.feet_m]
    np.testing.assert_allclose(np.array(ends)[:, :3], tips, atol=ROUNDING)


def test_the_verb_writes_what_a_flight_publishes(equipped, tmp_path, capsys):
    out = tmp_path / "iris.urdf"
    cameras = equipped["camera.file"]
    words = ["urdf", "iris", "--cameras", cameras, "--no-stereo", "--name", "uav2", "-o", str(out)]
    assert cli.main(words) == 0
    changes = {"camera.file": cameras, "camera.is_rendered": False}
    expected = describe_vehicle(replaced(SimulatorParameters(), changes), "uav2")
    assert out.read_text() == expected
    assert "10 links" in capsys.readouterr().out


def test_the_verb_does_not_write_over_its_input_or_of_what_does_not_exist(equipped, capsys):
    cameras = equipped["camera.file"]
    assert cli.main(["urdf", "iris", "--cameras", cameras, "-o", cameras]) == cli.EXIT_USAGE
    assert "would be written over; name another" in capsys.readouterr().err
    assert cli.main(["urdf", "zeppelin", "-o", "x.urdf"]) == cli.EXIT_USAGE
    assert "there is none named 'zeppelin'" in capsys.readouterr().err
