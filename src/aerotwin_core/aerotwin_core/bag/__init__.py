# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags: rosbag2 folders in MCAP that `ros2 bag play` and Foxglove open, written without ROS.

A bag that is being written is readable at any time but for its last second; `BagReader` opens
also what a killed writer left behind, and says so (`is_complete`).
"""

from aerotwin_core.bag.reader import BagReader
from aerotwin_core.bag.writer import BagWriter

__all__ = ["BagReader", "BagWriter"]
