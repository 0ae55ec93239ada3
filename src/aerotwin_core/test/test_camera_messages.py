# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""CameraInfo and Image as OpenCV and ROS read them."""

import zlib

import cv2
import numpy as np
import pytest

from aerotwin_core.camera import BrownCamera, FisheyeCamera, PinholeCamera
from aerotwin_core.camera_messages import (
    array_from_image,
    camera_info_message,
    image_message,
    picture_from_compressed,
    picture_from_image,
)
from aerotwin_core.messages import TYPESTORE, deserialize, header, serialize

OPENCV_PX = 1e-5  # OpenCV's undistortion iterates to about that
BASELINE_M = 0.12

SIZE = {"width": 752, "height": 480}
FRAME = {"fx": 376.0, "fy": 377.0, "cx": 376.0, "cy": 240.0, "skew": 2.0}
CAMERAS = {
    "plain": PinholeCamera(**SIZE, **{**FRAME, "skew": 0.0}),
    "brown": BrownCamera(**SIZE, **FRAME, k1=-0.2, k2=0.08, p1=5e-5, p2=-1e-4, k3=0.001),
    "fisheye": FisheyeCamera(**SIZE, **FRAME, k1=-0.02, k2=0.004, k3=-0.001, k4=1e-4),
    "equidistant": FisheyeCamera(**SIZE, **FRAME),
}


def round_trip(message):
    return deserialize(serialize(message), message.__msgtype__)


def rectified(info, pixels):
    """What OpenCV makes of raw pixels by K, D, R and P; it ignores a skew, which goes before."""
    K, D = info.k.reshape(3, 3).copy(), info.d
    R, P = info.r.reshape(3, 3), info.p.reshape(3, 4)
    upright = pixels - np.outer((pixels[:, 1] - K[1, 2]) / K[1, 1] * K[0, 1], [1.0, 0.0])
    K[0, 1] = 0.0
    if info.distortion_model == "equidistant":
        return cv2.fisheye.undistortPoints(upright[:, None], K, D, R=R, P=P[:, :3])[:, 0]
    stop = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 200, 1e-14)
    flat = cv2.undistortImagePoints(upright[:, None], K, D, arg1=stop)[:, 0]
    rays = np.column_stack([(flat - K[:2, 2]) / [K[0, 0], K[1, 1]], np.ones(len(flat))])
    found = rays @ R.T @ P[:, :3].T
    return found[:, :2] / found[:, 2:]


@pytest.mark.parametrize("name", CAMERAS)
@pytest.mark.parametrize("baseline_m", [0.0, BASELINE_M])
def test_what_opencv_rectifies_falls_where_the_projection_matrix_says(name, baseline_m):
    camera = CAMERAS[name]
    info = round_trip(camera_info_message(0, "optical", camera, baseline_m))
    rng = np.random.default_rng(3)
    points_left = rng.uniform([-2.0, -1.5, 3.0], [2.0, 1.5, 9.0], (60, 3))
    points_right = points_left - [baseline_m, 0.0, 0.0]
    homogeneous = np.column_stack([points_left, np.ones(60)]) @ info.p.reshape(3, 4).T
    expected = homogeneous[:, :2] / homogeneous[:, 2:]
    found = rectified(info, camera.project(points_right))
    np.testing.assert_allclose(found, expected, atol=OPENCV_PX)


def test_the_coefficients_stand_in_the_order_of_the_message():
    info = round_trip(camera_info_message(5, "optical", CAMERAS["brown"], BASELINE_M))
    assert (info.distortion_model, info.width, info.height) == ("plumb_bob", 752, 480)
    assert info.d.tolist() == [-0.2, 0.08, 5e-5, -1e-4, 0.001]
    assert info.k.tolist() == [376.0, 2.0, 376.0, 0.0, 377.0, 240.0, 0.0, 0.0, 1.0]
    assert info.p.tolist()[:4] == [376.0, 0.0, 376.0, -376.0 * BASELINE_M]
    fisheye = round_trip(camera_info_message(5, "optical", CAMERAS["fisheye"]))
    assert fisheye.distortion_model == "equidistant"
    assert fisheye.d.tolist() == [-0.02, 0.004, -0.001, 1e-4]
    assert round_trip(camera_info_message(5, "x", CAMERAS["plain"])).d.tolist() == [0.0] * 5


