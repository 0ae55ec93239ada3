# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A small recording with everything that makes calibration difficult."""

import filecmp
import json
from pathlib import Path

import cv2
import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core import camera_messages, messages
from aerotwin_core.bag import BagWriter
from aerotwin_core.camera import BrownCamera
from aerotwin_core.frames import make_transform, pose_from_transform
from aerotwin_core.messages import TYPESTORE, serialize

WIDTH, HEIGHT, N_FRAMES = 32, 24, 5
FRAME_NS, IMU_NS, START_NS = 50_000_000, 4_000_000, 1_700_000_000_000_000_004
T_BASE_IMU = make_transform(
    Rotation.from_euler("xyz", [10, -20, 30], degrees=True).as_matrix(), [0.03, -0.02, 0.05]
)
R_CAM_OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
NOISE = {
    "gyroscope": ("noise_density_rad_s_sqrt_hz", 1.7e-4, "bias_random_walk_rad_s2_sqrt_hz", 2e-5),
    "accelerometer": ("noise_density_m_s2_sqrt_hz", 2e-3, "bias_random_walk_m_s3_sqrt_hz", 3e-3),
}
LENS = BrownCamera(
    width=WIDTH, height=HEIGHT, fx=30.0, fy=31.0, cx=15.25, cy=11.5, k1=-0.05, k2=0.01, p1=1e-3
)


def parallel_mounting(side: int) -> np.ndarray:
    return make_transform(R_CAM_OPTICAL, [0.1, 0.055 - 0.11 * side, 0.01])


def mounting(side: int) -> np.ndarray:
    tilt = Rotation.from_euler("y", 3 + side, degrees=True).as_matrix()
    return make_transform(tilt @ R_CAM_OPTICAL, [0.1, 0.055 - 0.11 * side, 0.01])


def state(t: float):
    """Position, attitude, velocity in map axes and rate in body axes of base_link, closed form."""
    p = np.array([2.0 * np.sin(t), 1.5 * np.cos(0.7 * t), 1.0 + 0.2 * t])
    v = np.array([2.0 * np.cos(t), -1.05 * np.sin(0.7 * t), 0.2])
    R = Rotation.from_euler("z", 0.8 * t) * Rotation.from_euler("x", 0.3)
    return p, R, v, R.inv().apply([0.0, 0.0, 0.8])


def frame_image(k: int, side: int, encoding: str) -> np.ndarray:
    rng = np.random.default_rng(10 * k + side)
    shape = (HEIGHT, WIDTH) if encoding == "mono8" else (HEIGHT, WIDTH, 3)
    return rng.integers(0, 256, shape, dtype=np.uint8)


def compressed(image, pixels: np.ndarray, form: str):
    """Return a CompressedImage of RGB or of brightness, as image_transport makes it."""
    coded = cv2.imencode(f".{form}", pixels if pixels.ndim == 2 else pixels[:, :, ::-1])[1]
    kind = TYPESTORE.types["sensor_msgs/msg/CompressedImage"]
    return kind(header=image.header, format=f"bgr8; {form} compressed bgr8", data=coded.ravel())


def depth_image(k: int) -> np.ndarray:
    """Metres, of which some are unknown, too far, and not on a step of 0.2 mm."""
    z = np.linspace(0.5, 12.0, HEIGHT * WIDTH, dtype=np.float32).reshape(HEIGHT, WIDTH) + 0.1 * k
    z[0, :3] = [np.nan, np.inf, 50.0]
    return z


