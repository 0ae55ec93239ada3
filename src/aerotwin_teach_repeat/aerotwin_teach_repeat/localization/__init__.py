# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Localisation by lidar: a matcher of scans to maps, odometry, and a localiser along a route.

Poses are of the vehicle's base; points are in its frame. A failure is a result with
`accepted = False` and a reason; its pose is the prediction, never the identity.
"""

from aerotwin_teach_repeat.localization.localizer import ScanLocalization, SubmapLocalizer
from aerotwin_teach_repeat.localization.matcher import ScanMatch, ScanMatcher
from aerotwin_teach_repeat.localization.odometry import (
    OdometryParameters,
    ScanOdometry,
    ScanOdometryFrame,
)
from aerotwin_teach_repeat.localization.protocol import LocalizationProtocol
from aerotwin_teach_repeat.localization.relocalization import RelocalizationProtocol

# Deprecated names, to be removed in the next version.
Localizer = SubmapLocalizer

__all__ = [
    "LocalizationProtocol",
    "Localizer",
    "OdometryParameters",
    "RelocalizationProtocol",
    "ScanLocalization",
    "ScanMatch",
    "ScanMatcher",
    "ScanOdometry",
    "ScanOdometryFrame",
    "SubmapLocalizer",
]
