# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""True poses of the left camera, from calibration and mounting of a bag and the truth."""

from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import transform_from_pose
from aerotwin_core.trajectory import Trajectory
from aerotwin_run_evaluation.bag.vehicles import namespace

LEFT_INFO = "/stereo/left/camera_info"
BODY = "base_link"
_LONGEST_CHAIN = 10


def true_camera(
    bag: BagReader, truth: Trajectory, vehicle: str = ""
) -> tuple[np.ndarray, PinholeCamera] | None:
    """Return T_map_optical (n, 4, 4) of a vehicle's left camera along the truth, and the camera.

    None when the bag contains no calibration or no mounting.
    """
    topic, body = f"{namespace(vehicle)}{LEFT_INFO}", body_of(vehicle)
    info = next((m for _, _, m in bag.messages([topic])), None)
    if info is None or info.p[0] <= 0.0:
        return None
    T_body_optical = mounting(bag, info.header.frame_id, body)
    if T_body_optical is None:
        return None
    camera = PinholeCamera(
        width=int(info.width),
        height=int(info.height),
        fx=float(info.p[0]),
        fy=float(info.p[5]),
        cx=float(info.p[2]),
        cy=float(info.p[6]),
    )
    return truth.transforms() @ T_body_optical, camera


def body_of(vehicle: str) -> str:
    """Return the body frame of a vehicle of a fleet, or of the only one."""
    return f"{vehicle}/{BODY}" if vehicle else BODY


def body_frame(bag: BagReader, topic: str | None, vehicle: str = "") -> str:
    """Return the frame whose poses a SLAM on this sensor can estimate.

    That of the body if /tf_static contains the mounting of the sensor; else the sensor's own.
    """
    message = next((m for _, _, m in bag.messages([topic])), None) if topic is not None else None
    frame = "" if message is None else str(message.header.frame_id)
    body = body_of(vehicle)
    return body if not frame or mounting(bag, frame, body) is not None else frame


def mounting(bag: BagReader, frame: str, body: str = BODY) -> np.ndarray | None:
    """Return T_body_frame (4, 4) through /tf_static, None when the chain is broken."""
    parents: dict[str, Any] = {}
    for _, _, message in bag.messages(["/tf_static"]):
        for edge in message.transforms:
            parents[edge.child_frame_id] = edge
    T = np.eye(4)
    for _ in range(_LONGEST_CHAIN):
        if frame == body:
            return T
        if frame not in parents:
            return None
        p, q = parents[frame].transform.translation, parents[frame].transform.rotation
        T = transform_from_pose([p.x, p.y, p.z], [q.x, q.y, q.z, q.w]) @ T
        frame = parents[frame].header.frame_id
    return None
