# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that tests of several packages share."""

from support.world_stage import quad

__all__ = ["quad"]
