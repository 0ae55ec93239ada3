# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ROS side of aerotwin_core: node scaffolding, QoS profiles, parameters and conversions."""
