# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teach and repeat in closed loop: a robot that repeats a taught route in the true world.

Here meet what does not import each other: the world and the robot in it (`aerotwin_simulator`),
and localisation, state machine and tracker (`aerotwin_teach_repeat`). The robot gets scans and
wheel speeds only; truth is for the start, the marks and the scores.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_scenarios.teach_repeat.closed_loop import run_repeat, run_repeats
    from aerotwin_scenarios.teach_repeat.record import RepeatRecord
    from aerotwin_scenarios.teach_repeat.study import RepeatStudy
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
