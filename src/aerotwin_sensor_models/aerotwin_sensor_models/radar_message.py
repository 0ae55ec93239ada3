# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A turn of a radar as messages: its power as sensor_msgs/Image, its targets as PointCloud2.

The image is the polar scan of the data sets of Navtech's radars, Oxford Radar RobotCar (Barnes et
al. 2020, arXiv 1909.01300) and Boreas (Burnett et al. 2023, arXiv 2203.10168): mono8, one row for
each azimuth in the order of time, little-endian:

| column | type | meaning |
|---|---|---|
| 0 to 7 | int64 | time of the azimuth [us] |
| 8, 9 | uint16 | encoder: azimuth clockwise from ahead, 5600 counts a turn |
| 10 | uint8 | 255: measured |
| 11 ... | uint8 | power of range bin 0, 1, ...; 0.5 dB a step |

The middle of bin b is at (b + 0.5) x the length of a bin, which the image does not hold. The stamp
is the beginning of the turn; that of Boreas is its middle.

Fields of the targets: x, y, z, in the plane of the beam [m]; intensity, the level [dB]; time since
the stamp [s]; each float32, 20 bytes a point.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.camera_messages import image_message
from aerotwin_core.messages import stamp_ns as ns_of
from aerotwin_core.time import NANOSECONDS_PER_SECOND
from aerotwin_sensor_models.lidar_message import cloud_message
from aerotwin_sensor_models.radar import RadarScan
from aerotwin_sensor_models.radar_detection import DetectorParameters, detect, peak_points

ENCODER_COUNTS = 5600
"""Counts of the encoder in a turn."""
_HEAD = np.dtype([("time_us", "<i8"), ("encoder", "<u2"), ("is_measured", "u1")])
_TARGET = np.dtype([(name, "<f4") for name in ("x", "y", "z", "intensity", "time")])
_LARGEST_STEP = ENCODER_COUNTS // 4
"""Between two azimuths; an image that is no polar scan has larger ones."""
_LARGEST_CLOCK_GAP_NS = NANOSECONDS_PER_SECOND
"""Between the stamp and the first azimuth of one clock; others are counted from that azimuth."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PolarScan:
    """The power of a turn, by azimuth.

    `azimuths` (n,) are directions from x towards y [rad], `times_s` (n,) since the stamp; `levels`
    (n, n_bins) uint8 in steps of `LEVEL_DB`.
    """

    stamp_ns: int
    azimuths: np.ndarray
    times_s: np.ndarray
    levels: np.ndarray


def polar_message(scan: RadarScan, frame_id: str) -> Any:
    """Return the power of a turn as sensor_msgs/Image."""
    head = np.zeros(len(scan.levels), _HEAD)
    head["time_us"] = np.round(scan.stamp_ns * 1e-3 + scan.times_s * 1e6)
    counts = np.round(-scan.parameters.azimuths * (ENCODER_COUNTS / (2.0 * np.pi)))
    head["encoder"] = counts.astype(np.int64) % ENCODER_COUNTS
    head["is_measured"] = 255
    rows = np.hstack([head.view(np.uint8).reshape(len(head), -1), scan.levels])
    return image_message(scan.stamp_ns, frame_id, rows)


def polar_scan(message: Any) -> PolarScan:
    """Return the power of a turn from sensor_msgs/Image, by any publisher.

    Raises `ValueError` if it is no polar scan with time and encoder in its first columns.
    """
    height, width, step = int(message.height), int(message.width), int(message.step)
    if message.encoding not in ("mono8", "8UC1") or height < 2 or width <= _HEAD.itemsize:
        raise ValueError(
            f"a polar scan must be mono8 with a row for each azimuth, {_HEAD.itemsize} columns of "
            f"time and encoder and then the power, got {message.encoding} of {height} rows and "
            f"{width} columns"
        )
    data = np.frombuffer(message.data, np.uint8)
    if step < width or len(data) != height * step:
        raise ValueError(f"a polar scan of {height} rows of {step} bytes has {len(data)} bytes")
    rows = np.ascontiguousarray(data.reshape(height, step)[:, :width])
    head = np.ascontiguousarray(rows[:, : _HEAD.itemsize]).view(_HEAD).reshape(-1)
    turned = np.mod(np.diff(head["encoder"].astype(np.int64)), ENCODER_COUNTS)
    passed_us = head["time_us"] - head["time_us"][0]
    if turned.sum() == 0 or turned.max() > _LARGEST_STEP or head["encoder"].max() >= ENCODER_COUNTS:
        raise ValueError(
            f"columns 8 and 9 of a polar scan must be counts of the encoder, 0 to "
            f"{ENCODER_COUNTS - 1}, that turn clockwise, as of the Oxford and Boreas data sets; "
            f"got {head['encoder'][:3].tolist()} ..."
        )
    if (np.diff(passed_us) < 0).any():
        raise ValueError("columns 0 to 7 of a polar scan must be the times of its azimuths [us]")
    stamp_ns = ns_of(message)
    offset_ns = int(head["time_us"][0]) * 1000 - stamp_ns
    is_same_clock = abs(offset_ns) < _LARGEST_CLOCK_GAP_NS
    return PolarScan(
        stamp_ns=stamp_ns,
        azimuths=head["encoder"] * (-2.0 * np.pi / ENCODER_COUNTS),
        times_s=passed_us * 1e-6 + (offset_ns * 1e-9 if is_same_clock else 0.0),
        levels=np.ascontiguousarray(rows[:, _HEAD.itemsize :]),
    )


def targets_message(
    scan: PolarScan, frame_id: str, bin_m: float, detector: DetectorParameters | None = None
) -> Any:
    """Return the targets in a turn as sensor_msgs/PointCloud2; a range bin is `bin_m` long [m]."""
    peaks = detect(scan.levels, bin_m, detector)
    targets = np.empty(len(peaks), _TARGET)
    targets["x"], targets["y"], targets["z"] = peak_points(peaks, scan.azimuths).T
    targets["intensity"] = peaks.level_db
    targets["time"] = scan.times_s[peaks.azimuth]
    return cloud_message(scan.stamp_ns, frame_id, targets[None], is_dense=True)
