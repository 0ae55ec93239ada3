# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense surfaces from aligned pictures: multi-view stereo and fusion."""

from aerotwin_reconstruction.dense.cloud import DepthMaps, depth_maps, reconstruct_cloud
from aerotwin_reconstruction.dense.fusion import DenseCloud, fuse
from aerotwin_reconstruction.dense.parameters import DenseParameters

__all__ = [
    "DenseCloud",
    "DenseParameters",
    "DepthMaps",
    "depth_maps",
    "fuse",
    "reconstruct_cloud",
]
