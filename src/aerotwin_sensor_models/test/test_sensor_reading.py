# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of every encoding and clouds come back as the arrays they were made of."""

import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.camera_messages import camera_info_message, image_message
from aerotwin_core.messages import deserialize, serialize
from aerotwin_sensor_models import camera_reading

CAMERA = PinholeCamera(width=4, height=3, fx=5.0, fy=6.0, cx=1.5, cy=1.0)
RNG = np.random.default_rng(8)


@pytest.mark.parametrize(
    ("image", "is_blue_first", "encoding"),
    [
        (RNG.integers(0, 255, (3, 4), np.uint8), False, "mono8"),
        (RNG.integers(0, 255, (3, 4, 3), np.uint8), False, "rgb8"),
        (RNG.integers(0, 255, (3, 4, 3), np.uint8), True, "bgr8"),
        (RNG.random((3, 4), np.float32), False, "32FC1"),
        (RNG.integers(-1, 1_000_000, (3, 4), np.int32), False, "32SC1"),
    ],
)
def test_an_image_is_read_as_it_was_written(image, is_blue_first, encoding):
    message = image_message(7, "eye", image, is_blue_first=is_blue_first)
    received = deserialize(serialize(message), "sensor_msgs/msg/Image")
    reading = camera_reading("t", received, camera_info_message(7, "eye", CAMERA), "eye", np.eye(4))
    assert (reading.encoding, reading.stamp_ns, reading.image.dtype) == (encoding, 7, image.dtype)
    assert np.array_equal(reading.image[:, :, ::-1] if is_blue_first else reading.image, image)
    assert reading.camera_matrix.tolist() == [[5.0, 0.0, 1.5], [0.0, 6.0, 1.0], [0.0, 0.0, 1.0]]
    with pytest.raises(ValueError, match="read-only"):
        reading.image[0, 0] = 0
