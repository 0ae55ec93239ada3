# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A node meets publishers as drivers and SLAMs are, with no parameter touched."""

import time

import cv2
import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
pytestmark = pytest.mark.ros

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402

TIMEOUT_S = 60.0  # of a loaded machine; no test waits for it to pass
SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=5, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Stack:
    """A node of ours, and a driver that is somebody else's."""

    def __init__(self, arguments=()):
        from aerotwin_core.ros.parameters import ConfiguredNode

        rclpy.init(args=["--ros-args", *arguments])
        # A context of its own, as another process has.
        self.context = rclpy.Context()
        self.context.init()
        self.node = ConfiguredNode("ours")
        self.driver = rclpy.create_node("driver", context=self.context)
        self.logged = []
        for level in ("info", "warning"):
            setattr(self.node.get_logger(), level, lambda text, **_: self.logged.append(text))
        self.executor = rclpy.executors.SingleThreadedExecutor()
        self.executor.add_node(self.node)

    def spin(self, is_done, between=lambda: None):
        end = time.monotonic() + TIMEOUT_S
        while not is_done():
            assert time.monotonic() < end, f"nothing came in time; logged: {self.logged}"
            between()
            self.executor.spin_once(timeout_sec=0.05)

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.driver.destroy_node()
        self.context.try_shutdown()
        rclpy.try_shutdown()


@pytest.fixture
def stack(request):
    stack = Stack(getattr(request, "param", ()))
    yield stack
    stack.close()


def test_a_best_effort_driver_is_met_and_named(stack):
    from sensor_msgs.msg import PointCloud2

    from aerotwin_core.ros.intake import TopicSource

    got = []
    publisher = stack.driver.create_publisher(PointCloud2, "lidar/points", SENSOR_DATA)
    stack.node.intakes.add(TopicSource(topic="lidar/points", kind=PointCloud2), got.append, depth=5)
    stack.spin(lambda: len(got) > 2, lambda: publisher.publish(PointCloud2()))
    expected = "/lidar/points: receiving from /driver (best effort)"
    stack.spin(lambda: expected in stack.logged)


def test_a_second_driver_that_offers_less_is_met_later(stack):
    from std_msgs.msg import Header

    from aerotwin_core.ros.intake import TopicSource

    got = set()
    first = stack.driver.create_publisher(Header, "scan", RELIABLE)
    intake = stack.node.intakes.add(
        TopicSource(topic="scan", kind=Header), lambda m: got.add(m.frame_id), depth=5
    )
    stack.spin(lambda: "first" in got, lambda: first.publish(Header(frame_id="first")))
    assert intake.subscription.qos_profile.reliability is ReliabilityPolicy.RELIABLE
    stack.spin(lambda: stack.logged)  # the intakes have come to rest
    second = stack.driver.create_publisher(Header, "scan", SENSOR_DATA)
    stack.spin(lambda: "second" in got, lambda: second.publish(Header(frame_id="second")))
    got.clear()
    stack.spin(lambda: "first" in got, lambda: first.publish(Header(frame_id="first")))


def test_a_client_of_another_type_is_met_when_the_first_has_left(stack):
    """Teleoperation by Twist, then Nav2 by TwistStamped."""
    from geometry_msgs.msg import Twist, TwistStamped

    from aerotwin_core.ros.intake import TopicSource

    got = []
    sources = [TopicSource(topic="cmd_vel", kind=kind) for kind in (TwistStamped, Twist)]
    stack.node.intakes.add(sources, lambda message: got.append(type(message)), depth=5)
    for kind, qos in ((Twist, RELIABLE), (TwistStamped, SENSOR_DATA), (Twist, RELIABLE)):
        stack.logged.clear()
        client = stack.driver.create_publisher(kind, "cmd_vel", qos)
        stack.spin(lambda: kind in got, lambda: client.publish(kind()))  # noqa: B023  # run at once
        stack.spin(lambda: any("receiving" in text for text in stack.logged))
        stack.driver.destroy_publisher(client)
        got.clear()


def test_reliable_publishers_keep_a_reliable_subscription(stack):
    from std_msgs.msg import Header

    from aerotwin_core.ros.intake import TopicSource

    got = []
    publisher = stack.driver.create_publisher(Header, "scan", RELIABLE)
    intake = stack.node.intakes.add(TopicSource(topic="scan", kind=Header), got.append, depth=5)
    before = intake.subscription
    stack.spin(lambda: stack.logged, lambda: publisher.publish(Header()))
    assert got
    assert intake.subscription is before


