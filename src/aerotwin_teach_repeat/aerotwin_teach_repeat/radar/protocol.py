# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of localisation by radar, and the localiser made from them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from aerotwin_teach_repeat.localization import LocalizationProtocol, SubmapLocalizer
from aerotwin_teach_repeat.radar.detection import DetectorParameters
from aerotwin_teach_repeat.radar.odometry import RadarOdometryParameters
from aerotwin_teach_repeat.radar.planar import RADAR_MATCHING, BeamView, submap_matcher
from aerotwin_teach_repeat.route_graph import RouteGraph


@dataclass(frozen=True, kw_only=True)
class RadarProtocol:
    """Parameters of detector, odometry, view of the map and matching."""

    detector: DetectorParameters = field(default_factory=DetectorParameters)
    odometry: RadarOdometryParameters = field(default_factory=RadarOdometryParameters)
    view: BeamView = field(default_factory=BeamView)
    localization: LocalizationProtocol = field(default_factory=lambda: RADAR_MATCHING)


def radar_localizer(
    graph: RouteGraph, route_ids: Sequence[int], protocol: RadarProtocol | None = None
) -> SubmapLocalizer:
    """Return the localiser of a route for turns of a radar, on the submaps of a lidar."""
    p = protocol or RadarProtocol()
    make_matcher = submap_matcher(p.localization, p.view)
    return SubmapLocalizer(graph, route_ids, p.localization, make_matcher=make_matcher)
