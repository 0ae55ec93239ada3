# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`aerotwin evaluate bag` on what bags hold, for which no ROS is needed."""

import json
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core import messages
from aerotwin_core.bag import BagWriter
from aerotwin_core.cli import main
from aerotwin_core.frames import make_transform, pose_from_transform
from aerotwin_run_evaluation.run_judgement import NOTHING_JUDGED

PATIENCE_S = 120.0
ODOMETRY, POSE = "nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseStamped"
LEVEL, ZERO = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
N_POSES = 60
OFFSET_M = 0.3
ROUNDING = 1e-9
# Every import of rclpy and its messages fails, as where ROS is not installed.
WITHOUT_ROS = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("rclpy", "nav_msgs", "sensor_msgs", "geometry_msgs"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
from aerotwin_core.cli import main
from aerotwin_core.frames import make_transform, pose_from_transform
sys.exit(main(sys.argv[1:]))
"""


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def evaluate(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in the test's folder."""
    monkeypatch.chdir(tmp_path)

    def run(*tokens):
        code = main(["evaluate", "bag", *map(str, tokens)])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def bag(tmp_path):
    return write_bag(tmp_path / "bag")


def write_optical_bag(path):
    """A flight round a circle, and the same as poses of a camera's optical frame."""
    T_base_optical = make_transform([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], [0.3, 0.1, -0.2])
    edge = messages.transform_stamped(
        0, "base_link", "left_optical", *pose_from_transform(T_base_optical)
    )
    with BagWriter(path) as writer:
        for topic in ("/truth/odom", "/vio/odom"):
            writer.add_topic(topic, ODOMETRY)
        writer.add_topic("/tf_static", "tf2_msgs/msg/TFMessage", latched=True)
        writer.write("/tf_static", 0, messages.serialize(messages.transform_message([edge])))
        for k in range(N_POSES):
            stamp, angle = k * 50_000_000, 0.1 * k
            turn = Rotation.from_euler("zy", [angle, 0.2]).as_matrix()
            T = make_transform(turn, [4 * np.cos(angle), 4 * np.sin(angle), 0.1 * k])
            for topic, pose in (("/truth/odom", T), ("/vio/odom", T @ T_base_optical)):
                odometry = messages.odometry_message(
                    stamp, "map", "base_link", *pose_from_transform(pose), ZERO, ZERO
                )
                writer.write(topic, stamp, messages.serialize(odometry))
    return path


@pytest.mark.parametrize(
    ("tokens", "is_right"), [((), False), (("--poses-of", "left_optical"), True)]
)
def test_poses_of_a_camera_are_taken_to_the_base(evaluate, tmp_path, tokens, is_right):
    path = write_optical_bag(tmp_path / "optical")
    done = evaluate(path, "--estimate", "/vio/odom", *tokens, "--json", "found.json")
    assert done.returncode == 0
    found = json.loads((tmp_path / "found.json").read_text())["sections"]["trajectory"]
    assert (found["ape_unaligned"]["trans_m"]["rmse"] < ROUNDING) == is_right
    assert (found["ape_unaligned"]["rot_deg"]["rmse"] < 1e-5) == is_right
    assert ("--poses-of FRAME" in done.stdout) != is_right


def test_a_frame_that_the_bag_does_not_mount_is_refused(evaluate, tmp_path):
    path = write_optical_bag(tmp_path / "optical")
    done = evaluate(path, "--estimate", "/vio/odom", "--poses-of", "cam0")
    assert done.returncode == 2
    assert "--poses-of cam0: no frame" in done.stderr
    assert "left_optical" in done.stderr


def write_bag(path, recorded_ns=0):
    """A flight along x whose second half the estimate puts 0.3 m beside, and a perfect one.

    Recording began at `recorded_ns`, on a clock of its own.
    """
    with BagWriter(path) as writer:
        writer.add_topic("/mocap/pose", POSE)
        writer.add_topic("/vio/odom", ODOMETRY)
        writer.add_topic("/vio/better", ODOMETRY)
        for k in range(N_POSES):
            stamp, p = k * 50_000_000, np.array([0.1 * k, 0.0, 1.0])
            truth = messages.pose_stamped_message(stamp, "world", p, LEVEL)
            writer.write("/mocap/pose", recorded_ns + stamp, messages.serialize(truth))
            off = np.array([0.0, OFFSET_M if k >= N_POSES // 2 else 0.0, 0.0])
            for topic, at in (("/vio/odom", p + off), ("/vio/better", p)):
                odometry = messages.odometry_message(stamp, "odom", "body", at, LEVEL, ZERO, ZERO)
                writer.write(topic, recorded_ns + stamp, messages.serialize(odometry))
    return path


def test_estimates_of_a_bag_are_judged_without_ros(bag, tmp_path):
    tokens = ("--estimate", "/vio/odom", "--estimate", "/vio/better", "-o", "out")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROS, "evaluate", "bag", bag, *tokens, "--json", "out.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "judges /vio/odom, /vio/better against /mocap/pose" in done.stdout
    sections = json.loads((tmp_path / "out.json").read_text())["sections"]
    first, second = (sections[name] for name in ("trajectory", "trajectory_vio_better"))
    expected = OFFSET_M * np.sqrt(0.5)
    assert first["ape_unaligned"]["trans_m"]["rmse"] == pytest.approx(expected, abs=ROUNDING)
    assert second["ape_unaligned"]["trans_m"]["rmse"] == pytest.approx(0.0, abs=ROUNDING)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Of the inputs: the frame of the estimate (odom) is not known to be" in page


def test_a_condition_fails_the_command_and_a_protocol_stands_in_the_result(evaluate, bag, tmp_path):
    (tmp_path / "p.yaml").write_text("name: mine\ntrajectory: {align: none}\n")
    tokens = ("--estimate", "/vio/odom", "--protocol", "p.yaml", "--json", "-", "-o", "out")
    done = evaluate(bag, *tokens, "--fail-if", "ape_rmse_m > 0.1")
    assert done.returncode == 3, done.stderr
    assert "ape_rmse_m > 0.1: it is 0.212132" in done.stderr
    protocol = json.loads(done.stdout)["sections"]["trajectory"]["protocol"]
    assert protocol["name"] == "mine"
    assert protocol["choices"]["align"] == "none"


def test_truth_may_come_from_a_file(evaluate, bag, tmp_path):
    lines = (f"{k * 0.05:.2f} {0.1 * k:.1f} 0 1 0 0 0 1" for k in range(N_POSES))
    (tmp_path / "gt.txt").write_text("\n".join(lines))
    tokens = ("--estimate", "/vio/better", "--truth", "gt.txt", "--json", "-", "-o", "out")
    done = evaluate(bag, *tokens)
    assert done.returncode == 0, done.stderr
    ape = json.loads(done.stdout)["sections"]["trajectory"]["ape_unaligned"]["trans_m"]
    assert ape["rmse"] == pytest.approx(0.0, abs=ROUNDING)
    done = evaluate(bag, *tokens[:4], "-o", "out")
    assert "The estimate is" in done.stdout
    assert "APE as given, RMSE" in done.stdout


@pytest.mark.parametrize("recorded_ns", [0, 1_700_000_000 * 10**9])
def test_a_part_alone_is_judged_whatever_the_clock_of_the_recorder(evaluate, tmp_path, recorded_ns):
    """The second half, joined at its own first pose: what is wrong is constant and goes away."""
    bag = write_bag(tmp_path / "bag", recorded_ns)
    tokens = ("--start-s", "1.5", "--duration-s", "1.0", "--json", "-", "-o", "out")
    done = evaluate(bag, "--estimate", "/vio/odom", *tokens)
    assert done.returncode == 0, done.stderr
    trajectory = json.loads(done.stdout)["sections"]["trajectory"]
    assert trajectory["n_pairs"] == 21
    assert trajectory["coverage"] == 1.0
    assert trajectory["ape_unaligned"]["trans_m"]["max"] == pytest.approx(0.0, abs=ROUNDING)
    assert trajectory["completeness"]["incidents"] == []


def test_a_part_that_the_truth_does_not_reach_is_not_said_to_have_none(evaluate, bag, tmp_path):
    (tmp_path / "gt.txt").write_text("0.0 0 0 1 0 0 0 1\n0.5 1 0 1 0 0 0 1\n")
    tokens = ("--start-s", "1.5", "--truth", "gt.txt", "-o", "out")
    done = evaluate(bag, "--estimate", "/vio/odom", *tokens)
    assert done.returncode == 1
    assert "The truth on gt.txt does not reach into the part" in done.stderr


def test_what_was_repaired_in_a_file_is_said_and_the_protocol_may_refuse_it(
    evaluate, bag, tmp_path
):
    lines = [f"{k * 0.05:.2f} {0.1 * k:.1f} 0 1 0 0 0 1" for k in range(N_POSES)]
    (tmp_path / "gt.txt").write_text("\n".join([*lines[:5], lines[4], *lines[5:]]))
    tokens = ("--estimate", "/vio/better", "--truth", "gt.txt", "--json", "-", "-o", "out")
    done = evaluate(bag, *tokens)
    assert done.returncode == 0, done.stderr
    warnings = json.loads(done.stdout)["warnings"]
    assert any("gt.txt: 1 poses have the stamp of the one before" in text for text in warnings)
    (tmp_path / "p.yaml").write_text("name: mine\ntrajectory: {duplicates: refuse}\n")
    done = evaluate(bag, *tokens, "--protocol", "p.yaml")
    assert done.returncode == 1
    assert "the first at line 6; remove them" in done.stderr


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("--recorded", "--truth", "/nowhere"), "/nowhere: neither poses of the bag nor a file"),
        (("--estimate", "/nowhere"), "No SLAM output was recorded"),
    ],
)
def test_exit_code_1_when_nothing_was_judged(evaluate, bag, tmp_path, tokens, message):
    done = evaluate(bag, *tokens, "-o", "out")
    assert done.returncode == 1
    assert done.stderr.count("othing was judged") == 1
    assert message in done.stderr
    report = (tmp_path / "out" / "report.html").read_text()
    assert message in report
    assert report.index(NOTHING_JUDGED) < report.index(message)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("--start-s", "nan"), "--start-s: expected a finite number from 0 on, found nan"),
        (("--duration-s", "-5"), "--duration-s: expected a finite number from 0 on, found -5"),
        (("--frames", "/nope"), "--frames /nope: no topic of the bag; it holds /mocap/pose"),
        (
            ("foo:=1",),
            "foo:=1: arguments are for a launch file or a description",
        ),
        (("--slam-process", "("), "slam_process: expected a regular expression, found '('"),
        (("--fail-if", "ape_rsme_m > 1"), "the result has no number 'ape_rsme_m'; it has ape_rmse"),
        (("-o", "there"), "-o there: is no folder"),
        (("--rate", "2"), "--rate says how a bag is played, and nothing is played"),
        (("--topics", "/vio/odom"), "--topics says how a bag is played"),
        (("--topic", "a:=/vio/odom"), "--topic says how a bag is played"),
        (("--slam-process", "kiss"), "--slam-process says how a bag is played"),
        (("--slam", "external"), "--recorded judges what the bag holds, --slam external replays"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_starts(evaluate, bag, tmp_path, tokens, message):
    (tmp_path / "there").write_text("")
    done = evaluate(bag, "--recorded", *tokens)
    assert done.returncode == 2
    assert message in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"bag", "there"}


