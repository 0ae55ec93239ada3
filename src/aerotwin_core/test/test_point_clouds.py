# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clouds with the fields of the drivers of Velodyne, Ouster, Hesai, Robosense and Livox."""

import numpy as np
import pytest

from aerotwin_core.messages import TYPESTORE, header
from aerotwin_core.point_clouds import finite_points, scan_points

STAMP_NS = 1_700_000_000_250_000_000
OFFSETS_S = np.array([0.0, 0.02, 0.05, 0.0998])
POINTS = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]], dtype=np.float32)
DATATYPES = {"u2": 4, "u4": 6, "f4": 7, "f8": 8}


def cloud(*fields, stamp_ns=STAMP_NS, points=POINTS, order="<"):
    """Return a PointCloud2 of points and (name, kind, values), padded as Ouster's driver does."""
    names = [("x", order + "f4"), ("y", order + "f4"), ("z", order + "f4"), ("pad", "V4")]
    rows = np.zeros(len(points), dtype=names + [(n, order + kind) for n, kind, _ in fields])
    for axis, column in zip("xyz", points.T):
        rows[axis] = column
    for name, _, values in fields:
        rows[name] = values
    make, step = TYPESTORE.types["sensor_msgs/msg/PointField"], rows.dtype.itemsize
    layout = [(n, "f4") for n in "xyz"] + [(n, kind) for n, kind, _ in fields]
    return TYPESTORE.types["sensor_msgs/msg/PointCloud2"](
        header=header(stamp_ns, "lidar"),
        height=1,
        width=len(rows),
        fields=[
            make(name=n, offset=rows.dtype.fields[n][1], datatype=DATATYPES[kind], count=1)
            for n, kind in layout
        ],
        is_bigendian=order == ">",
        point_step=step,
        row_step=step * len(rows),
        data=np.frombuffer(rows.tobytes(), dtype=np.uint8),
        is_dense=True,
    )


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("name", "kind", "values", "expected"),
    [
        ("time", "f4", OFFSETS_S, OFFSETS_S),  # Velodyne
        ("time", "f4", OFFSETS_S - 0.0998, OFFSETS_S - 0.0998),  # stamped at the end
        ("time", "f4", OFFSETS_S * 1e6, OFFSETS_S),  # Velodyne, older: microseconds
        ("t", "u4", OFFSETS_S * 1e9, OFFSETS_S),  # Ouster
        ("timestamp", "f8", STAMP_NS * 1e-9 + OFFSETS_S, OFFSETS_S),  # Hesai, Robosense
        ("timestamp", "f8", STAMP_NS + OFFSETS_S * 1e9, OFFSETS_S),  # Livox as PointCloud2
        ("offset_time", "u4", OFFSETS_S * 1e9, OFFSETS_S),  # Livox
    ],
)
def test_point_times_of_each_driver_count_from_the_stamp(name, kind, values, expected, order):
    found = scan_points(cloud(("ring", "u2", [0, 1, 2, 3]), (name, kind, values), order=order))
    np.testing.assert_allclose(found.times_s, expected, atol=1e-6)
    np.testing.assert_array_equal(found.points, POINTS)
    assert f"'{name}'" in found.timing


def test_absolute_times_of_a_simulated_clock_count_from_the_stamp():
    message = cloud(("timestamp", "f8", 12.5 + OFFSETS_S), stamp_ns=12_500_000_000)
    np.testing.assert_allclose(scan_points(message).times_s, OFFSETS_S, atol=1e-9)


def test_relative_times_at_the_start_of_a_simulated_clock_stay_relative():
    message = cloud(("time", "f4", OFFSETS_S), stamp_ns=50_000_000)
    np.testing.assert_allclose(scan_points(message).times_s, OFFSETS_S, atol=1e-7)


def test_a_lidar_with_another_clock_is_counted_from_its_first_point_and_said():
    found = scan_points(cloud(("timestamp", "f8", 1_000_000_000.0 + OFFSETS_S)))
    np.testing.assert_allclose(found.times_s, OFFSETS_S, atol=1e-6)
    assert "its clock is -7e+08 s from that of the stamp" in found.timing


def test_missing_and_equal_times_are_said():
    without = scan_points(cloud(("ring", "u2", [0, 1, 2, 3])))
    assert not without.times_s.any()
    assert "no point times" in without.timing
    assert "x, y, z, ring" in without.timing
    equal = scan_points(cloud(("t", "u4", [0, 0, 0, 0])))
    assert "all are equal" in equal.timing


def test_points_without_echo_are_left_out_of_a_scan():
    points = POINTS.copy()
    points[1], points[2] = np.nan, 0.0  # Velodyne says it so, Ouster so
    message = cloud(("t", "u4", OFFSETS_S * 1e9), points=points)
    found = scan_points(message)
    np.testing.assert_allclose(found.times_s, OFFSETS_S[[0, 3]], atol=1e-6)
    assert found.n_invalid == 2
    assert finite_points(message)[1] == 1  # a map may have a point at its origin


def test_a_scan_without_a_usable_point_has_no_times():
    found = scan_points(cloud(("timestamp", "f8", OFFSETS_S), points=np.zeros_like(POINTS)))
    assert len(found.points) == len(found.times_s) == 0


def test_a_time_field_beyond_the_point_is_refused():
    message = cloud(("t", "u4", OFFSETS_S * 1e9))
    message.fields[-1].offset = message.point_step - 2
    with pytest.raises(ValueError, match="field 't' reaches beyond"):
        scan_points(message)
