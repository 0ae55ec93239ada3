# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A twin: the same SLAM at the same place, simulated and real, against one model."""

from aerotwin_comparison.twin.comparison import TwinComparison, compare_twins
from aerotwin_comparison.twin.protocol import TwinProtocol, load_twin_protocol
from aerotwin_comparison.twin.section import twin_section
from aerotwin_comparison.twin.sides import SensingConditions, TwinSide, side_of_files, side_of_run

__all__ = [
    "SensingConditions",
    "TwinComparison",
    "TwinProtocol",
    "TwinSide",
    "compare_twins",
    "load_twin_protocol",
    "side_of_files",
    "side_of_run",
    "twin_section",
]
