# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A bag of a stereo rig that flies past a painted wall, for tests of dense localisation."""

from functools import lru_cache

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core import camera_messages, messages
from aerotwin_core.bag import BagWriter
from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import R_CAM_OPTICAL, make_transform, pose_from_transform
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane

CAMERA = PinholeCamera(width=320, height=240, fx=200.0, fy=200.0, cx=159.5, cy=119.5)
BASELINE_M, WALL_Y_M, STEP_M, PERIOD_NS, N = 0.4, 6.0, 0.3, 200_000_000, 10
NORTH = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
GRAVITY = np.array([0.0, 0.0, 9.80665])
SPARSE_NS = 400_000_000
T_BASE_IMU = make_transform(Rotation.from_rotvec([1.1, 0.3, -0.2]).as_matrix(), [-0.3, 0.2, 0.1])
T_BASE_OPTICAL = make_transform(R_CAM_OPTICAL, [0.2, 0.0, 0.1])
ORIGIN = GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=400.0)
ODOMETRY_M = 0.02
"""Standard deviation of the poses that slam/odom tells."""
WAVES = np.random.default_rng(1).normal(0.0, 6.0, (24, 2))
PHASES = np.random.default_rng(2).uniform(0.0, 2 * np.pi, 24)


def waves(x, z):
    """Return a grey value that changes everywhere on the wall, at scales from 0.3 m."""
    sines = np.sin(WAVES[:, 0] * x[..., None] + WAVES[:, 1] * z[..., None] + PHASES)
    return 120.0 + 10.0 * sines.sum(axis=-1)


@lru_cache
def rays_of(camera):
    return np.concatenate([camera.rays(), np.ones((camera.height, camera.width, 1))], axis=-1)


def seen(T_map_optical, camera=CAMERA):
    """Return the picture of the painted wall y = 6 m."""
    return _seen(T_map_optical.tobytes(), camera)


@lru_cache(maxsize=64)
def _seen(pose, camera):
    T_map_optical = np.frombuffer(pose).reshape(4, 4)
    ways = rays_of(camera) @ T_map_optical[:3, :3].T
    p = T_map_optical[:3, 3]
    depth = (WALL_Y_M - p[1]) / ways[..., 1]
    grey = waves(p[0] + depth * ways[..., 0], p[2] + depth * ways[..., 2])
    return np.clip(grey.round(), 0, 255).astype(np.uint8)


def true_base(k):
    """Return T_map_base: it looks north and moves east, a little up and down."""
    return make_transform(NORTH, [STEP_M * k, 0.0, 2.0 + 0.1 * np.sin(k)])


def swaying_base(k):
    """Return T_map_base at k times `SPARSE_NS`: from rest, to and fro, turning its head."""
    to_and_fro = 1.0 - np.cos(2.2 * k * SPARSE_NS * 1e-9)
    turn = Rotation.from_euler("ZY", [0.1 * to_and_fro, 0.05 * to_and_fro]).as_matrix()
    return make_transform(
        turn @ NORTH, [0.3 + 1.2 * to_and_fro, 0.2 * to_and_fro, 2.0 + 0.1 * to_and_fro]
    )


def imu_messages(n, frame="imu_link", delay_ns=0):
    """Yield what an IMU reads in the time of n pictures from `swaying_base`, at 100 Hz.

    By differences of where it is: over 1 ms, so that they are 1e-6 off at most.
    """
    h = 1e6 / SPARSE_NS
    for stamp_ns in range(SPARSE_NS, n * SPARSE_NS + 1, 10_000_000):
        k = stamp_ns / SPARSE_NS - 1.0
        before, now, after = (swaying_base(k + step) @ T_BASE_IMU for step in (-h, 0.0, h))
        turn = Rotation.from_matrix(before[:3, :3].T @ after[:3, :3]).as_rotvec()
        a = (before + after - 2.0 * now)[:3, 3] / 1e-6
        force = now[:3, :3].T @ (a + GRAVITY)
        yield messages.imu_message(
            stamp_ns + delay_ns, frame, force, turn / 2e-3,
            specific_force_std=0.1, angular_velocity_std=0.01,
        )  # fmt: skip


def write_bag(
    path, lens=CAMERA, n=N, body="base_link", base=true_base, period_ns=PERIOD_NS, imu=()
):
    rng = np.random.default_rng(4)
    kinds = {"image_raw": "sensor_msgs/msg/Image", "camera_info": "sensor_msgs/msg/CameraInfo"}
    plane = LocalTangentPlane(ORIGIN)
    with BagWriter(path) as bag:
        bag.add_topic("/tf_static", "tf2_msgs/msg/TFMessage", latched=True)
        for side in ("left", "right"):
            for name, kind in kinds.items():
                bag.add_topic(f"/stereo/{side}/{name}", kind)
        for name in ("/slam/odom", "/truth/odom"):
            bag.add_topic(name, "nav_msgs/msg/Odometry")
        bag.add_topic("/gnss/fix", "sensor_msgs/msg/NavSatFix")
        bag.add_topic("/imu", "sensor_msgs/msg/Imu")
        edges = [
            messages.transform_stamped(0, "base_link", frame, *pose_from_transform(T))
            for frame, T in (("left_optical", T_BASE_OPTICAL), ("imu_link", T_BASE_IMU))
        ]
        bag.write("/tf_static", 0, messages.serialize(messages.transform_message(edges)))

        def put(topic, stamp_ns, message):
            bag.write(topic, stamp_ns, messages.serialize(message))

        for message in imu:
            put("/imu", messages.stamp_ns(message), message)
        for k in range(n):
            stamp_ns, T_map_base = (k + 1) * period_ns, base(k)
            T_left = T_map_base @ T_BASE_OPTICAL
            for side, offset_m in (("left", 0.0), ("right", BASELINE_M)):
                T = T_left @ make_transform(np.eye(3), [offset_m, 0.0, 0.0])
                frame = f"{side}_optical"
                info = camera_messages.camera_info_message(stamp_ns, frame, lens, offset_m)
                image = camera_messages.image_message(stamp_ns, frame, seen(T, lens))
                put(f"/stereo/{side}/camera_info", stamp_ns, info)
                put(f"/stereo/{side}/image_raw", stamp_ns, image)
            reported = T_map_base.copy()
            reported[:3, 3] += rng.normal(0.0, ODOMETRY_M, 3)
            for topic, T, child in (
                ("/truth/odom", T_map_base, "base_link_truth"),
                ("/slam/odom", reported, body),
            ):
                still = np.zeros(3), np.zeros(3)
                put(topic, stamp_ns, messages.odometry_message(
                    stamp_ns, "map", child, *pose_from_transform(T), *still,
                    twist_variances=(1e6,) * 6))  # fmt: skip
            at = plane.to_geodetic(T_map_base[:3, 3])
            put("/gnss/fix", stamp_ns, messages.nav_sat_fix_message(
                stamp_ns, "gnss", *at, [1, 1, 1]))  # fmt: skip
    return path
