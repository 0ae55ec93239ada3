# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a SLAM made by others on a recording, as its description says.

`run_slam` writes the recording as a data set, starts the program on it, measures its processes, and
reads what it wrote. A program that fails, hangs or writes nothing is a result, with its log.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_slam_runs.description import SlamDescription, load_description
    from aerotwin_slam_runs.run import SlamRun, run_slam
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
