# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The replay between a bag and a SLAM of somebody else."""

import threading
import time

import numpy as np
import pytest

from aerotwin_core import camera_messages, messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.errors import UserError

pytestmark = pytest.mark.ros
rclpy = pytest.importorskip("rclpy")

TIMEOUT_S = 60.0  # of a loaded machine; no test waits for it to pass
N_FRAMES = 12
STEP_NS = 50_000_000
LEVEL = (0.0, 0.0, 0.0, 1.0)
IMAGE, IMU = "sensor_msgs/msg/Image", "sensor_msgs/msg/Imu"
POSE, STRING = "geometry_msgs/msg/PoseStamped", "std_msgs/msg/String"


@pytest.fixture
def bag(tmp_path):
    """A mono camera, an IMU, the truth, and a latched word said before the start."""
    from aerotwin_core.messages import TYPESTORE

    token = TYPESTORE.types[STRING](data="calibration")
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/cam/image", IMAGE)
        writer.add_topic("/imu", IMU)
        writer.add_topic("/vicon/pose", POSE)
        writer.add_topic("/calibration", STRING, latched=True)
        writer.write("/calibration", 0, messages.serialize(token))
        for k in range(N_FRAMES):
            stamp, p = k * STEP_NS, [0.1 * k, 0.0, 0.0]
            picture = np.full((4, 4), k, dtype=np.uint8)
            for topic, message in (
                ("/vicon/pose", messages.pose_stamped_message(stamp, "world", p, LEVEL)),
                ("/imu", imu(stamp)),
                ("/cam/image", camera_messages.image_message(stamp, "cam", picture)),
            ):
                writer.write(topic, stamp, messages.serialize(message))
    return tmp_path / "bag"


def imu(stamp_ns):
    zero = (0.0, 0.0, 0.0)
    return messages.imu_message(
        stamp_ns, "imu", zero, zero, specific_force_std=0.1, angular_velocity_std=0.1
    )


class Slam:
    """Answers some of the frames with a pose, from a thread of its own."""

    def __init__(self, *, answers=lambda k: True, qos=10, n_on_timer=0):
        from geometry_msgs.msg import PoseStamped
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import Image
        from std_msgs.msg import String

        from aerotwin_core.ros.qos import reliable

        self.answers, self.kind = answers, PoseStamped
        self.node = rclpy.create_node("slam")
        self.publisher = self.node.create_publisher(PoseStamped, "/my/pose", qos)
        self.frames, self.words = [], []
        self.node.create_subscription(Image, "/camera/image", self.on_image, reliable(50))
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        on_word = lambda message: self.words.append(message.data)  # noqa: E731
        self.node.create_subscription(String, "/calibration", on_word, latched)
        self.executor = rclpy.executors.SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.n_on_timer = n_on_timer
        if n_on_timer:
            self.node.create_timer(0.1, self.on_timer)
        self.is_over = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_over:
            self.executor.spin_once(timeout_sec=0.02)

    def on_image(self, message):
        k = int(message.data[0])
        self.frames.append(k)
        if self.answers(k):
            pose = self.kind(header=message.header)
            pose.pose.position.x, pose.pose.orientation.w = 0.1 * k, 1.0
            self.publisher.publish(pose)

    def on_timer(self):
        """Publish a pose between the frames, as those do that predict to the present."""
        if self.n_on_timer:
            self.n_on_timer -= 1
            pose = self.kind()
            pose.header.stamp.sec, pose.pose.orientation.w = 1000 + self.n_on_timer, 1.0
            self.publisher.publish(pose)

    def wait_for(self, is_there):
        end = time.monotonic() + TIMEOUT_S
        while not is_there():
            assert time.monotonic() < end, "nothing came in time"
            time.sleep(0.01)

    def stop(self):
        self.is_over = True
        self.thread.join()
        self.executor.shutdown()
        self.node.destroy_node()


@pytest.fixture
def replay(bag, tmp_path):
    """Return a function that replays the bag with these parameters and returns how it went."""
    nodes = []

    def run(**parameters):
        from aerotwin_core.status_line import StatusLine
        from aerotwin_run_evaluation.ros.replay_node import ReplayNode

        words = {
            "bag": bag,
            "slam": "external",
            "estimate": "/my/pose",
            "topics": "camera/image:=/cam/image",
            **parameters,
        }
        arguments = [token for k, v in words.items() for token in ("-p", f"{k}:={v}")]
        node = ReplayNode(cli_args=["--ros-args", *arguments])
        nodes.append(node)
        with BagWriter(tmp_path / "answers") as writer:
            try:
                return node, node.replay(writer, StatusLine())
            finally:
                node.detach()

    rclpy.init()
    yield run
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown()


def test_in_lockstep_every_frame_is_answered_and_recorded(replay, tmp_path):
    slam = Slam()
    node, record = replay(rate=0.0)
    assert record.is_lockstep
    assert (record.n_frames, record.n_answered, record.n_unanswered) == (N_FRAMES, N_FRAMES, 0)
    assert slam.frames == list(range(N_FRAMES))
    slam.stop()
    assert node.roles.truth == "/vicon/pose"
    assert {topic.name for topic in node.plan.topics} == {"/calibration", "/camera/image", "/imu"}
    answers = BagReader(tmp_path / "answers")
    assert answers.counts["/my/pose"] == N_FRAMES
    assert answers.counts["/vicon/pose"] == N_FRAMES
    assert answers.topics["/my/pose"] == POSE
    assert node.frames.stamps_ns.tolist() == [k * STEP_NS for k in range(N_FRAMES)]
    assert record.warnings() == []


