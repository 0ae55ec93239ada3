# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A dense map from stereo key-frames: a graph of surfaces, each on the image grid of a pose."""

from aerotwin_dense_localization.mapping.dense_map import DenseMap
from aerotwin_dense_localization.mapping.folder import DenseMapError, load_map, save_map
from aerotwin_dense_localization.mapping.keyframe import StereoKeyframe
from aerotwin_dense_localization.mapping.links import KeyframeLink, agree_poses, find_links
from aerotwin_dense_localization.mapping.map_builder import KeyframeReport, SplatMapBuilder
from aerotwin_dense_localization.mapping.parameters import LinkParameters, MapParameters
from aerotwin_dense_localization.mapping.surface import SplatSurface

# Deprecated names, which go with the next version.
Keyframe = StereoKeyframe
MapBuilder = SplatMapBuilder

__all__ = [
    "DenseMap",
    "DenseMapError",
    "Keyframe",
    "KeyframeLink",
    "KeyframeReport",
    "LinkParameters",
    "MapBuilder",
    "MapParameters",
    "SplatMapBuilder",
    "SplatSurface",
    "StereoKeyframe",
    "agree_poses",
    "find_links",
    "load_map",
    "save_map",
]
