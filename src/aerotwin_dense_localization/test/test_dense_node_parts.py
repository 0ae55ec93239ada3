# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes are made of: odometry at the stamps of images, results as messages."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.painted_wall import CAMERA, Wall, pose

pytestmark = pytest.mark.ros
pytest.importorskip("rclpy")

from geometry_msgs.msg import Quaternion  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402

from aerotwin_core.rigid_motion import exponential  # noqa: E402
from aerotwin_core.ros.conversions import pose_message  # noqa: E402
from aerotwin_dense_localization.localization import (  # noqa: E402
    ImageLocalization,
    Status,
    body_covariance,
)
from aerotwin_dense_localization.ros.outputs import (  # noqa: E402
    preview_points,
    status_message,
)
from aerotwin_dense_localization.ros.pose_buffer import (  # noqa: E402
    N_RETAINED,
    PoseBuffer,
    pose_of,
)

ROUNDING = 1e-9
STEP_ERROR = 1e-6
"""Of a numerical derivative with steps of 1e-6."""
S = 1_000_000_000


def moved(seconds):
    """Return a pose that goes steadily: 2 m/s along x, 0.4 rad/s about z."""
    return pose([0.0, 0.0, 0.4 * seconds], [2.0 * seconds, 1.0, 0.0])


def test_poses_are_interpolated_between_two_and_nowhere_else():
    buffer = PoseBuffer(max_gap_s=0.5)
    assert buffer.near(0) is None and not buffer.has_passed(0)
    for seconds in (1.0, 1.2, 1.4, 3.0, 3.2):
        buffer.add(round(seconds * S), moved(seconds))
    for seconds in (1.0, 1.05, 1.3, 1.4, 3.1, 3.2):
        np.testing.assert_allclose(buffer.at(round(seconds * S)), moved(seconds), atol=ROUNDING)
    assert buffer.at(S - 1) is None  # before the first
    assert buffer.at(2 * S) is None  # between poses too far apart
    assert buffer.at(round(3.3 * S)) is None  # not yet
    np.testing.assert_allclose(buffer.near(round(3.3 * S)), moved(3.2), atol=ROUNDING)
    assert buffer.near(round(3.8 * S)) is None  # too long ago
    assert buffer.has_passed(round(3.2 * S)) and not buffer.has_passed(round(3.2 * S) + 1)


def test_time_that_goes_back_forgets_the_poses_and_few_are_retained():
    buffer = PoseBuffer(max_gap_s=0.5)
    for k in range(2 * N_RETAINED):
        buffer.add(k, np.eye(4))
    assert buffer.at(N_RETAINED - 1) is None and buffer.at(N_RETAINED) is not None
    buffer.add(5, np.eye(4))
    assert buffer.newest_ns == 5 and buffer.at(N_RETAINED) is None


def test_the_covariance_of_the_body_is_that_of_small_motions_of_the_camera():
    rng = np.random.default_rng(3)
    A = rng.normal(0.0, 0.01, (6, 6))
    covariance = A @ A.T
    T_map_cam, T_cam_base = pose([0.3, -0.2, 1.0], [4.0, 5.0, 6.0]), pose([0, 0.5, 0], [1, -2, 3.0])

    def body(d):
        """Return place and turn of the body when the camera is shifted and turned by d in map."""
        moved = T_map_cam.copy()
        moved[:3, 3] += d[:3]
        moved[:3, :3] = exponential([0, 0, 0, *d[3:]])[:3, :3] @ T_map_cam[:3, :3]
        return moved @ T_cam_base

    still, J = body(np.zeros(6)), np.empty((6, 6))
    for k in range(6):
        there = body(1e-6 * np.eye(6)[k])
        turn = Rotation.from_matrix(there[:3, :3] @ still[:3, :3].T).as_rotvec()
        J[:, k] = np.concatenate([there[:3, 3] - still[:3, 3], turn]) / 1e-6
    found = body_covariance(covariance, T_map_cam, still)
    np.testing.assert_allclose(found, J @ covariance @ J.T, atol=STEP_ERROR)


def odometry(frame, T):
    reported = Odometry(child_frame_id="base_link_autopilot")
    reported.header.frame_id, reported.pose.pose = frame, pose_message(T)
    return reported


@pytest.mark.parametrize(
    ("frame", "x", "w", "message"),
    [
        ("map", 1.0, 1.0, "its frame must be 'odom', got 'map'"),
        ("odom", np.nan, 1.0, "its pose is not finite"),
        ("", 1.0, 0.0, "zero norm"),
    ],
)
def test_odometry_that_is_unsound_or_in_another_frame_is_refused(frame, x, w, message):
    reported = odometry(frame, moved(0.5))
    reported.pose.pose.position.x = x
    reported.pose.pose.orientation = Quaternion(x=0.0, y=0.0, z=0.0, w=w)
    with pytest.raises(ValueError, match=message):
        pose_of(reported, "odom")


def test_odometry_in_the_frame_that_is_meant_tells_its_pose():
    for frame in ("odom", ""):
        found = pose_of(odometry(frame, moved(0.5)), "odom")
        np.testing.assert_allclose(found, moved(0.5), atol=ROUNDING)


@pytest.mark.parametrize(
    ("status", "level"),
    [("tracked", b"\x00"), ("renewed", b"\x00"), ("relocalized", b"\x01"), ("lost", b"\x02")],
)
def test_a_status_names_how_an_image_was_found_and_why_not(status, level):
    reason = "too few pixels" if status == "lost" else ""
    found = ImageLocalization(
        status=Status(status), T_map_cam=None, covariance=None, correlation=0.5, overlap=0.25,
        reason=reason,
    )  # fmt: skip
    message = status_message(1_500_000_000, found, "uav1/localizer")
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1, 500_000_000)
    (reported,) = message.status
    assert (reported.name, reported.level) == ("uav1/localizer", level)
    assert reported.message == ("lost: too few pixels" if reason else status)
    values = {value.key: value.value for value in reported.values}
    assert values == {
        "status": status, "reason": reason, "correlation": "0.500", "overlap": "0.250",
    }  # fmt: skip


def test_the_preview_of_a_keyframe_lies_on_the_wall_in_its_grey_values():
    wall = Wall()
    keyframe = wall.keyframe(pose([0.1, -0.1, 0.05], [0.3, 0.2, -0.5]))
    keyframe.depth[:100] = np.nan
    points, grey = preview_points(keyframe)
    assert len(points) == 18 * CAMERA.width // 8  # rows 100, 108 ... 236 have depth
    np.testing.assert_allclose(wall.off(points), 0.0, atol=1e-5)
    np.testing.assert_allclose(grey, wall.paint(points[:, 0], points[:, 1]), atol=1.0)