def test_a_bag_without_sensors_names_what_can_be_judged(evaluate, bag, tmp_path):
    done = evaluate(bag)
    assert done.returncode == 2
    assert "--estimate of what it holds (/vio/better, /vio/odom)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_replay_takes_one_estimate(evaluate, bag):
    done = evaluate(bag, "--slam", "external", "--estimate", "/a", "--estimate", "/b")
    assert done.returncode == 2
    assert "--estimate /b: a SLAM that is replayed has one estimate" in done.stderr


def test_poses_of_tf_are_named_as_what_can_be_judged(evaluate, shared_data):
    done = evaluate(shared_data("trajectories/evo/tf_example"))
    assert done.returncode == 2
    assert "--estimate of what it holds (/tf:odom.base_footprint)" in done.stderr


def test_a_torn_bag_gives_what_is_whole_and_says_what_is_not(evaluate, bag, tmp_path):
    (file,) = bag.glob("*.mcap")
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * 2 // 3])
    done = evaluate(bag, "--estimate", "/vio/odom", "--json", "-", "-o", "out")
    assert done.returncode == 0, done.stderr
    metrics = json.loads(done.stdout)
    assert 2 <= metrics["sections"]["trajectory"]["n_pairs"] < N_POSES
    assert any(file.name in warning for warning in metrics["warnings"])


