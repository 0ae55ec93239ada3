# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The cameras as a node: truth in, pictures out, those that the composed simulator makes."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from aerotwin_core import messages
from aerotwin_core.frames import make_transform, rotation_from_quaternion
from aerotwin_core.parameters import replaced
from aerotwin_simulator import SimulatorParameters
from aerotwin_simulator.vehicle_cameras import make_vehicle_cameras
from aerotwin_worlds import load_world
from aerotwin_worlds.world_follower import Renderer

pytestmark = pytest.mark.ros

ROUNDING = 1e-9
LIMIT_S = 120.0  # of a loaded machine; no test waits for it to pass
WORLD = """
name: coarse
generator: cliff
parameters: {seed: 1, spacing_m: 1.0, texel_m: 0.5}
origin: {latitude_deg: 47.4, longitude_deg: 8.5, altitude_m: 400.0}
start: {x_m: -25.0, y_m: -10.0}
attribution: Made in a test
licence: Apache-2.0
"""
STEREO = {"camera.width": 96, "camera.height": 64, "camera.focal_px": 60.0, "seed": 3}
Q_MAP_BODY = np.array([0.0, 0.0, 0.6, 0.8])


def odometry(stamp_ns):
    """A body that flies north-east at 2 m/s past the cliff."""
    p = [-20.0 + 2.0 * stamp_ns * 1e-9, -12.0, 6.0]
    v_body = rotation_from_quaternion(Q_MAP_BODY).T @ [2.0, 0.0, 0.0]
    return messages.odometry_message(
        stamp_ns, "map", "base_link_truth", p, Q_MAP_BODY, v_body, [0.0] * 3
    )


def pose(stamp_ns):
    p = [-20.0 + 2.0 * stamp_ns * 1e-9, -12.0, 6.0]
    return make_transform(rotation_from_quaternion(Q_MAP_BODY), p)


@pytest.fixture
def given(tmp_path):
    """Parameters of the node, with their files."""
    world, cameras = tmp_path / "coarse.yaml", tmp_path / "cameras.yaml"
    world.write_text(WORLD)
    small = {"width": 64, "height": 48, "fx": 40.0, "fy": 40.0, "cx": 31.5, "cy": 23.5}
    preset = {"source": "a test", "parameters": small}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(preset))
    depth = {"name": "depth", "preset": "small.yaml", "outputs": ["depth"], "rate_hz": 30.0}
    cameras.write_text(yaml.safe_dump({"cameras": [depth]}))
    return {"world": str(world), "camera.file": str(cameras), **STEREO}


class Partner:
    """Publishes truth and takes what the node makes of it."""

    def __init__(self, camera_node):
        import rclpy
        from nav_msgs.msg import Odometry
        from rclpy.executors import SingleThreadedExecutor
        from sensor_msgs.msg import Image
        from std_msgs.msg import Header
        from tf2_msgs.msg import TFMessage

        from aerotwin_core.ros.qos import LATCHED, reliable

        self.taken: dict[str, list] = {}
        node = self.node = rclpy.create_node("partner")
        requested = dict.fromkeys(("stereo/left/image_raw", "depth/image_rect"), Image)
        for name, cls in {**requested, "step/ack": Header}.items():
            take = self.taken.setdefault(name, []).append
            node.create_subscription(cls, name, take, reliable(50), raw=True)
        self.mounting: list = []
        node.create_subscription(TFMessage, "/tf_static", self.mounting.append, LATCHED)
        self.truth = node.create_publisher(Odometry, "truth/odom", reliable(200))
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(node)
        self.executor.add_node(camera_node)
        self.spin_until(lambda: self.mounting and self.truth.get_subscription_count())

    def spin_until(self, is_done):
        deadline = time.monotonic() + LIMIT_S
        while not is_done() and time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.05)
        assert is_done()

    def publish(self, stamps_ns):
        for stamp_ns in stamps_ns:
            self.truth.publish(messages.serialize(odometry(stamp_ns)))
            self.executor.spin_once(timeout_sec=0.0)

    def stamps(self, name, msgtype):
        found = [messages.deserialize(cdr, msgtype) for cdr in self.taken[name]]
        return [messages.stamp_ns(m) for m in found]


class Stream:
    """Notes for which places of the vehicle tiles are chosen, and changes nothing."""

    def __init__(self):
        self.asked: list[float] = []

    def update(self, p_map):
        self.asked.append(float(p_map[0]))
        return False


