# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Localisation of a camera in a dense map, by views that are rendered along its path."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_dense_localization.localization.body_tracker import BodyTracker, body_covariance
    from aerotwin_dense_localization.localization.inertial import BodyEstimate, InertialFilter
    from aerotwin_dense_localization.localization.inertial_samples import reading_of
    from aerotwin_dense_localization.localization.localizer import (
        ImageLocalization,
        ImageLocalizer,
        Status,
    )

    # A deprecated name, which goes with the next version.
    from aerotwin_dense_localization.localization.localizer import ImageLocalizer as Localizer
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
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
