# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of every encoding become PNGs and come back bit by bit."""

import cv2
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.messages import TYPESTORE, deserialize, header
from aerotwin_datasets.images import PictureWriter, image_cdr, pixels_of, read_picture

KINDS = {
    "mono8": (np.uint8, 1), "8UC1": (np.uint8, 1), "bayer_grbg8": (np.uint8, 1),
    "mono16": (np.uint16, 1), "16UC1": (np.uint16, 1), "rgb8": (np.uint8, 3),
    "bgr8": (np.uint8, 3), "8UC3": (np.uint8, 3), "rgba8": (np.uint8, 4), "bgra8": (np.uint8, 4),
    "rgb16": (np.uint16, 3), "bgr16": (np.uint16, 3),
}  # fmt: skip
HEIGHT, WIDTH = 7, 5


def image(encoding, *, padding=0, is_bigendian=False):
    kind, n = KINDS[encoding]
    rng = np.random.default_rng(1)
    values = rng.integers(0, np.iinfo(kind).max, (HEIGHT, WIDTH * n), dtype=kind)
    rows = values.astype(values.dtype.newbyteorder(">" if is_bigendian else "<")).view(np.uint8)
    padded = np.pad(rows, ((0, 0), (0, padding)), constant_values=99)
    return values, TYPESTORE.types["sensor_msgs/msg/Image"](
        header=header(5, "eye"), height=HEIGHT, width=WIDTH, encoding=encoding,
        is_bigendian=int(is_bigendian), step=padded.shape[1], data=padded.ravel(),
    )  # fmt: skip


@pytest.mark.parametrize("encoding", KINDS)
def test_an_image_comes_back_through_a_png(encoding, tmp_path):
    _, message = image(encoding)
    with PictureWriter() as pictures:
        pictures.write(tmp_path / "a.png", pixels_of(message))
    cdr = image_cdr(5, "eye", read_picture(tmp_path / "a.png", (WIDTH, HEIGHT)), encoding)
    again = deserialize(cdr, "sensor_msgs/msg/Image")
    assert (again.encoding, again.step, again.header) == (encoding, message.step, message.header)
    np.testing.assert_array_equal(again.data, message.data)


def test_colours_in_the_png_are_those_of_the_image(tmp_path):
    """OpenCV reads blue, green, red."""
    for encoding, pixel in (("rgb8", [250, 10, 20]), ("bgr8", [20, 10, 250])):
        _, message = image(encoding)
        message.data = np.tile(np.array(pixel, np.uint8), WIDTH * HEIGHT)
        with PictureWriter() as pictures:
            pictures.write(tmp_path / "a.png", pixels_of(message))
        np.testing.assert_array_equal(cv2.imread(str(tmp_path / "a.png"))[0, 0], [20, 10, 250])


@pytest.mark.parametrize("encoding", ["mono8", "mono16", "rgb16"])
def test_padding_and_byte_order_do_not_count(encoding):
    values, padded = image(encoding, padding=6)
    _, swapped = image(encoding, is_bigendian=True)
    for message in (padded, swapped):
        np.testing.assert_array_equal(pixels_of(message).reshape(HEIGHT, -1), values)


def test_what_is_no_image_is_refused(tmp_path):
    _, message = image("mono8")
    message.data = message.data[:-1]
    with pytest.raises(ValueError, match="needs rows of 5 bytes, got 34 bytes"):
        pixels_of(message)
    message.encoding = "yuv422"
    with pytest.raises(ValueError, match="must be of mono8"):
        pixels_of(message)
    (tmp_path / "a.png").write_text("no image")
    with pytest.raises(UserError, match=r"a\.png: not a picture"):
        read_picture(tmp_path / "a.png")
    cv2.imwrite(str(tmp_path / "b.png"), np.zeros((3, 4), np.uint8))
    with pytest.raises(UserError, match=r"b\.png: expected 5 x 7 pixels .* found 4 x 3"):
        read_picture(tmp_path / "b.png", (5, 7))


def test_a_failed_write_is_raised(tmp_path):
    with pytest.raises(OSError, match="nosuch"), PictureWriter() as pictures:
        pictures.write(tmp_path / "nosuch" / "a.png", np.zeros((3, 4), np.uint8))
