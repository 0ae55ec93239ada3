# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of teach and repeat: `repeat` drives a taught route, `teach` records one."""
