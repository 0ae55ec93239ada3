# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags: rosbag2 recordings read whatever their make and state, and written without ROS.

`BagReader` opens folders and single files, MCAP and SQLite, of Humble to Kilted, and says in
`problems` what of them is damaged, cut off or odd. `BagWriter` writes MCAP folders that
`ros2 bag play` and Foxglove open; one that is being written is readable but for its last second.
"""

from aerotwin_core.bag.poses import POSE_TYPES, PoseTopic
from aerotwin_core.bag.reader import BagReader
from aerotwin_core.bag.writer import BagWriter

__all__ = ["POSE_TYPES", "BagReader", "BagWriter", "PoseTopic"]
