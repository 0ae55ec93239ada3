# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of SLAMs with a lidar, which read the scans of a bag themselves."""

from pathlib import Path

from aerotwin_core.point_clouds import ABSOLUTE_FIELD
from aerotwin_datasets.calibration import DatasetCalibration
from aerotwin_datasets.manifest import yaml_text


def write_kiss_slam(place: Path, calibration: DatasetCalibration) -> None:
    """Write `config.yaml`: the motion within a scan is removed if its points have times."""
    place.mkdir(parents=True)
    has_times = all(calibration.clouds.values())
    content = {"out_dir": "slam_output", "odometry": {"preprocessing": {"deskew": has_times}}}
    (place / "config.yaml").write_text(yaml_text(content), encoding="utf-8")


def write_rko_lio(place: Path, calibration: DatasetCalibration) -> None:
    """Write `config.yaml`: whether points have times, and whether those count from the stamp.

    Left to guess, RKO-LIO 0.4.0 drops a scan whose first echo is 1 ms or more after its stamp.
    """
    place.mkdir(parents=True)
    fields = set(calibration.clouds.values())
    content = {
        "deskew": "" not in fields,
        "lidar_timestamps": {"force_relative": not fields & {"", ABSOLUTE_FIELD}},
    }
    (place / "config.yaml").write_text(yaml_text(content), encoding="utf-8")
