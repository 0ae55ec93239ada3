# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Survey flights, reconstruction of the surveyed place from images and GNSS, and its degradation for studies."""
