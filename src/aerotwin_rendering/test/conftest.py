# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that tests of several packages share."""

from support.world_stage import coarse_cliff, quad, world_of

__all__ = ["coarse_cliff", "quad", "world_of"]