@pytest.mark.ros
@pytest.mark.parametrize("name", CAMERAS)
def test_the_raw_camera_comes_back_from_its_info(name):
    from rclpy.serialization import deserialize_message
    from sensor_msgs.msg import CameraInfo

    from aerotwin_core.ros.conversions import camera_from_info, raw_camera_from_info

    cdr = serialize(camera_info_message(0, "optical", CAMERAS[name], BASELINE_M))
    message = deserialize_message(cdr, CameraInfo)
    assert raw_camera_from_info(message) == CAMERAS[name]
    straight, baseline_m = camera_from_info(message)
    assert baseline_m == pytest.approx(BASELINE_M) and straight.skew == 0.0
    message.distortion_model = "rational_polynomial"
    message.d = [0.1] * 8
    with pytest.raises(ValueError, match="got 'rational_polynomial' with 8"):
        raw_camera_from_info(message)


@pytest.mark.parametrize(
    ("image", "encoding", "step"),
    [
        (np.arange(6, dtype=np.uint8).reshape(2, 3), "mono8", 3),
        (np.arange(18, dtype=np.uint8).reshape(2, 3, 3), "rgb8", 9),
        (np.array([[1.5, np.inf, 2.0], [0.0, np.nan, -1.0]], dtype=np.float32), "32FC1", 12),
        (np.array([[-1, 0, 7], [2**30, 4, 5]], dtype=np.int32), "32SC1", 12),
    ],
)
def test_an_image_keeps_its_values(image, encoding, step):
    message = round_trip(image_message(7, "optical", image))
    assert (message.encoding, message.step) == (encoding, step)
    assert (message.height, message.width) == image.shape[:2]
    values = np.frombuffer(message.data, image.dtype).reshape(image.shape)
    np.testing.assert_array_equal(values, image)


def test_other_arrays_are_no_images():
    for image in (np.zeros((2, 2)), np.zeros((2, 2, 4), np.uint8), np.zeros(4, np.uint8)):
        with pytest.raises(ValueError, match="image must be uint8"):
            image_message(0, "optical", image)


def test_colours_with_blue_first_are_those_of_the_picture():
    picture = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    message = round_trip(image_message(7, "optical", picture, is_blue_first=True))
    assert (message.encoding, message.step) == ("bgr8", 9)
    assert bytes(message.data[:3]) == bytes([2, 1, 0])
    np.testing.assert_array_equal(picture_from_image(message), picture)
    assert image_message(7, "optical", picture[:, :, 0], is_blue_first=True).encoding == "mono8"


@pytest.mark.parametrize("encoding", ["rgb8", "bgr8"])
def test_pictures_come_back_as_red_green_blue_and_as_grey(encoding):
    picture = np.random.default_rng(2).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    message = image_message(0, "optical", picture if encoding == "rgb8" else picture[:, :, ::-1])
    message.encoding = encoding
    message = round_trip(message)
    np.testing.assert_array_equal(picture_from_image(message), picture)
    expected = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(int)
    assert np.abs(array_from_image(message).astype(int) - expected).max() <= 1  # fixed-point there


def test_a_picture_that_is_cut_off_or_of_another_encoding_is_refused():
    message = image_message(0, "optical", np.zeros((6, 8), np.uint8))
    message.data = message.data[:-1]
    with pytest.raises(ValueError, match="48 bytes, got 47"):
        picture_from_image(message)
    message.encoding = "nv12"
    with pytest.raises(ValueError, match="encoding must be one of mono8"):
        picture_from_image(message)


def image(values, encoding, order="<"):
    """Return an Image of (h, w, ...) numbers, with rows padded by three bytes."""
    values = np.asarray(values).astype(np.asarray(values).dtype.newbyteorder(order))
    rows = np.frombuffer(values.tobytes(), dtype=np.uint8).reshape(len(values), -1)
    rows = np.pad(rows, ((0, 0), (0, 3)))
    return TYPESTORE.types["sensor_msgs/msg/Image"](
        header=header(0, "camera"),
        height=values.shape[0],
        width=values.shape[1],
        encoding=encoding,
        is_bigendian=order == ">",
        step=rows.shape[1],
        data=rows.reshape(-1),
    )


