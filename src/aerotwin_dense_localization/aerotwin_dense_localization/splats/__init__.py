# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Coloured points with covariances, and the images that a camera would take of them."""

from aerotwin_dense_localization.splats.cloud import SplatCloud
from aerotwin_dense_localization.splats.rasteriser import (
    SplatParameters,
    SplatRasteriser,
    SplatView,
)

__all__ = ["SplatCloud", "SplatParameters", "SplatRasteriser", "SplatView"]
