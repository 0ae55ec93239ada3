# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Localisation of a camera in a dense map, by views that are rendered along its path."""

from aerotwin_dense_localization.localization.body_tracker import BodyTracker, body_covariance
from aerotwin_dense_localization.localization.inertial import BodyEstimate, InertialFilter
from aerotwin_dense_localization.localization.inertial_samples import reading_of
from aerotwin_dense_localization.localization.localizer import (
    ImageLocalization,
    ImageLocalizer,
    Status,
)
from aerotwin_dense_localization.localization.parameters import (
    InertialParameters,
    LocalizationParameters,
)
from aerotwin_dense_localization.localization.scan_path import (
    follow_surface,
    raster_path,
    virtual_poses,
)
from aerotwin_dense_localization.localization.virtual_views import VirtualViews

# Deprecated names, which go with the next version.
Localizer = ImageLocalizer

__all__ = [
    "BodyEstimate",
    "BodyTracker",
    "ImageLocalization",
    "ImageLocalizer",
    "InertialFilter",
    "InertialParameters",
    "LocalizationParameters",
    "Localizer",
    "Status",
    "VirtualViews",
    "body_covariance",
    "follow_surface",
    "raster_path",
    "reading_of",
    "virtual_poses",
]
