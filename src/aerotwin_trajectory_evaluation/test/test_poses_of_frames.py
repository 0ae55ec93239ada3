# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of a camera or IMU are taken to base_link; forgetting it is noticed."""

import argparse
import json

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from aerotwin_core.bag import BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform, pose_from_transform
from aerotwin_core.messages import TYPESTORE, odometry_message, serialize, transform_stamped
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import command, evaluate_trajectory, write_tum
from aerotwin_trajectory_evaluation.evo_check import evo_ape
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol
from aerotwin_trajectory_evaluation.sensor_frames import (
    find_attitude_offset,
    mounting_of,
    moved,
    poses_of_base,
)
from aerotwin_trajectory_evaluation.summary import cautions

OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
T_BASE_OPTICAL = make_transform(OPTICAL, [0.4, 0.1, -0.2])
T_ODOM_MAP = make_transform(Rotation.from_euler("xyz", [0.1, -0.2, 2.0]).as_matrix(), [5.0, 1, 0])
ROUNDING = 1e-9
WRITTEN = 1e-7
"""Nine decimals in a TUM file, along a path of 20 m."""


def flight(n=400):
    t = np.arange(n) * 0.05
    p = np.column_stack([3 * np.sin(0.3 * t), 2 * np.cos(0.47 * t), 1 + 0.5 * np.sin(0.9 * t)])
    angles = np.column_stack([0.3 * np.sin(0.8 * t), 0.2 * np.cos(1.1 * t), np.sin(0.4 * t)])
    return Trajectory(
        np.round((t + 10.0) * 1e9).astype(np.int64), p, Rotation.from_rotvec(angles).as_quat()
    )


def seen_by(T_base_frame, scale=1.0):
    """Return what a perfect SLAM writes of a frame, in its own map and scale."""
    T = T_ODOM_MAP @ flight().transforms() @ T_base_frame
    q = Rotation.from_matrix(T[:, :3, :3]).as_quat()
    return Trajectory(flight().stamps_ns, T[:, :3, 3] * scale, q)


def run(*arguments):
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return command.run(parser.parse_args([str(token) for token in arguments]))


@pytest.fixture
def bag(tmp_path):
    with BagWriter(tmp_path / "bag", is_live=False) as writer:
        writer.add_topic("/truth/odom", "nav_msgs/msg/Odometry")
        writer.add_topic("/tf_static", "tf2_msgs/msg/TFMessage", latched=True)
        writer.add_metadata(
            "sensors",
            {
                "imu.frame_id": "imu_link",
                "imu.T_base_imu.translation_m": "[0.1, 0.2, 0.3]",
                "imu.T_base_imu.rotation_xyzw": "[0.0, 0.0, 1.0, 0.0]",
            },
        )
        p, q = pose_from_transform(T_BASE_OPTICAL)
        mounting = transform_stamped(0, "base_link", "left_optical", p, q)
        message = TYPESTORE.types["tf2_msgs/msg/TFMessage"](transforms=[mounting])
        writer.write("/tf_static", int(flight().stamps_ns[0]), serialize(message))
        for stamp, T in zip(flight().stamps_ns.tolist(), flight().transforms()):
            pose = pose_from_transform(T)
            still = (0.0, 0.0, 0.0)
            odometry = odometry_message(stamp, "map", "base_link", *pose, still, still)
            writer.write("/truth/odom", stamp, serialize(odometry))
    return tmp_path / "bag"


def test_a_perfect_slam_of_the_optical_frame_has_no_error(bag, tmp_path, capsys):
    write_tum(tmp_path / "slam.txt", seen_by(T_BASE_OPTICAL))
    truth = f"{bag}:/truth/odom"
    arguments = (truth, tmp_path / "slam.txt", "--json", "-")
    assert run(*arguments, "--poses-of", "left_optical") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ape"]["trans_m"]["max"] < WRITTEN
    assert found["ape"]["rot_deg"]["max"] < 1e-5
    assert found["rpe"]["metre"]["trans_m"]["max"] < WRITTEN
    assert run(*arguments) == 0
    wrong = json.loads(capsys.readouterr().out)
    assert wrong["ape"]["rot_deg"]["rmse"] > 60.0
    # evo's own score of the poses before base_link was asked for: the lever arm is in it.
    by_evo = evo_ape(flight(), seen_by(T_BASE_OPTICAL))()
    assert wrong["ape"]["trans_m"]["rmse"] == pytest.approx(np.sqrt(np.mean(by_evo**2)), abs=1e-7)
    assert wrong["ape"]["trans_m"]["rmse"] > 0.05


def test_a_scale_free_slam_has_a_lever_arm_in_its_own_scale(bag, tmp_path, capsys):
    write_tum(tmp_path / "slam.txt", seen_by(T_BASE_OPTICAL, scale=0.17))
    truth = f"{bag}:/truth/odom"
    arguments = (truth, tmp_path / "slam.txt", "--poses-of", "left_optical", "--json", "-")
    assert run(*arguments, "--align", "sim3") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["alignment"]["scale"] == pytest.approx(1 / 0.17, rel=1e-7)
    assert found["ape"]["trans_m"]["max"] < 10 * WRITTEN


