# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ROS side of the view: what is heard of robots, what is sent to them, and the node."""
