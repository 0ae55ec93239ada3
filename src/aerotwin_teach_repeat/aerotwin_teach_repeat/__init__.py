# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teach and repeat by lidar: route graph, submaps, localisation, path tracking, deviation metrics."""
