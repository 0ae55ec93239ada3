# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion of wheeled robots on terrain: unicycle and bicycle with lags, slip and command delay."""
