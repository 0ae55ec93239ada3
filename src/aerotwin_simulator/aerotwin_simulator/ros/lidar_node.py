# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `lidar`: truth/odom in, lidar/points out."""

import sys
from functools import partial

from aerotwin_core.ros.node import run_node
from aerotwin_simulator.ros.node_parameters import LidarNodeParameters
from aerotwin_simulator.ros.scanner_node import ScannerNode


def main() -> int:
    """Run the node."""
    return run_node(partial(ScannerNode, "lidar", LidarNodeParameters))


if __name__ == "__main__":
    sys.exit(main())
