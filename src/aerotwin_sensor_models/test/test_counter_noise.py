# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Each kind of sensor has random numbers of its own, also at equal seeds, indices and stamps."""

import itertools
import math

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.trajectory import Trajectory
from aerotwin_sensor_models import (
    CameraNoiseParameters,
    DepthNoiseParameters,
    DepthSensor,
    ImageSensor,
    Lidar,
    LidarParameters,
)

N = 64 * 256
SEED, INDEX, STAMP_NS = 3, 1, 0


def picture_noise():
    camera = PinholeCamera(width=256, height=256, fx=200.0, fy=200.0, cx=127.5, cy=127.5)
    sensor = ImageSensor(camera, CameraNoiseParameters(read_noise_dn=20.0), seed=SEED)
    grey = np.full((256, 256), 128, np.uint8)
    return sensor.expose(grey, STAMP_NS, camera_index=INDEX).ravel().astype(float)


def depth_noise():
    noise = DepthNoiseParameters(disparity_noise_px=0.1, baseline_m=0.1)
    sensor = DepthSensor(noise, focal_px=100.0, near_m=0.1, far_m=99.0, seed=SEED)
    flat = np.full((256, 256), 5.0, np.float32)
    return sensor.measure(flat, STAMP_NS, camera_index=INDEX).ravel().astype(float)


def lidar_noise():
    parameters = LidarParameters(
        n_rings=64, n_columns=256, range_noise_m=0.1, is_organised=True, rate_hz=10.0
    )
    motion = Trajectory(np.array([0, 200_000_000]), np.zeros((2, 3)), np.eye(4)[[3, 3]])

    def cast(rays):
        return np.full(len(rays), 10.0, np.float32), -rays[:, 3:].copy(), None

    scan = Lidar(parameters, seed=SEED, vehicle=INDEX).scan(cast, motion, STAMP_NS)
    ranges = np.linalg.norm(scan.points.astype(float), axis=1)
    return ranges.reshape(64, 256).T.ravel()  # in the order of the rays: column by column


def test_noise_of_pictures_depth_and_lidar_is_uncorrelated():
    """Four pixels share the bits of one counter, of which the first's are the ray's range."""
    kinds = (picture_noise()[::4], depth_noise()[::4], lidar_noise())
    for one, other in itertools.combinations(kinds, 2):
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / math.sqrt(N)
