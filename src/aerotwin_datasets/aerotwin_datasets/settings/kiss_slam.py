# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of KISS-SLAM, which reads the clouds in `other_topics` itself."""

from pathlib import Path

from aerotwin_datasets.calibration import DatasetCalibration
from aerotwin_datasets.manifest import yaml_text


def write_kiss_slam(place: Path, calibration: DatasetCalibration) -> None:
    """Write `config.yaml`: the motion within a scan is removed if its points have times."""
    place.mkdir(parents=True)
    has_times = all(calibration.clouds.values())
    content = {"out_dir": "slam_output", "odometry": {"preprocessing": {"deskew": has_times}}}
    (place / "config.yaml").write_text(yaml_text(content), encoding="utf-8")
