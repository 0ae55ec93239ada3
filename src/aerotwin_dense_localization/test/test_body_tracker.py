# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A camera on a body that hovers: its IMU says that nothing moves."""

import numpy as np

from aerotwin_dense_localization.localization import (
    BodyTracker,
    ImageLocalization,
    InertialFilter,
    Status,
)
from support.painted_wall import pose

T_MAP_BASE = pose([0.0, 0.0, 0.7], [4.0, 5.0, 6.0])
T_BASE_CAM = pose([0.4, 1.2, -0.3], [0.2, 0.1, -0.1])
COVARIANCE = np.diag(np.repeat([0.005, 0.002], 3) ** 2)
FRAME_NS = 100_000_000
ROUNDING = 1e-9
NEAR = 1e-3
"""Between poses that are all the same only rounding moves it."""


class Told:
    """A localiser that places each image where the image says."""

    def localize(self, T_map_cam, T_map_expected):
        self.expected = T_map_expected
        return ImageLocalization(
            status=Status.TRACKED, T_map_cam=T_map_cam, covariance=COVARIANCE,
            correlation=1.0, overlap=1.0, reason="",
        )  # fmt: skip


def hover(inertial, k):
    """Add what an IMU reads up to the time of image k."""
    for stamp_ns in range(max(k - 1, 0) * FRAME_NS, k * FRAME_NS + 1, FRAME_NS // 10):
        inertial.add(stamp_ns, [0.0, 0.0, 0.0], [0.0, 0.0, 9.80665])


def test_an_image_is_expected_where_the_imu_led_and_lost_where_it_cannot_be():
    inertial, camera = InertialFilter(), Told()
    tracker = BodyTracker(camera, T_BASE_CAM, inertial)
    elsewhere = pose([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    for k in range(5):
        hover(inertial, k)
        found, body = tracker.localize(k * FRAME_NS, T_MAP_BASE @ T_BASE_CAM, elsewhere)
        assert found.status is Status.TRACKED
        expected = elsewhere if k == 0 else T_MAP_BASE  # before the first image others know more
        np.testing.assert_allclose(camera.expected, expected @ T_BASE_CAM, atol=NEAR)
        np.testing.assert_allclose(body.T_map_base, T_MAP_BASE, atol=NEAR)
    assert tracker.n_refused == 0
    assert body.twist_covariance.any()
    hover(inertial, 5)
    leap = pose([0.0, 0.0, 0.0], [0.0, 0.5, 0.0]) @ T_MAP_BASE @ T_BASE_CAM
    found, body = tracker.localize(5 * FRAME_NS, leap)
    assert (found.status, found.T_map_cam, body) == (Status.LOST, None, None)
    assert found.reason.startswith("0.50 m and 0.0 degrees from where the IMU led")
    assert tracker.n_refused == 1


def test_without_an_imu_the_body_is_where_its_camera_was_placed():
    camera = Told()
    tracker = BodyTracker(camera, T_BASE_CAM)
    found, body = tracker.localize(0, T_MAP_BASE @ T_BASE_CAM)
    assert camera.expected is None and found.status is Status.TRACKED
    np.testing.assert_allclose(body.T_map_base, T_MAP_BASE, atol=ROUNDING)
    assert not body.twist_covariance.any()