def test_against_the_clock_what_is_not_answered_is_counted(replay):
    slam = Slam(answers=lambda k: k % 3 == 0)
    _, record = replay(rate=2.0)
    slam.stop()
    assert not record.is_lockstep
    assert (record.n_frames, record.n_answered, record.n_unanswered) == (N_FRAMES, 4, 8)
    # 11 steps of 50 ms at twice the pace; a busy machine may need longer, never less.
    assert record.wall_s >= 0.275
    assert record.warnings() == ["8 of 12 frames got no answer with their stamp."]


def test_a_slam_that_does_not_answer_each_frame_is_played_to_in_real_time(replay):
    slam = Slam(answers=lambda k: k >= 5)  # as monocular ones do: they start with some parallax
    _, record = replay(wait_frame_s=0.3)
    slam.stop()
    assert not record.is_lockstep
    assert record.rate == 1.0
    assert record.n_answered == N_FRAMES - 5
    assert "played in real time from there on" in record.note


def test_where_lockstep_was_asked_for_silence_is_an_error(replay):
    slam = Slam(answers=lambda k: False)
    with pytest.raises(UserError, match=r"a frame was not answered on /my/pose within 0\.3 s"):
        replay(rate=0.0, wait_frame_s=0.3, wait_start_s=0.3)
    slam.stop()


def test_no_slam_at_all_is_an_error_that_says_what_was_expected(replay):
    with pytest.raises(UserError, match="subscribes /cam/image and publishes /my/pose"):
        replay(wait_start_s=0.2)


def test_a_part_is_played_with_what_was_latched_before_it(replay):
    slam = Slam()
    _, record = replay(rate=0.0, start_s=0.2, duration_s=0.2)
    slam.wait_for(lambda: slam.words)
    slam.stop()
    assert slam.frames == [4, 5, 6, 7, 8]
    assert slam.words == ["calibration"]
    assert record.bag_s == pytest.approx(0.2)


def test_answers_of_best_effort_publishers_are_heard(replay):
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    slam = Slam(qos=QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT))
    _, record = replay(rate=0.0)
    slam.stop()
    assert record.n_answered == N_FRAMES


def test_a_slam_that_publishes_on_a_timer_does_not_keep_the_replay_from_its_end(replay):
    slam = Slam(n_on_timer=400)  # 40 s of them
    _, record = replay(rate=0.0)
    n_left = slam.n_on_timer
    slam.stop()
    assert record.n_answered == N_FRAMES
    assert n_left > 0


def test_a_process_pattern_that_is_none_is_refused(replay):
    with pytest.raises(UserError, match=r"slam_process: expected a regular expression, found '\('"):
        replay(slam_process="(")


def test_a_second_slam_in_the_domain_is_refused(replay):
    slams = [Slam(), Slam()]
    slams[0].wait_for(lambda: slams[0].node.count_publishers("/my/pose") == 2)
    with pytest.raises(UserError, match="/my/pose has several publishers: slam, slam"):
        replay(rate=0.0)
    for slam in slams:
        slam.stop()


def test_a_start_beyond_the_end_is_refused(replay):
    slam = Slam()
    with pytest.raises(UserError, match=r"start_s: expected less than the bag's 0\.550 s"):
        replay(rate=0.0, start_s=9.0)
    slam.stop()


@pytest.fixture
def fleet_bag(tmp_path):
    """Two vehicles with a camera and truth each; the pictures of b are brighter by 100."""
    with BagWriter(tmp_path / "fleet") as writer:
        for vehicle in "ab":
            writer.add_topic(f"/{vehicle}/cam/image", IMAGE)
            writer.add_topic(f"/{vehicle}/truth/odom", POSE)
        for k in range(N_FRAMES):
            stamp, p = k * STEP_NS, [0.1 * k, 0.0, 0.0]
            for vehicle, brightness in (("a", 0), ("b", 100)):
                picture = np.full((4, 4), brightness + k, dtype=np.uint8)
                for topic, message in (
                    ("truth/odom", messages.pose_stamped_message(stamp, "map", p, LEVEL)),
                    ("cam/image", camera_messages.image_message(stamp, "cam", picture)),
                ):
                    writer.write(f"/{vehicle}/{topic}", stamp, messages.serialize(message))
    return tmp_path / "fleet"


def test_a_vehicle_of_a_fleet_is_played_as_if_it_flew_alone(replay, fleet_bag, tmp_path):
    with pytest.raises(UserError, match="expected --vehicle NAME, one of a, b"):
        replay(bag=fleet_bag)
    slam = Slam()
    topics = "camera/image:=/b/cam/image"
    node, record = replay(bag=fleet_bag, vehicle="b", topics=topics, rate=0.0)
    slam.stop()
    assert (record.n_frames, record.n_answered) == (N_FRAMES, N_FRAMES)
    assert slam.frames == [100 + k for k in range(N_FRAMES)]
    assert {topic.name for topic in node.plan.topics} == {"/camera/image"}
    assert node.plan.held_back["/a/cam/image"] == "of another vehicle"
    assert BagReader(tmp_path / "answers").counts["/b/truth/odom"] == N_FRAMES