RGB = (200, 120, 40)
FLAT = np.tile(np.array(RGB, dtype=np.uint8), (8, 10, 1))


@pytest.mark.parametrize(
    ("encoding", "channels"),
    [("rgb8", "rgb"), ("bgr8", "bgr"), ("8UC3", "bgr"), ("rgba8", "rgba"), ("bgra8", "bgra")],
)
def test_orders_of_colours(encoding, channels):
    values = np.dstack([np.full((8, 10), 255, np.uint8) if c == "a" else FLAT[:, :, "rgb".index(c)]
                        for c in channels])  # fmt: skip
    np.testing.assert_array_equal(picture_from_image(image(values, encoding)), FLAT)


@pytest.mark.parametrize("pattern", ["rggb", "bggr", "gbrg", "grbg"])
def test_a_bayer_mosaic_becomes_the_colour_it_was_made_of(pattern):
    values = np.zeros((8, 10), dtype=np.uint8)
    for k, c in enumerate(pattern):  # the first row and column first, as ROS names them
        values[k // 2 :: 2, k % 2 :: 2] = RGB["rgb".index(c)]
    np.testing.assert_array_equal(picture_from_image(image(values, f"bayer_{pattern}8")), FLAT)


@pytest.mark.parametrize(("encoding", "luma"), [("yuv422", 1), ("uyvy", 1), ("yuyv", 0)])
def test_the_brightness_of_yuv_comes_from_its_luma(encoding, luma):
    values = np.full((8, 10, 2), 128, dtype=np.uint8)  # without colour
    values[:, :, luma] = 235  # white, ITU-R BT.601
    assert np.ptp(picture_from_image(image(values, encoding))) == 0
    np.testing.assert_allclose(array_from_image(image(values, encoding)), 255, atol=1)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("encoding", ["mono16", "16UC1"])
def test_sixteen_bits_are_scaled_to_eight(encoding, order):
    values = np.array([[0, 257, 32896, 65535]], dtype=np.uint16)
    assert array_from_image(image(values, encoding, order)).tolist() == [[0, 1, 128, 255]]


def compressed(data, kind="jpeg"):
    return TYPESTORE.types["sensor_msgs/msg/CompressedImage"](
        header=header(7, "camera"), format=kind, data=np.frombuffer(data, dtype=np.uint8)
    )


@pytest.mark.parametrize(
    ("values", "encoding"),
    [
        (FLAT[:, :, ::-1], "bgr8"),
        (FLAT[:, :, 0], "mono8"),
        (FLAT[:, :, 0].astype(np.uint16) * 200, "mono16"),
    ],
)
def test_a_png_is_decoded_without_loss(values, encoding):
    data = cv2.imencode(".png", values)[1].tobytes()
    found, name = picture_from_compressed(compressed(data, "png"))
    np.testing.assert_array_equal(found, values)
    assert name == encoding


def test_a_jpeg_is_decoded():
    data = cv2.imencode(".jpg", FLAT[:, :, ::-1])[1].tobytes()
    found, name = picture_from_compressed(compressed(data))
    np.testing.assert_allclose(found[:, :, ::-1].astype(int), FLAT, atol=4)
    assert name == "bgr8"


def test_pictures_that_cannot_be_decoded_are_refused():
    with pytest.raises(ValueError, match=r"format 'h264'.*not a picture"):
        picture_from_compressed(compressed(b"\0\0\1", "h264"))
    whole = cv2.imencode(".png", FLAT)[1].tobytes()
    header_chunk = whole[12:16] + (30_000).to_bytes(4, "big") * 2 + whole[24:29]
    huge = whole[:12] + header_chunk + zlib.crc32(header_chunk).to_bytes(4, "big") + whole[33:]
    with pytest.raises(ValueError, match="pixels"):
        picture_from_compressed(compressed(huge, "png"))
