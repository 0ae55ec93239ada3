# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A surface over the ground: heights, a mesh of them, and the ortho picture on it."""

from aerotwin_reconstruction.surface.heights import SurfaceParameters, height_raster, surface_mesh
from aerotwin_reconstruction.surface.ortho import ortho_colours

__all__ = ["SurfaceParameters", "height_raster", "ortho_colours", "surface_mesh"]
