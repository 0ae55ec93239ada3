# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the node makes of two camera_info."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.ros

BASELINE_M = 0.12
K = [200.0, 0.0, 160.0, 0.0, 200.0, 120.0, 0.0, 0.0, 1.0]


def info(baseline_m=0.0, **changes):
    from sensor_msgs.msg import CameraInfo

    p = [200.0, 0.0, 160.0, -200.0 * baseline_m, 0.0, 200.0, 120.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    values = {"width": 320, "height": 240, "distortion_model": "plumb_bob", "d": [0.0] * 5}
    return CameraInfo(**{**values, "k": K, "r": np.eye(3).ravel(), "p": p, **changes})


def pair_of(left, right, **options):
    from aerotwin_stereo_odometry.pair_calibration import PairCalibration

    pair = PairCalibration(**{"images_are_rectified": False, **options})
    return pair, [pair.add("left", left), pair.add("right", right)]


def test_an_ideal_pair_passes_as_the_same_objects():
    pair, refusals = pair_of(info(), info(BASELINE_M))
    images = np.zeros((240, 320), np.uint8), np.ones((240, 320), np.uint8)
    assert refusals == [None, None] and not pair.is_rectifying
    assert all(a is b for a, b in zip(pair.rectified(*images), images))
    assert pair.rig.baseline_m == pytest.approx(BASELINE_M)


@pytest.mark.parametrize(
    "change", [{"d": [-0.2, 0.08, 0.0, 0.0, 0.0]}, {"k": [210.0, *K[1:]]}], ids=["d", "k"]
)
def test_distortion_and_another_k_are_taken_out_unless_they_were_before(change):
    images = [np.random.default_rng(0).integers(0, 255, (240, 320)).astype(np.uint8)] * 2
    for is_rectified in (False, True):
        pair, _ = pair_of(
            info(**change), info(BASELINE_M, **change), images_are_rectified=is_rectified
        )
        assert pair.is_rectifying is not is_rectified
        assert (pair.rectified(*images)[0] is images[0]) is is_rectified


def test_the_ideal_camera_is_turned_by_r():
    R = Rotation.from_euler("y", 0.1).as_matrix()
    pair, _ = pair_of(info(r=R.ravel()), info(BASELINE_M))
    # R turns raw directions into rectified ones: the ideal axis z is row 3 of R in the raw frame
    expected = [-np.sin(0.1), 0.0, np.cos(0.1)]
    np.testing.assert_allclose(pair.T_optical_rectified[:3, 2], expected)
    np.testing.assert_array_equal(pair.T_optical_rectified[:3, 3], 0.0)


def test_the_baseline_is_the_difference_of_both_sides():
    pair, _ = pair_of(info(-0.06), info(0.47))
    assert pair.rig.baseline_m == pytest.approx(0.53)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ({}, {"distortion_model": "rational_polynomial", "d": [0.1] * 8}, "rational_polynomial"),
        ({}, {"k": [0.0] * 9}, "no camera matrix"),
        ({}, {"p": [0.0] * 12}, "no projection matrix"),
        ({}, {"r": [0.0] * 9}, "R must be a rotation"),
        ({}, {"width": 300}, "P must be one camera on both sides"),
        ({"baseline_m": BASELINE_M}, {"baseline_m": 0.0}, "left and right exchanged"),
    ],
)
def test_what_is_no_pair_is_refused_once_and_may_be_mended(left, right, message):
    wrong = info(**{"baseline_m": BASELINE_M, **right})
    pair, (first, second) = pair_of(info(**left), wrong)
    assert first is None and message in second
    assert pair.add("right", wrong) is None  # not news
    assert message in pair.refusals["right"] and pair.rig is None
    assert pair.add("right", info(2 * BASELINE_M)) is None
    assert not pair.refusals and pair.rig is not None
