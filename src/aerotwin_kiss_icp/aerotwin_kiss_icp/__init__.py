# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""KISS-ICP (Vizzo et al. 2023) as a SLAM under test: lidar scans in, odometry of the body out.

The algorithm is the authors' own, from PyPI. This package adds what a fair comparison needs:
poses at the stamp of the scan, and those of the body instead of the sensor.
"""

from aerotwin_kiss_icp.odometry import KissIcpOdometry, ScanPose
from aerotwin_kiss_icp.parameters import KissIcpParameters

__all__ = ["KissIcpOdometry", "KissIcpParameters", "ScanPose"]
