# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What was recorded, as the scene draws it: flights, repeats, distances of maps."""
