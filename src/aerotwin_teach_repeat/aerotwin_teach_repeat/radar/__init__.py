# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teach and repeat by a spinning radar: odometry from its targets, pose in the submaps.

The submaps are those of the lidar, taught in the cloud of a reconstruction: the part of each that a
level beam meets is projected into the plane, where turns of the radar are matched in SE(2). Height,
roll and pitch are those of the submap's vertex.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_teach_repeat.radar.odometry import (
        RadarOdometry,
        RadarOdometryParameters,
        RadarProtocol,
        RadarSenses,
        known_of_the_radar,
    )
    from aerotwin_teach_repeat.radar.planar import BeamView, PlanarMatcher, submap_matcher
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
