# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of a run or a bag: its sections, and `run_report` that combines them."""
