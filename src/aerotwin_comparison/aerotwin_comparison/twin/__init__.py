# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A twin: the same SLAM at the same place, simulated and real, against one model."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_comparison.twin.comparison import TwinComparison, compare_twins
    from aerotwin_comparison.twin.protocol import TwinProtocol, load_twin_protocol
    from aerotwin_comparison.twin.section import twin_section
    from aerotwin_comparison.twin.sides import (
        SensingConditions,
        TwinSide,
        side_of_files,
        side_of_run,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
