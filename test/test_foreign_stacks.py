# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Our nodes beside an Ouster, a RealSense and MAVROS: started as they are, only topics remapped.

The drivers are scripted here after their documentation: topics, types, QoS, fields and frames. What
a driver sends within 5 s of being met is answered, and the driver hears the answer, with no
parameter set. The 5 s are of its stamps: a loaded machine answers late, but it answers those.
"""

import os
import signal
import subprocess
import sys
import time

import cv2
import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
pytestmark = pytest.mark.ros

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402

TIMEOUT_S = 120.0  # of a loaded machine; no test waits for it to pass
SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RINGS, COLUMNS, TURN_S = 16, 512, 0.1
PROMPT_S = 5.0


class Stack:
    """A node of ours as a process, and drivers in this one."""

    def __init__(self, tmp_path, module, remaps):
        rclpy.init()
        self.driver = rclpy.create_node("driver", namespace="/foreign")
        self.executor = rclpy.executors.SingleThreadedExecutor()
        self.executor.add_node(self.driver)
        self.log = tmp_path / "node.log"
        tokens = [t for a, b in remaps.items() for t in ("-r", f"{a}:={b}")]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, "--ros-args", *tokens],
                stdout=log, stderr=subprocess.STDOUT, cwd=tmp_path, start_new_session=True,
            )  # fmt: skip
        self.n_sent, self.met_ns = 0, None

    def listen(self, kind, topic):
        got = []
        self.driver.create_subscription(kind, topic, got.append, SENSOR_DATA)
        return got

    def publisher(self, kind, topic, qos=SENSOR_DATA):
        self.published = self.driver.create_publisher(kind, topic, qos)
        return self.published

    def assert_prompt(self, answer):
        """Check that an answer is to something sent within 5 s of the node being met."""
        stamp = answer.header.stamp
        assert stamp.sec * 10**9 + stamp.nanosec - self.met_ns <= PROMPT_S * 1e9

    def transform(self, parent, child, xyz=(0.0, 0.0, 0.0), xyzw=(0.0, 0.0, 0.0, 1.0)):
        """Publish an edge of the static tree, as each driver does by a broadcaster of its own."""
        from geometry_msgs.msg import TransformStamped
        from tf2_msgs.msg import TFMessage

        edge = TransformStamped(child_frame_id=child)
        edge.header.frame_id = parent
        p, q = edge.transform.translation, edge.transform.rotation
        (p.x, p.y, p.z), (q.x, q.y, q.z, q.w) = xyz, xyzw
        publisher = self.driver.create_publisher(TFMessage, "/tf_static", LATCHED)
        publisher.publish(TFMessage(transforms=[edge]))

    def run(self, is_done, send, period_s=TURN_S):
        """Call `send` with the time of the wall [ns], as a driver at its rate, until it is done."""
        end = time.monotonic() + TIMEOUT_S
        while not is_done():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            self.n_sent += 1
            now_ns = time.time_ns()
            if self.met_ns is None and self.published.get_subscription_count():
                self.met_ns = now_ns
            send(now_ns)
            due = time.monotonic() + period_s
            while time.monotonic() < due:
                self.executor.spin_once(timeout_sec=0.01)

    def has_logged(self, text):
        return text in self.log.read_text()

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
            try:
                self.process.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.executor.shutdown()
        self.driver.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def start(tmp_path):
    stacks = []

    def start(*arguments, **options):
        stacks.append(Stack(tmp_path, *arguments, **options))
        return stacks[-1]

    yield start
    for stack in stacks:
        stack.close()


def stamped(message, stamp_ns, frame_id):
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 10**9)
    message.header.frame_id = frame_id
    return message


def ouster_cloud(stamp_ns):
    """Return the inside of a room as ouster_ros organises it; every tenth beam has no echo."""
    from sensor_msgs.msg import PointCloud2, PointField

    elevation = np.radians(np.linspace(-20, 20, RINGS))[:, None]
    azimuth = np.linspace(0, -2 * np.pi, COLUMNS, endpoint=False)[None]
    ray = np.stack(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation) + 0.0 * azimuth,
        ]
    )
    room = np.array([6.0, 4.0, 2.0])[:, None, None]
    points = ray * (room / np.maximum(np.abs(ray), 1e-9)).min(axis=0)
    points[:, :, ::10] = 0.0
    layout = np.dtype(
        {
            "names": ["x", "y", "z", "intensity", "t", "reflectivity", "ring", "ambient", "range"],
            "formats": ["<f4", "<f4", "<f4", "<f4", "<u4", "<u2", "<u2", "<u2", "<u4"],
            "offsets": [0, 4, 8, 16, 20, 24, 26, 28, 32],
            "itemsize": 48,
        }
    )
    rows = np.zeros((RINGS, COLUMNS), dtype=layout)
    rows["x"], rows["y"], rows["z"] = points
    rows["t"] = np.linspace(0, TURN_S * 1e9, COLUMNS, endpoint=False)
    datatypes = {"f4": PointField.FLOAT32, "u4": PointField.UINT32, "u2": PointField.UINT16}
    message = PointCloud2(
        height=RINGS, width=COLUMNS, point_step=48, row_step=48 * COLUMNS, is_dense=False,
        fields=[
            PointField(name=n, offset=layout.fields[n][1], count=1,
                       datatype=datatypes[layout.fields[n][0].str[1:]])
            for n in layout.names
        ],
    )  # fmt: skip
    message.data.frombytes(rows.tobytes())
    return stamped(message, stamp_ns, "os_lidar")


def test_an_ouster_feeds_lidar_odometry(start):
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import PointCloud2

    stack = start("aerotwin_kiss_icp.ros.kiss_icp_node", {"lidar/points": "/ouster/points"})
    publisher = stack.publisher(PointCloud2, "/ouster/points")
    stack.transform("base_link", "os_sensor", (0.1, 0.0, 0.2))
    stack.transform("os_sensor", "os_lidar", (0.0, 0.0, 0.036), (0.0, 0.0, 1.0, 0.0))
    odom = stack.listen(Odometry, "/slam/odom")
    stack.run(lambda: len(odom) > 2, lambda now: publisher.publish(ouster_cloud(now)))
    stack.assert_prompt(odom[0])
    position = odom[-1].pose.pose.position
    np.testing.assert_allclose([position.x, position.y, position.z], 0.0, atol=0.05)
    assert stack.has_logged("point times from 't' (uint32, ns): 0.0002 to 0.0998 s")
    stack.run(
        lambda: stack.has_logged("/ouster/points: receiving from /foreign/driver (best effort)"),
        lambda now: publisher.publish(ouster_cloud(now)),
    )


def wall_pair(disparity_px, size=(240, 424)):
    """Return what a stereo pair sees of a flat, textured wall."""
    rng = np.random.default_rng(4)
    texture = cv2.GaussianBlur(rng.uniform(0, 255, (size[0], size[1] + 100)), (0, 0), 2.0)
    texture = cv2.normalize(texture, None, 20, 235, cv2.NORM_MINMAX).astype(np.uint8)
    left = texture[:, 40 : 40 + size[1]]
    right = texture[:, 40 + disparity_px : 40 + disparity_px + size[1]]
    return np.ascontiguousarray(left), np.ascontiguousarray(right)


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_realsense_feeds_stereo_odometry(start, is_compressed):
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import CameraInfo, CompressedImage, Image

    names = {"left": "infra1", "right": "infra2"}
    remaps = {}
    for side, name in names.items():
        remaps[f"stereo/{side}/image_raw"] = f"/camera/{name}/image_rect_raw"
        remaps[f"stereo/{side}/camera_info"] = f"/camera/{name}/camera_info"
    stack = start("aerotwin_stereo_odometry.ros.stereo_odometry_node", remaps)
    kind, tail = (CompressedImage, "/compressed") if is_compressed else (Image, "")
    create = stack.publisher
    infos = [create(CameraInfo, f"/camera/{n}/camera_info") for n in names.values()]
    images = [create(kind, f"/camera/{n}/image_rect_raw{tail}") for n in names.values()]
    turned = (-0.5, 0.5, -0.5, 0.5)
    stack.transform("base_link", "camera_infra1_frame", (0.1, 0.0, 0.0))
    stack.transform("camera_infra1_frame", "camera_infra1_optical_frame", xyzw=turned)
    odom = stack.listen(Odometry, "/slam/odom")
    fx, baseline_m = 210.0, 0.05
    pictures = wall_pair(disparity_px=6)

    def send(now):
        for k, (picture, name) in enumerate(zip(pictures, names.values())):
            frame = f"camera_{name}_optical_frame"
            height, width = picture.shape
            info = CameraInfo(width=width, height=height, distortion_model="plumb_bob", d=[0.0] * 5)
            info.k = [fx, 0.0, 212.0, 0.0, fx, 120.0, 0.0, 0.0, 1.0]
            info.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
            info.p = [fx, 0.0, 212.0, -fx * baseline_m * k, 0.0, fx, 120.0, 0.0, 0.0, 0.0, 1.0, 0.0]
            infos[k].publish(stamped(info, now, frame))
            if is_compressed:
                message = CompressedImage(format="mono8; jpeg compressed ")
                message.data.frombytes(cv2.imencode(".jpg", picture)[1].tobytes())
            else:
                message = Image(height=height, width=width, encoding="mono8", step=width)
                message.data.frombytes(picture.tobytes())
            images[k].publish(stamped(message, now, frame))

    stack.run(lambda: len(odom) > 2, send)
    stack.assert_prompt(odom[0])
    p = odom[-1].pose.pose.position
    np.testing.assert_allclose([p.x, p.y, p.z], 0.0, atol=0.02)


def test_poses_of_mavros_are_judged_against_those_of_a_slam(start):
    from diagnostic_msgs.msg import DiagnosticArray
    from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped

    truth, slam = "/mavros/local_position/pose", "/orb_slam/pose"
    stack = start(
        "aerotwin_trajectory_evaluation.ros.trajectory_evaluation_node",
        {"truth/odom": truth, "slam/odom": slam},
    )
    true = stack.publisher(PoseStamped, truth)
    estimated = stack.publisher(PoseWithCovarianceStamped, slam, 10)
    diagnostics = stack.listen(DiagnosticArray, "/diagnostics")

    def send(now):
        x = 0.1 * stack.n_sent
        pose, estimate = PoseStamped(), PoseWithCovarianceStamped()
        pose.pose.position.x, pose.pose.orientation.w = x, 1.0
        estimate.pose.pose.position.x, estimate.pose.pose.orientation.w = x, 1.0
        true.publish(stamped(pose, now, "map"))
        estimated.publish(stamped(estimate, now, "map"))

    def judged():
        values = [(m, {v.key: v.value for v in m.status[0].values}) for m in diagnostics]
        return [(m, float(v["ape_m"])) for m, v in values if int(v.get("n_pairs", 0)) > 1]

    stack.run(judged, send, period_s=0.05)
    first, ape_m = judged()[0]
    stack.assert_prompt(first)
    assert ape_m == pytest.approx(0.0, abs=1e-6)
    stack.close()
    reports = list(stack.log.parent.glob("runs/*-live/metrics.json"))
    assert len(reports) == 1, stack.log.read_text()
