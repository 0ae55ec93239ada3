# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A view in the browser: a page, and what is shown on it."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_view.page import Page, open_page
    from aerotwin_view.panels.places import Places
    from aerotwin_view.scene.glb import textured_glb
    from aerotwin_view.scene.vertex_clustering import coarse_mesh
    from aerotwin_view.scene.world_scene import WorldScene, place_camera
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
