# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Turns of a radar as the images of Oxford and Boreas hold them: one row for each azimuth."""

import numpy as np

from aerotwin_sensor_models.radar import RadarScan

ENCODER_STEPS = 5600
"""Steps of the encoder in a turn: Oxford Radar RobotCar and pyboreas (`load_radar`)."""
HEAD_BYTES = 11
"""Time (int64, microseconds), encoder (uint16), valid (255), then the levels."""


def polar_image(scan: RadarScan) -> np.ndarray:
    """Return a turn as an image (n_azimuths, 11 + n_bins) uint8, which the tools of both read.

    The encoder counts from ahead and clockwise seen from above, their convention; the first row is
    the first in time, which looks behind.
    """
    p = scan.parameters
    image = np.empty((p.n_azimuths, HEAD_BYTES + p.n_bins), np.uint8)
    stamps_us = np.round(scan.stamp_ns * 1e-3 + scan.times_s * 1e6).astype("<i8")
    turned = np.mod(-p.azimuths, 2.0 * np.pi) / (2.0 * np.pi)
    encoder = np.round(turned * ENCODER_STEPS).astype("<u2") % ENCODER_STEPS
    image[:, :8] = stamps_us[:, None].view(np.uint8)
    image[:, 8:10] = encoder.astype("<u2")[:, None].view(np.uint8)
    image[:, 10] = 255
    image[:, HEAD_BYTES:] = scan.levels
    return image
