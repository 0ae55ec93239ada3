# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS nodes of aerotwin_trajectory_evaluation: wiring only."""
