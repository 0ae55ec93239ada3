# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios as processes: a flight with its report, a replay with its report."""
