# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rasteriser and surface queries of textured meshes."""

from aerotwin_rendering.queries import WorldQueries
from aerotwin_rendering.rasteriser import Frame, Rasteriser, View
from aerotwin_rendering.view import optical_pose

__all__ = [
    "Frame",
    "Rasteriser",
    "View",
    "WorldQueries",
    "optical_pose",
]
