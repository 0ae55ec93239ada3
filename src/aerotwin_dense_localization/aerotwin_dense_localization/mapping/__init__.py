# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A dense map from stereo key-frames: a graph of surfaces, each on the image grid of a pose."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_dense_localization.mapping.dense_map import DenseMap
    from aerotwin_dense_localization.mapping.folder import DenseMapError, load_map, save_map
    from aerotwin_dense_localization.mapping.keyframe import StereoKeyframe

    # A deprecated name, which goes with the next version.
    from aerotwin_dense_localization.mapping.keyframe import StereoKeyframe as Keyframe
    from aerotwin_dense_localization.mapping.links import KeyframeLink, agree_poses, find_links
    from aerotwin_dense_localization.mapping.map_builder import KeyframeReport, SplatMapBuilder

    # A deprecated name, which goes with the next version.
    from aerotwin_dense_localization.mapping.map_builder import SplatMapBuilder as MapBuilder
    from aerotwin_dense_localization.mapping.parameters import LinkParameters, MapParameters
    from aerotwin_dense_localization.mapping.surface import SplatSurface
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
