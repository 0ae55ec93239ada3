# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of survey pictures by bundle adjustment from features, GNSS and the gimbal's attitude."""

from aerotwin_reconstruction.bundle.adjustment import Block, Priors, adjust, triangulate
from aerotwin_reconstruction.bundle.align import Alignment, align_photos, known_before
from aerotwin_reconstruction.bundle.features import Features, find_features, read_picture
from aerotwin_reconstruction.bundle.matching import match, nearby_pairs
from aerotwin_reconstruction.bundle.parameters import BundleParameters
from aerotwin_reconstruction.bundle.tracks import Tracks, link_tracks

__all__ = [
    "Alignment",
    "Block",
    "BundleParameters",
    "Features",
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
