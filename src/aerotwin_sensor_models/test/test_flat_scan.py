# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Planar scans of a lidar's points."""

import numpy as np
import pytest

from aerotwin_core.messages import laser_scan_message
from aerotwin_sensor_models import FlatScanParameters, flat_ranges


def test_a_flat_scan_has_the_nearest_obstacle_of_each_beam():
    parameters = FlatScanParameters(n_beams=8)
    seen = [[5, 0, 1], [3, 0.1, 0.5], [0, 4, 1], [-6, -0.1, 1]]
    too_low_high_near = [[2, 0, 0.1], [2, 0, 1.8], [0.2, 0, 1]]
    points = np.array(seen + too_low_high_near, dtype=np.float32)
    ranges_m = flat_ranges(points, parameters)
    # from straight behind, counter-clockwise: behind, right, ahead, left
    np.testing.assert_allclose(ranges_m[[0, 4, 6]], [6.0, np.hypot(3, 0.1), 4.0], atol=1e-3)
    assert np.isinf(np.delete(ranges_m, [0, 4, 6])).all()


def test_the_message_of_a_flat_scan_points_its_beams_where_they_were_measured():
    angles = np.array([-np.pi, -0.5 * np.pi, 0.0, 0.25 * np.pi])
    wall = np.column_stack([7 * np.cos(angles), 7 * np.sin(angles), np.full(4, 0.8)])
    message = laser_scan_message(
        0, "base_link", flat_ranges(wall, FlatScanParameters()), limits_m=(0.4, 100.0),
        scan_time_s=0.1,
    )  # fmt: skip
    beams = np.flatnonzero(np.isfinite(message.ranges))
    found = message.angle_min + message.angle_increment * beams
    np.testing.assert_allclose(found, angles, atol=1e-6)
    assert message.angle_max == pytest.approx(np.pi - message.angle_increment)
    assert message.time_increment == 0.0
