# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Camera images of textured meshes: grey or colour, depth and ids.

`Rasteriser` renders `CameraView`s to `RenderedFrame`s, with compiled kernels on the CPU or, where a
graphics card's driver answers, with OpenGL. The camera may be any
`aerotwin_core.camera.CameraModel`.
"""

from aerotwin_rendering.rasteriser.rasteriser import Rasteriser
from aerotwin_rendering.rasteriser.views import CameraView, RenderedFrame

__all__ = ["CameraView", "Rasteriser", "RenderedFrame"]
