# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the node `repeat` localises by: topics, odometry and localiser of a lidar or a radar."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sensor_msgs.msg import Image, PointCloud2

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import load_parameters_file
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.mounted_scans import LIDAR_POINTS
from aerotwin_sensor_models import load_preset, polar_scan, targets_message
from aerotwin_teach_repeat.localization import LocalizationProtocol, ScanOdometry, SubmapLocalizer
from aerotwin_teach_repeat.radar import RadarProtocol, RadarSenses, known_of_the_radar
from aerotwin_teach_repeat.ros.node_parameters import RepeatNodeParameters
from aerotwin_teach_repeat.route_graph import RouteGraph

SILENT_TURNS = 2.0
"""Turns without a scan after which a radar counts as silent, if `scan_timeout_s` is not longer."""


@dataclass(frozen=True, kw_only=True)
class Senses:
    """Where scans come from and who makes poses of them.

    `mount` is called with the mounting of the sensor (4, 4) before the first scan; `parameters` are
    those of the node at the pace of the sensor.
    """

    sources: Sequence[TopicSource]
    odometry: ScanOdometry
    localizer: SubmapLocalizer
    mount: Callable[[FloatArray], None]
    parameters: RepeatNodeParameters


def make_senses(graph: RouteGraph, route_ids: list[int], p: RepeatNodeParameters) -> Senses:
    """Return what a repeat of a route localises by; `ParameterError` without such a radar."""
    return _by_radar(graph, route_ids, p) if p.sensor == "radar" else _by_lidar(graph, route_ids, p)


def _by_lidar(graph: RouteGraph, route_ids: list[int], p: RepeatNodeParameters) -> Senses:
    protocol = LocalizationProtocol()
    if p.localization:
        protocol = load_parameters_file(LocalizationProtocol, p.localization)
    return Senses(
        sources=(LIDAR_POINTS,),
        odometry=ScanOdometry(),
        localizer=SubmapLocalizer(graph, route_ids, protocol),
        mount=lambda _: None,  # its points have height
        parameters=p,
    )


def _by_radar(graph: RouteGraph, route_ids: list[int], p: RepeatNodeParameters) -> Senses:
    radar, protocol = load_preset("radar", p.radar), RadarProtocol()
    if p.localization:
        protocol = load_parameters_file(RadarProtocol, p.localization)
    found = RadarSenses(graph, route_ids, known_of_the_radar(protocol, radar))

    def targets(image: Image) -> Any:
        scan = polar_scan(image)
        return targets_message(scan, image.header.frame_id, radar.bin_m, protocol.detector)

    turn_s = 1.0 / radar.rate_hz
    return Senses(
        sources=(
            TopicSource(topic="radar/polar", kind=Image, convert=targets),
            TopicSource(topic="radar/points", kind=PointCloud2),
        ),
        odometry=found.odometry,
        localizer=found.localizer,
        mount=found.mount,
        parameters=dataclasses.replace(
            p,
            control_period_s=turn_s,
            scan_timeout_s=max(p.scan_timeout_s, SILENT_TURNS * turn_s),
        ),
    )
