# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ROS side of the simulator: topics, services, the frame gate and the node."""