@pytest.fixture
def stream(monkeypatch):
    from aerotwin_simulator.ros import camera_node

    stream = Stream()
    monkeypatch.setattr(
        camera_node, "load_world", lambda spec: replace(load_world(spec), stream=stream)
    )
    return stream


@pytest.fixture
def partner(given, stream):
    import rclpy

    from aerotwin_simulator.ros.camera_node import CameraNode

    arguments = [x for name, value in given.items() for x in ("-p", f"{name}:={value}")]
    rclpy.init(args=["--ros-args", *arguments])
    node = CameraNode()
    partner = Partner(node)
    partner.report = node._report
    yield partner
    node.destroy_node()
    rclpy.try_shutdown()


def test_the_node_makes_the_frames_of_the_composed_simulator(partner, given):
    partner.publish(range(0, 310_000_000, 10_000_000))
    partner.spin_until(lambda: len(partner.taken["step/ack"]) == 6)
    partner.spin_until(lambda: len(partner.taken["depth/image_rect"]) == 9)
    twenty = [k * 50_000_000 for k in range(1, 7)]
    image = "sensor_msgs/msg/Image"
    assert partner.stamps("stereo/left/image_raw", image) == twenty
    thirty = [round(k * 1e9 / 30) for k in range(1, 10)]
    assert partner.stamps("depth/image_rect", image) == thirty
    headers = [messages.deserialize(c, "std_msgs/msg/Header") for c in partner.taken["step/ack"]]
    assert [h.stamp.sec * 10**9 + h.stamp.nanosec for h in headers] == twenty
    composed = make_vehicle_cameras(
        replaced(SimulatorParameters(), given), Renderer(load_world(given["world"]))
    )[0]
    frames = dict(composed.frames(SimpleNamespace(end_ns=300_000_000, pose=pose)))
    for cdr, stamp_ns in zip(partner.taken["stereo/left/image_raw"], twenty, strict=True):
        expected = {topic.name: data for topic, data in frames[stamp_ns]}
        assert bytes(cdr) == expected["stereo/left/image_raw"]
    names = [edge.child_frame_id for edge in partner.mounting[0].transforms]
    assert names == [
        f"{name}{leaf}"
        for name in ("stereo_left", "stereo_right", "depth")
        for leaf in ("", "_optical")
    ]


def test_frames_begin_anew_after_a_gap_in_the_truth(partner):
    late = 100_000_000_000
    partner.publish([0, 40_000_000, 60_000_000, late, late + 10_000_000, late + 60_000_000])
    partner.spin_until(lambda: len(partner.taken["step/ack"]) == 3)
    found = partner.stamps("stereo/left/image_raw", "sensor_msgs/msg/Image")
    assert found == [50_000_000, late, late + 50_000_000]


def test_a_truth_that_comes_twice_is_refused_and_makes_no_second_frame(partner):
    partner.publish([0, 50_000_000, 50_000_000, 100_000_000])
    partner.spin_until(lambda: len(partner.taken["step/ack"]) == 2)
    found = partner.stamps("stereo/left/image_raw", "sensor_msgs/msg/Image")
    assert found == [50_000_000, 100_000_000]
    assert partner.report()[2] == {"n_frames": "5", "n_refused": "1"}


def test_a_streamed_world_follows_after_time_steps_back(partner, stream):
    late = 20_000_000_000
    partner.publish([late, late + 200_000_000, 0, 50_000_000, 200_000_000])
    partner.spin_until(lambda: len(partner.taken["step/ack"]) == 9)
    at = [odometry(t).pose.pose.position.x for t in (late, late + 200_000_000, 0, 200_000_000)]
    assert stream.asked[1:] == at


def test_a_pose_between_two_truths_follows_the_velocities():
    from aerotwin_simulator.ros.camera_node import TruthMotion

    motion = TruthMotion(odometry(0))
    motion.on_truth(odometry(10_000_000))
    assert (motion.start_ns, motion.end_ns) == (0, 10_000_000)
    np.testing.assert_allclose(motion.pose(3_333_333), pose(3_333_333), atol=ROUNDING)
    broken = odometry(20_000_000)
    broken.pose.pose.position.x = float("nan")
    with pytest.raises(ValueError, match="must be finite"):
        motion.on_truth(broken)
    assert motion.end_ns == 10_000_000
