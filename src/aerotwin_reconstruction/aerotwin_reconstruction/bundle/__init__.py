# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of survey pictures by bundle adjustment from features, GNSS and the gimbal's attitude."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_reconstruction.bundle.adjustment import (
        AdjustmentBlock,
        Priors,
        adjust,
        triangulate,
    )
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
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
