# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The start page: choose a run, start it, see it, read its report and those before it."""
