# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The paper's experiment: scans of a seed, features beside, bars, and the page of many seeds."""
