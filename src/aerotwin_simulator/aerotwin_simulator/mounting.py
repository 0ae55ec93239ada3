# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Mountings of sensors on the body, and their tf transforms."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import R_CAM_OPTICAL, make_transform, quaternion_from_rotation
from aerotwin_core.messages import transform_stamped
from aerotwin_sensor_models import load_preset
from aerotwin_simulator import topics
from aerotwin_simulator.body_camera import Eye


def T_body_sensor(
    p_body: Sequence[float], *, roll_deg: float = 0.0, pitch_deg: float = 0.0, yaw_deg: float = 0.0
) -> np.ndarray:
    """Return the mounting of a sensor at p_body (3,) [m], rotated by R_z R_y R_x.

    A positive pitch is downwards, a positive yaw to the left.
    """
    R_body_sensor = Rotation.from_euler("ZYX", [yaw_deg, pitch_deg, roll_deg], degrees=True)
    return make_transform(R_body_sensor.as_matrix(), np.asarray(p_body, float))


def T_body_optical(p_body: Sequence[float], **turns_deg: float) -> np.ndarray:
    """Return the optical frame of a camera mounted as in `T_body_sensor`; unrotated, forward."""
    T = T_body_sensor(p_body, **turns_deg)
    return make_transform(T[:3, :3] @ R_CAM_OPTICAL, T[:3, 3])


def imu_transform(preset: str, vehicle: str = "") -> object:
    """Return the mounting of an IMU preset, its lever arm and rotation, as TransformStamped."""
    imu = load_preset("imu", preset)
    return _fixed(vehicle, "base_link", "imu_link", np.array(imu.lever_arm_m), imu.R_body_imu)


def eye_transforms(eyes: Sequence[Eye], vehicle: str = "") -> list[object]:
    """Return the mounting of cameras: `base_link` to `<name>` to `<name>_optical`."""
    edges = []
    for eye in eyes:
        R_body_cam = eye.T_body_optical[:3, :3] @ R_CAM_OPTICAL.T
        p_body = eye.T_body_optical[:3, 3]
        edges.append(_fixed(vehicle, "base_link", eye.name, p_body, R_body_cam))
        optical = f"{eye.name}_optical"
        edges.append(_fixed(vehicle, eye.name, optical, np.zeros(3), R_CAM_OPTICAL))
    return edges


def extra_transforms(
    mountings: Sequence[tuple[str, np.ndarray]], vehicle: str = ""
) -> list[object]:
    """Return the mounting of sensors whose complete frames and T_body_sensor (4, 4) are given."""
    base = topics.frame(vehicle, "base_link")
    return [
        transform_stamped(0, base, frame, T[:3, 3], quaternion_from_rotation(T[:3, :3]))
        for frame, T in mountings
    ]


def _fixed(vehicle: str, parent: str, child: str, p: np.ndarray, R: np.ndarray) -> object:
    names = topics.frame(vehicle, parent), topics.frame(vehicle, child)
    return transform_stamped(0, *names, p, quaternion_from_rotation(R))