def test_a_static_tree_without_transient_local_is_met(stack):
    from geometry_msgs.msg import TransformStamped
    from tf2_msgs.msg import TFMessage

    from aerotwin_core.ros.static_tree import StaticTree

    tree, changes = StaticTree(), []
    tree.subscribe(stack.node, lambda: changes.append(tree.find("base_link", "lidar")))
    publisher = stack.driver.create_publisher(TFMessage, "/tf_static", RELIABLE)
    item = TransformStamped(child_frame_id="lidar")
    item.header.frame_id = "base_link"
    stack.spin(lambda: changes, lambda: publisher.publish(TFMessage(transforms=[item])))
    np.testing.assert_array_equal(changes[0], np.eye(4))


def test_what_was_latched_before_comes(stack):
    from std_msgs.msg import Header

    from aerotwin_core.ros.intake import TopicSource

    got = []
    stack.driver.create_publisher(Header, "map", LATCHED).publish(Header(frame_id="once"))
    source = TopicSource(topic="map", kind=Header)
    stack.node.intakes.add(source, got.append, depth=1, is_latched=True)
    stack.spin(lambda: got)
    assert got[0].frame_id == "once"


def test_compressed_pictures_are_taken_where_no_raw_ones_are(stack):
    from sensor_msgs.msg import CompressedImage

    from aerotwin_core.ros.conversions import array_from_image
    from aerotwin_core.ros.sources import image_sources

    got = []
    topic = "camera/image_raw/compressed"
    publisher = stack.driver.create_publisher(CompressedImage, topic, SENSOR_DATA)
    stack.node.intakes.add(image_sources("camera/image_raw"), got.append, depth=5)
    picture = np.arange(48, dtype=np.uint8).reshape(6, 8)
    data = cv2.imencode(".png", picture)[1].tobytes()
    broken = CompressedImage(format="jpeg", data=data[:20])
    whole = CompressedImage(format="png", data=data)
    whole.header.frame_id = "optical"

    def publish():
        publisher.publish(broken)
        publisher.publish(whole)

    stack.spin(lambda: got, publish)
    np.testing.assert_array_equal(array_from_image(got[0]), picture)
    assert got[0].header.frame_id == "optical"
    assert any("dropped: compressed image" in text for text in stack.logged)
    said = "/camera/image_raw: receiving on /camera/image_raw/compressed from /driver (best effort)"
    stack.spin(lambda: said in stack.logged)


def test_an_imu_with_orientation_is_taken_where_no_raw_one_is(stack):
    from sensor_msgs.msg import Imu

    from aerotwin_core.ros.sources import imu_sources

    got = []
    publisher = stack.driver.create_publisher(Imu, "imu/data", SENSOR_DATA)
    stack.node.intakes.add(imu_sources(), got.append, depth=5, prefers_best_effort=True)
    stack.spin(lambda: got, lambda: publisher.publish(Imu()))


@pytest.mark.parametrize(
    "name", ["Odometry", "PoseStamped", "PoseWithCovarianceStamped", "TransformStamped", "TF"]
)
def test_poses_of_every_type_arrive_as_odometry(stack, name):
    from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped, TransformStamped
    from nav_msgs.msg import Odometry
    from tf2_msgs.msg import TFMessage

    from aerotwin_core.ros.sources import pose_sources

    transform = TransformStamped(child_frame_id="base_link")
    transform.transform.translation.x = 3.0
    pose, covariant, odometry = PoseStamped(), PoseWithCovarianceStamped(), Odometry()
    pose.pose.position.x = covariant.pose.pose.position.x = odometry.pose.pose.position.x = 3.0
    for message in (transform, pose, covariant, odometry):
        message.header.frame_id, message.header.stamp.sec = "map", 7
    other = TransformStamped(child_frame_id="camera")
    other.header.frame_id = "base_link"
    tree = TFMessage(transforms=[other, transform])
    message = {"TF": tree} | {type(m).__name__: m for m in (transform, pose, covariant, odometry)}
    topic = "/tf" if name == "TF" else "slam/odom"
    publisher = stack.driver.create_publisher(type(message[name]), topic, RELIABLE)
    sources = pose_sources("slam/odom", frames=("map", "base_link"))
    got = []
    stack.node.intakes.add([*sources.values()], got.append, depth=5)
    stack.spin(lambda: got, lambda: publisher.publish(message[name]))
    assert got[0].pose.pose.position.x == 3.0
    assert (got[0].header.frame_id, got[0].header.stamp.sec) == ("map", 7)


