# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `radar`: truth/odom in, radar/polar and radar/points out."""

import sys
from functools import partial

from aerotwin_core.ros.node import run_node
from aerotwin_simulator.ros.node_parameters import RadarNodeParameters
from aerotwin_simulator.ros.scanner_node import ScannerNode


def main() -> int:
    """Run the node."""
    return run_node(partial(ScannerNode, "radar", RadarNodeParameters))


if __name__ == "__main__":
    sys.exit(main())
