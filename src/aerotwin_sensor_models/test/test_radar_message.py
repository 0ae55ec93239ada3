# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A turn of a radar as messages: its bytes as the data sets have them, and back."""

import struct

import numpy as np
import pytest

from aerotwin_core.messages import header
from aerotwin_core.point_clouds import point_cloud_arrays, scan_points
from aerotwin_sensor_models import (
    DetectorParameters,
    PolarScan,
    RadarParameters,
    RadarScan,
    detect,
    load_preset,
    peak_points,
    polar_message,
    polar_scan,
    targets_message,
)

STAMP_NS = 1_700_000_000_250_000_000
ENCODER_STEP = 2.0 * np.pi / 5600
FLOAT32_S = 1e-7


def scan_of(parameters, seed=0):
    """Return a turn with noise and one bright cell in the direction of row 100."""
    levels = np.random.default_rng(seed).integers(
        0, 20, (parameters.n_azimuths, parameters.n_bins), dtype=np.uint8
    )
    levels[100, 300:303] = (120, 140, 120)
    return RadarScan(stamp_ns=STAMP_NS, levels=levels, parameters=parameters)


NAVTECH = load_preset("radar", "navtech_cir304")


def test_a_row_is_what_the_data_sets_say_byte_by_byte():
    scan = scan_of(NAVTECH)
    message = polar_message(scan, "radar")
    assert (message.encoding, message.height, message.width) == ("mono8", 400, 11 + 1600)
    assert (message.header.frame_id, message.header.stamp.nanosec) == ("radar", 250_000_000)
    rows = bytes(message.data)
    for k, clockwise_deg in ((0, 180.0), (100, 270.0), (200, 0.0), (300, 90.0)):
        row = rows[k * message.step : (k + 1) * message.step]
        time_us, encoder, valid = struct.unpack("<qHB", row[:11])
        assert time_us == STAMP_NS // 1000 + 625 * k
        assert encoder == round(clockwise_deg * 5600 / 360)
        assert valid == 255
        assert row[11:] == scan.levels[k].tobytes()


def test_what_is_written_is_read():
    scan = scan_of(NAVTECH)
    found = polar_scan(polar_message(scan, "radar"))
    assert found.stamp_ns == STAMP_NS
    assert (found.levels == scan.levels).all()
    np.testing.assert_allclose(found.times_s, scan.times_s, atol=1e-9)
    apart = (found.azimuths - NAVTECH.azimuths + np.pi) % (2.0 * np.pi) - np.pi
    np.testing.assert_allclose(apart, 0.0, atol=1e-12)


def test_azimuths_between_counts_of_the_encoder_are_off_by_half_a_count():
    odd = RadarParameters(n_azimuths=401, n_bins=64)
    scan = RadarScan(stamp_ns=0, levels=np.zeros((401, 64), np.uint8), parameters=odd)
    apart = polar_scan(polar_message(scan, "radar")).azimuths - odd.azimuths
    apart = (apart + np.pi) % (2.0 * np.pi) - np.pi
    assert 0.3 * ENCODER_STEP < np.abs(apart).max() <= 0.5001 * ENCODER_STEP


def test_a_stamp_in_the_middle_of_the_turn_and_a_clock_of_its_own():
    message = polar_message(scan_of(NAVTECH), "radar")
    message.header = header(STAMP_NS + 125_000_000, "radar")
    times = polar_scan(message).times_s
    assert times[[0, -1]] == pytest.approx([-0.125, 0.124375], abs=1e-9)
    message.header = header(5_000_000_000, "radar")
    assert polar_scan(message).times_s[[0, -1]] == pytest.approx([0.0, 0.249375], abs=1e-9)


def test_targets_are_the_peaks_with_level_and_time():
    scan = scan_of(NAVTECH)
    polar = polar_scan(polar_message(scan, "radar"))
    detector = DetectorParameters(false_alarm_rate=1e-4)
    peaks = detect(scan.levels, NAVTECH.bin_m, detector)
    message = targets_message(polar, "radar", NAVTECH.bin_m, detector)
    arrays = point_cloud_arrays(message)
    assert (message.width, message.point_step) == (len(peaks), 20)
    points = np.column_stack([arrays[axis] for axis in "xyz"])
    np.testing.assert_array_equal(points, peak_points(peaks, polar.azimuths))
    (bright,) = np.flatnonzero(arrays["intensity"] == 70.0)
    # Row 100 is a quarter of a turn after the back: to the left.
    assert points[bright] == pytest.approx([0.0, 301.5 * NAVTECH.bin_m, 0.0], abs=1e-4)
    found = scan_points(message)
    assert found.times_s[bright] == pytest.approx(0.0625, abs=FLOAT32_S)


def test_a_turn_without_targets_is_a_cloud_without_points():
    levels = np.zeros((400, 1600), np.uint8)
    times_s = np.zeros(400)
    silent = PolarScan(stamp_ns=0, azimuths=NAVTECH.azimuths, times_s=times_s, levels=levels)
    message = targets_message(silent, "radar", NAVTECH.bin_m)
    assert (message.width, len(message.data)) == (0, 0)
    assert len(scan_points(message).points) == 0


def test_other_images_are_refused_by_what_is_wrong_with_them():
    message = polar_message(scan_of(NAVTECH), "radar")
    message.encoding = "rgb8"
    with pytest.raises(ValueError, match=r"must be mono8 with a row for each azimuth.*got rgb8"):
        polar_scan(message)
    message = polar_message(scan_of(NAVTECH), "radar")
    message.data = message.data[:-1]
    with pytest.raises(ValueError, match=r"400 rows of 1611 bytes has 644399 bytes"):
        polar_scan(message)
    message = polar_message(scan_of(NAVTECH), "radar")
    message.data = np.random.default_rng(1).integers(0, 255, 400 * 1611, dtype=np.uint8)
    with pytest.raises(ValueError, match=r"columns 8 and 9 .* must be counts of the encoder"):
        polar_scan(message)
    message = polar_message(scan_of(NAVTECH), "radar")
    rows = message.data.reshape(400, 1611)
    rows[:, :8] = rows[::-1, :8].copy()
    with pytest.raises(ValueError, match=r"columns 0 to 7 .* must be the times"):
        polar_scan(message)
