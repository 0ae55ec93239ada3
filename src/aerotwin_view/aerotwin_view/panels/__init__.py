# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is said and asked beside the scene: orders, way-points, faults, time."""
