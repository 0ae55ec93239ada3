# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Point masses: vehicles without attitude, rotors and autopilot, behind the interfaces of others.

`robot` is one of them, `pilots` what all of them fly, `group` computes all of a simulation
together: a thousand cost little more than one.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_point_mass_simulator.group import PointMasses
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
