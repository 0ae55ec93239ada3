# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 border of dense localisation: the nodes `mapper` and `localizer`."""
