# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenario files: one flight with what happens during it, and what is expected of it.

`scenario` reads a file, `fly` flies it in this process, `metrics` are its numbers, `result` is what
a run leaves.
"""
