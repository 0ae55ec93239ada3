# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of flights and of recorded bags: `bag` reads and replays, `report` writes the page.

`aerotwin evaluate bag` judges a bag as a simulated flight is judged; `report.run_report` makes the
report of either. Neither needs the simulator, nor ROS where an estimate is in the bag.
"""

__all__: list[str] = []
