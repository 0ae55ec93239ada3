# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of flights and recorded bags: `bag` reads and replays, `report` writes the page.

`aerotwin evaluate bag` evaluates a bag like a simulated flight; `report.run_report` writes the
report of either. Neither needs the simulator, nor ROS if the bag contains an estimate.
"""

__all__: list[str] = []