def test_mountings_are_found_in_bag_run_and_chain(bag, tmp_path):
    np.testing.assert_allclose(mounting_of("left_optical", bag), T_BASE_OPTICAL, atol=ROUNDING)
    imu = make_transform(np.diag([-1.0, -1.0, 1.0]), [0.1, 0.2, 0.3])
    np.testing.assert_allclose(mounting_of("imu_link", bag), imu, atol=ROUNDING)
    np.testing.assert_array_equal(mounting_of("base_link", f"{bag}:/truth/odom"), np.eye(4))
    pose = {"translation_m": [0.1, 0.2, 0.3], "rotation_xyzw": [0.0, 0.0, 1.0, 0.0]}
    (tmp_path / "config.yaml").write_text(
        yaml.safe_dump({"sensors": {"imu": {"frame_id": "imu_link", "T_base_imu": pose}}})
    )
    np.testing.assert_allclose(mounting_of("imu_link", tmp_path / "config.yaml"), imu, atol=1e-12)
    T_cam_imu = np.linalg.inv(T_BASE_OPTICAL)
    (tmp_path / "chain.yaml").write_text(
        yaml.safe_dump({"cam0": {"T_cam_imu": T_cam_imu.tolist()}})
    )
    found = mounting_of("cam0", tmp_path / "chain.yaml")
    np.testing.assert_allclose(found, T_BASE_OPTICAL, atol=1e-12)
    with pytest.raises(
        UserError, match=r"--poses-of cam7: .* it knows base_link, imu_link, left_o"
    ):
        mounting_of("cam7", bag)
    with pytest.raises(UserError, match=r"slam\.txt: describes no sensors; give a bag"):
        mounting_of("cam0", tmp_path / "slam.txt")
    with pytest.raises(UserError, match="--sensors has the mountings"):
        run(tmp_path / "a", tmp_path / "b", "--sensors", bag)


def test_covariances_move_with_the_lever_arm():
    """Against samples: a turned sensor moves the base by the arm."""
    rng = np.random.default_rng(7)
    pose = seen_by(T_BASE_OPTICAL).select(np.array([100]))
    A = rng.normal(size=(6, 6)) * 1e-3
    choices = TrajectoryProtocol()
    base, covariance = poses_of_base(flight(), pose, (A @ A.T)[None], T_BASE_OPTICAL, choices)
    errors = rng.multivariate_normal(np.zeros(6), A @ A.T, size=20_000)
    turns = Rotation.from_rotvec(errors[:, 3:]) * Rotation.from_quat(pose.q_ref_body[0])
    arm = np.linalg.inv(T_BASE_OPTICAL)[:3, 3]
    p = pose.p_ref_body[0] + errors[:, :3] + turns.apply(arm) - base.p_ref_body[0]
    sampled = np.cov(np.hstack([p, errors[:, 3:]]).T)
    assert covariance is not None
    # 5 sigma of a variance of so many samples.
    np.testing.assert_allclose(covariance[0], sampled, atol=0.05 * np.abs(sampled).max())


@pytest.mark.parametrize("align", ["se3", "origin", "none"])
def test_poses_of_an_optical_frame_are_noticed(align):
    found = cautions(evaluate_trajectory(flight(), seen_by(T_BASE_OPTICAL), align=align))
    (text,) = (line for line in found if "--poses-of" in line)
    assert "turned by the same 120 deg" in text
    assert "a camera's optical frame" in text


def test_the_opposite_mistake_is_named_too():
    offset = find_attitude_offset(flight(), seen_by(np.linalg.inv(T_BASE_OPTICAL)))
    assert offset is not None
    assert "base_link that were converted as if they were a camera's" in offset.likely


@pytest.mark.parametrize(
    ("R", "likely"),
    [
        (np.diag([1.0, -1.0, -1.0]), "forward, right, down"),
        (OPTICAL @ Rotation.from_euler("x", 10, degrees=True).as_matrix(), "optical"),
        (Rotation.from_euler("z", 50, degrees=True).as_matrix(), ""),
    ],
)
def test_turned_axes_are_named(R, likely):
    offset = find_attitude_offset(flight(), seen_by(make_transform(R, np.zeros(3))))
    assert offset is not None
    assert likely in offset.likely
    assert bool(likely) == bool(offset.likely)


def test_no_turn_is_seen_where_there_is_none():
    assert find_attitude_offset(flight(), seen_by(np.eye(4))) is None
    t = np.linspace(0.0, 1.0, 400)
    drifting = moved(seen_by(np.eye(4)), np.eye(4))
    turns = Rotation.from_rotvec(np.outer(t, [0.0, 0.0, 2.5]))  # a drift is no constant turn
    q = (Rotation.from_quat(drifting.q_ref_body) * turns).as_quat()
    assert (
        find_attitude_offset(flight(), Trajectory(drifting.stamps_ns, drifting.p_ref_body, q))
        is None
    )
    no_attitude = Trajectory(
        flight().stamps_ns, flight().p_ref_body, np.tile([0.5, 0.5, 0.5, 0.5], (400, 1))
    )
    assert find_attitude_offset(flight(), no_attitude) is None
