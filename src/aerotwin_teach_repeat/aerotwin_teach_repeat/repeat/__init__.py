# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Repeat a taught route: scans in, commands out; every change of state has a reason as text.

The estimated pose is in `map`, the frame of the route graph, at the stamp of the scan; commands are
computed for the time at which the vehicle responds to them.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_teach_repeat.repeat.parameters import RepeatParameters
    from aerotwin_teach_repeat.repeat.pose_tracker import LocalizationFix, PoseTracker
    from aerotwin_teach_repeat.repeat.repeater import Repeater
    from aerotwin_teach_repeat.repeat.step import RepeatState, RepeatStep, Transition
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
