# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ROS side of driving and flying by hand: vehicles, their status, and the node."""
