# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Localisation by lidar: a matcher of scans to maps, odometry, and a localiser along a route.

Poses are of the vehicle's base; points are in its frame. A failure is a result with
`accepted = False` and a reason; its pose is the prediction, never the identity.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_teach_repeat.localization.localizer import ScanLocalization, SubmapLocalizer

    # Deprecated name, to be removed in the next version.
    from aerotwin_teach_repeat.localization.localizer import SubmapLocalizer as Localizer
    from aerotwin_teach_repeat.localization.matcher import ScanMatch, ScanMatcher
    from aerotwin_teach_repeat.localization.odometry import (
        OdometryParameters,
        ScanOdometry,
        ScanOdometryFrame,
    )
    from aerotwin_teach_repeat.localization.protocol import LocalizationProtocol
    from aerotwin_teach_repeat.localization.relocalization import RelocalizationProtocol
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
