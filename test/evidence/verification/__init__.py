# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Long evidence, one kind a module: flights, scans of a hall, repeats of taught routes."""