def test_the_reason_why_nothing_comes_is_logged_once(stack):
    from sensor_msgs.msg import Image, PointCloud2
    from std_msgs.msg import Header

    from aerotwin_core.ros.intake import TopicSource

    stack.driver.create_publisher(PointCloud2, "ouster/points", SENSOR_DATA)
    stack.driver.create_publisher(Header, "camera", RELIABLE)
    stack.driver.create_publisher(Image, "quiet", RELIABLE)
    for topic, kind in (("lidar/points", PointCloud2), ("camera", Image), ("quiet", Image)):
        stack.node.intakes.add(TopicSource(topic=topic, kind=kind), print, depth=5)
    stack.spin(lambda: len(stack.logged) == 3)
    assert stack.logged == [
        "after 4 s, /lidar/points: nothing publishes sensor_msgs/msg/PointCloud2 there; "
        "/ouster/points would fit: remap by -r lidar/points:=/ouster/points",
        "after 4 s, /camera: published as std_msgs/msg/Header, expected sensor_msgs/msg/Image",
        "after 4 s, /quiet: no message from /driver (reliable)",
    ]


def test_an_optional_topic_may_be_silent_but_not_of_another_type(stack):
    from geometry_msgs.msg import Twist
    from std_msgs.msg import Header

    from aerotwin_core.ros.intake import TopicSource

    stack.driver.create_publisher(Twist, "cmd_vel", RELIABLE)
    stack.driver.create_publisher(Header, "command", RELIABLE)
    for topic in ("cmd_vel", "command"):
        source = TopicSource(topic=topic, kind=Twist)
        stack.node.intakes.add(source, print, depth=5, is_optional=True)
    stack.spin(lambda: stack.logged)
    (warning,) = stack.logged
    assert "/command: published as std_msgs/msg/Header" in warning


@pytest.mark.parametrize("stack", [("-p", "use_sim_time:=true")], indirect=True)
def test_nothing_is_missed_before_time_begins(stack):
    import time

    from rosgraph_msgs.msg import Clock
    from std_msgs.msg import Header

    from aerotwin_core.ros.intake import TopicSource

    stack.node.intakes.add(TopicSource(topic="camera", kind=Header), print, depth=5)
    stack.spin(lambda: stack.logged)
    assert stack.logged == ["after 4 s, use_sim_time is true and nothing publishes /clock"]
    begin_s = time.monotonic()
    stack.spin(lambda: time.monotonic() - begin_s > 1.0)
    clock = stack.driver.create_publisher(Clock, "/clock", RELIABLE)
    message = Clock()
    message.clock.sec = 1
    stack.spin(lambda: len(stack.logged) > 1, lambda: clock.publish(message))
    assert "/camera: nothing publishes" in stack.logged[1]


@pytest.mark.parametrize(
    "stack", [("-p", "qos_overrides./scan.subscription.reliability:=best_effort")], indirect=True
)
def test_overrides_of_the_quality_of_service_are_obeyed(stack):
    from std_msgs.msg import Header

    from aerotwin_core.ros.intake import TopicSource

    got = []
    publisher = stack.driver.create_publisher(Header, "scan", RELIABLE)
    intake = stack.node.intakes.add(TopicSource(topic="scan", kind=Header), got.append, depth=5)
    stack.spin(lambda: stack.logged, lambda: publisher.publish(Header()))
    assert got
    assert intake.subscription.qos_profile.reliability is ReliabilityPolicy.BEST_EFFORT


def test_a_message_that_is_refused_does_not_end_the_node(stack):
    """As a transform without rotation, a cloud that is cut off, a stamp that is none."""
    from builtin_interfaces.msg import Time
    from sensor_msgs.msg import PointCloud2
    from std_msgs.msg import Header

    from aerotwin_core.point_clouds import finite_points
    from aerotwin_core.ros.conversions import ns_from_stamp
    from aerotwin_core.ros.intake import TopicSource

    got = []
    sources = {"clouds": PointCloud2, "stamps": Header}
    uses = {
        "clouds": lambda m: got.append(finite_points(m)),
        "stamps": lambda m: got.append(ns_from_stamp(m.stamp)),
    }
    publishers = {}
    for topic, kind in sources.items():
        publishers[topic] = stack.driver.create_publisher(kind, topic, RELIABLE)
        stack.node.intakes.add(TopicSource(topic=topic, kind=kind), uses[topic], depth=5)

    def publish():
        publishers["clouds"].publish(PointCloud2(width=7, height=1, point_step=12))
        publishers["stamps"].publish(Header(stamp=Time(sec=1, nanosec=4_000_000_000)))

    for topic, reason in (("clouds", "0 bytes, expected 7 x 1 points"), ("stamps", "nanosec must")):
        said = f"{topic} dropped: "
        stack.spin(
            lambda said=said, reason=reason: any(said in t and reason in t for t in stack.logged),
            publish,
        )
    stack.spin(lambda: got, lambda: publishers["stamps"].publish(Header(stamp=Time(sec=2))))
    assert got[0] == 2_000_000_000