def test_a_real_bag_of_transforms_is_judged_against_itself(evaluate, shared_data):
    bag = shared_data("trajectories/evo/tf_example")
    tokens = ("--truth", "/tf:odom.base_footprint", "--estimate", "/tf:odom.base_link")
    done = evaluate(bag, *tokens, "--json", "-", "-o", "out")
    assert done.returncode == 0, done.stderr
    trajectory = json.loads(done.stdout)["sections"]["trajectory"]
    assert trajectory["n_pairs"] == 517
    # base_link stands fixed above base_footprint: joined at the first pose, both are one path.
    assert trajectory["ape_unaligned"]["trans_m"]["max"] == pytest.approx(0.0, abs=ROUNDING)


def test_a_real_bag_without_poses_says_so(evaluate, shared_data):
    done = evaluate(shared_data("rosbag2/rosbag2_py/mcap/wbag"), "--recorded", "-o", "out")
    assert done.returncode == 1
    assert "No SLAM output was recorded" in done.stderr


def write_fleet_bag(path):
    """Two vehicles on circles: the SLAM of uav0 is right, that of uav1 is 0.3 m high from half on.

    Below uav1 there is an IMU frame, and an estimate that is poses of it.
    """
    T_base_imu = make_transform(np.eye(3), [0.3, 0.1, -0.2])
    topics = [f"/uav{k}{name}" for k in (0, 1) for name in ("/slam/odom", "/truth/odom")]
    edge = messages.transform_stamped(
        0, "uav1/base_link", "uav1/imu_link", *pose_from_transform(T_base_imu)
    )
    with BagWriter(path) as writer:
        for topic in (*topics, "/uav1/vio/odom"):
            writer.add_topic(topic, ODOMETRY)
        writer.add_topic("/tf_static", "tf2_msgs/msg/TFMessage", latched=True)
        writer.write("/tf_static", 0, messages.serialize(messages.transform_message([edge])))
        for k in range(N_POSES):
            stamp, angle = k * 50_000_000, 0.1 * k
            turn = Rotation.from_euler("z", angle).as_matrix()
            T = make_transform(turn, [4 * np.cos(angle), 4 * np.sin(angle), 1.0])
            lift = make_transform(np.eye(3), [0.0, 0.0, OFFSET_M if k >= N_POSES // 2 else 0.0])
            poses = dict.fromkeys(topics, T)
            poses |= {"/uav1/slam/odom": lift @ T, "/uav1/vio/odom": T @ T_base_imu}
            for topic, pose in poses.items():
                odometry = messages.odometry_message(
                    stamp, "map", "base", *pose_from_transform(pose), ZERO, ZERO
                )
                writer.write(topic, stamp, messages.serialize(odometry))
    return path


@pytest.mark.parametrize(("vehicle", "expected"), [("uav0", 0.0), ("uav1", OFFSET_M * 0.5**0.5)])
def test_one_vehicle_of_a_fleet_is_judged(evaluate, tmp_path, vehicle, expected):
    path = write_fleet_bag(tmp_path / "fleet")
    tokens = ("--recorded", "--vehicle", vehicle, "--json", "found.json", "-o", "out")
    done = evaluate(path, *tokens, "--fail-if", "ape_unaligned_rmse_m > 1")
    assert done.returncode == 0, done.stderr
    assert f"judges /{vehicle}/slam/odom against /{vehicle}/truth/odom" in done.stdout
    found = json.loads((tmp_path / "found.json").read_text())["sections"]["trajectory"]
    assert found["ape_unaligned"]["trans_m"]["rmse"] == pytest.approx(expected, abs=ROUNDING)


def test_a_frame_of_a_vehicle_is_mounted_on_its_own_base(evaluate, tmp_path):
    path = write_fleet_bag(tmp_path / "fleet")
    tokens = ("--vehicle", "uav1", "--estimate", "/uav1/vio/odom", "--json", "-", "-o", "out")
    done = evaluate(path, *tokens, "--poses-of", "uav1/imu_link")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["sections"]["trajectory"]
    assert found["ape_unaligned"]["trans_m"]["rmse"] == pytest.approx(0.0, abs=ROUNDING)
    done = evaluate(path, *tokens, "--poses-of", "imu_link")
    assert done.returncode == 2
    assert "mounts on uav1/base_link; it knows uav1/base_link, uav1/imu_link" in done.stderr


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ((), "expected --vehicle NAME, one of uav0, uav1"),
        (("--vehicle", "uav2"), "a topic /NAME/truth/odom; expected one of uav0, uav1"),
    ],
)
def test_the_vehicle_of_a_fleet_must_be_named(evaluate, tmp_path, tokens, message):
    path = write_fleet_bag(tmp_path / "fleet")
    done = evaluate(path, "--recorded", *tokens, "-o", "out")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_vehicle_of_a_bag_of_no_fleet_is_refused(evaluate, bag):
    done = evaluate(bag, "--recorded", "--vehicle", "uav0")
    assert done.returncode == 2
    assert "expected none, as the bag is not of a fleet" in done.stderr
