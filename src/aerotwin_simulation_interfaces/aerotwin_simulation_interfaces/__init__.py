# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The standard services of simulators: `simulation_interfaces` 2.1 for a simulator's node.

Entities come, go and are placed; the run is paused, stepped and reset; worlds are loaded. The node
finds these services when this package is installed.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_simulation_interfaces.areas import overlaps_box, overlaps_hull, overlaps_sphere
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
