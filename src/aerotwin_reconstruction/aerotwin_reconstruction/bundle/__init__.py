# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of survey pictures by bundle adjustment from features, GNSS and the gimbal's attitude."""

from aerotwin_reconstruction.bundle.adjustment import AdjustmentBlock, Priors, adjust, triangulate
from aerotwin_reconstruction.bundle.align import PhotoAlignment, align_photos, known_before
from aerotwin_reconstruction.bundle.features import (
    PhotoFeatures,
    find_features,
    match,
    nearby_pairs,
    read_picture,
)
from aerotwin_reconstruction.bundle.parameters import BundleParameters
from aerotwin_reconstruction.bundle.tracks import Tracks, link_tracks

__all__ = [
    "AdjustmentBlock",
    "BundleParameters",
    "PhotoAlignment",
    "PhotoFeatures",
    "Priors",
    "Tracks",
    "adjust",
    "align_photos",
    "find_features",
    "known_before",
    "link_tracks",
    "match",
    "nearby_pairs",
    "read_picture",
    "triangulate",
]
