# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reconstructions of surveyed places, and what is wrong with them.

Survey flights, reconstruction from images and GNSS, and `degradation` for studies.
"""

__all__ = ["degradation"]