def write_recording(
    path,
    *,
    with_imu=True,
    noise=True,
    encodings=("mono8", "rgb8"),
    lens=LENS,
    mount=mounting,
    depth=False,
    depth_lens=None,
    T_left_depth=None,
    picture=frame_image,
    start_ns=START_NS,
    frame_ns=FRAME_NS,
    compression="",
    T_base_lidar=None,
):
    n_imu = N_FRAMES * frame_ns // IMU_NS
    entries = []
    static = [
        messages.transform_stamped(
            start_ns, "base_link", "imu_link", *pose_from_transform(T_BASE_IMU)
        )
    ]
    for side, name in enumerate(("left", "right")):
        frame = f"stereo_{name}_optical"
        T = pose_from_transform(mount(side))
        static.append(messages.transform_stamped(start_ns, "base_link", frame, *T))
        for k in range(N_FRAMES):
            at = start_ns + k * frame_ns
            info = camera_messages.camera_info_message(at, frame, lens, 0.11 * side)
            pixels, topic = picture(k, side, encodings[side]), f"/stereo/{name}/image_raw"
            image = camera_messages.image_message(at, frame, pixels)
            if compression:
                image, topic = compressed(image, pixels, compression), f"{topic}/compressed"
            entries += [(f"/stereo/{name}/camera_info", at, info), (topic, at, image)]
    if depth:
        frame, space = "stereo_left_optical", "/stereo/left/depth"
        if depth_lens is not None:
            frame, space = "depth_optical", "/depth_alone"
            T = pose_from_transform(mount(0) @ T_left_depth)
            static.append(messages.transform_stamped(start_ns, "base_link", frame, *T))
        for k in range(N_FRAMES):
            at = start_ns + k * frame_ns
            info = camera_messages.camera_info_message(at, frame, depth_lens or lens)
            image = camera_messages.image_message(at, frame, depth_image(k))
            entries += [(f"{space}/camera_info", at, info), (f"{space}/image_raw", at, image)]
    if T_base_lidar is not None:
        pose = pose_from_transform(T_base_lidar)
        static.append(messages.transform_stamped(start_ns, "base_link", "lidar", *pose))
        for k in range(N_FRAMES):
            at = start_ns + k * frame_ns
            scan = messages.point_cloud_message(at, "lidar", np.ones((3, 3)))
            entries.append(("/lidar/points", at, scan))
    rng = np.random.default_rng(3)
    for k in range(n_imu + 1):
        at = start_ns + k * IMU_NS
        t = k * IMU_NS * 1e-9
        force, rate = rng.normal(size=3), rng.normal(size=3)
        reading = messages.imu_message(
            at, "imu_link", force, rate, specific_force_std=0.1, angular_velocity_std=0.01
        )
        if with_imu:
            entries.append(("/imu/data_raw", at, reading))
        p, R, v, omega = state(t)
        truth = messages.odometry_message(
            at, "map", "base_link_truth", p, R.as_quat(), R.inv().apply(v), omega
        )
        bias = messages.imu_message(
            at, "imu_link", [0.1, 0.2, 0.3], [0.01, 0.02, 0.03 + t],
            specific_force_std=0.0, angular_velocity_std=0.0,
        )  # fmt: skip
        entries.append(("/truth/odom", at, truth))
        entries += [("/truth/imu_bias", at, bias)] * (k % 5 == 0)
    entries.append(("/tf_static", start_ns, messages.transform_message(static)))
    with BagWriter(path) as bag:
        if noise:
            texts = {"gravity_map_m_s2": "[0.0, 0.0, -9.81]", "imu.topic": "/imu/data_raw"}
            for triad, (density, d, walk, w) in NOISE.items():
                texts |= {f"imu.{triad}.{density}": json.dumps(d),
                          f"imu.{triad}.{walk}": json.dumps(w)}  # fmt: skip
            bag.add_metadata("sensors", texts)
        for topic, at, message in sorted(entries, key=lambda entry: entry[1]):
            bag.add_topic(topic, message.__msgtype__, latched=topic == "/tf_static")
            bag.write(topic, at, serialize(message))
    return path


def files_below(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def assert_same_files(a: Path, b: Path) -> None:
    names = files_below(a)
    assert names == files_below(b)
    _, different, broken = filecmp.cmpfiles(a, b, names, shallow=False)
    assert (different, broken) == ([], [])
