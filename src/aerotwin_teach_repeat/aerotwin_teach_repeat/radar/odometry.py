# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Odometry and localisation from turns of a radar, freed of motion and Doppler shift.

A turn lasts 0.25 s, so motion distorts it more than a lidar scan: at 1 m/s its first and last
points are 0.25 m apart, and the Doppler shift moves points ahead 5 cm nearer and points behind
5 cm farther away. All motion is in the plane of the vehicle.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter
from aerotwin_sensor_models import DetectorParameters, RadarParameters
from aerotwin_teach_repeat.localization.localizer import SubmapLocalizer
from aerotwin_teach_repeat.localization.matcher import ScanMatch
from aerotwin_teach_repeat.localization.odometry import (
    OdometryParameters,
    ScanOdometry,
    ScanOdometryFrame,
    whole_twist,
)
from aerotwin_teach_repeat.localization.protocol import LocalizationProtocol
from aerotwin_teach_repeat.radar.planar import (
    RADAR_MATCHING,
    BeamView,
    PlanarMatcher,
    flattened,
    line_normals,
    submap_matcher,
)
from aerotwin_teach_repeat.route_graph import RouteGraph, Submap

RADAR_SCANS = OdometryParameters(
    protocol=replace(RADAR_MATCHING, max_range_m=69.0, min_matched_ratio=0.4), map_memory_m=5.0
)
"""VTR3: 40 % matched, up to 69 m; its map keeps points for 5 s, at 1 m/s."""


@dataclass(frozen=True, kw_only=True)
class RadarOdometryParameters:
    """Parameters of the odometry by radar."""

    scans: OdometryParameters = field(default_factory=lambda: RADAR_SCANS)
    doppler_shift_s: float = parameter(
        0.0, text="range read short per closing speed", unit="s", minimum=-1.0, maximum=1.0
    )
    line_radius_m: float = parameter(
        1.0, text="points so near each other may be of one line", unit="m", minimum=0.05
    )


class RadarOdometry(ScanOdometry):
    """Incremental odometry from the points of each turn, as measured.

    `p_base_radar` (3,) is the radar's position [m]; above the base's origin by default.
    """

    def __init__(
        self,
        parameters: RadarOdometryParameters | None = None,
        p_base_radar: np.ndarray | None = None,
    ) -> None:
        p = parameters or RadarOdometryParameters()
        self._shift_s, self._twist = p.doppler_shift_s, np.zeros(6)
        self.p_base_radar = np.zeros(3) if p_base_radar is None else np.asarray(p_base_radar)
        super().__init__(p.scans, lambda scans: _FlatMap(scans, p.line_radius_m))

    def add(
        self,
        points_base: np.ndarray,
        times_s: np.ndarray | None,
        stamp_ns: int,
        wheel_twist: np.ndarray | None = None,
    ) -> ScanOdometryFrame:
        """Add a turn; parameters as `ScanOdometry.add`."""
        twist = self._twist if wheel_twist is None else whole_twist(wheel_twist)
        still = without_doppler(points_base, twist, self.p_base_radar, self._shift_s)
        frame = super().add(still, times_s, stamp_ns, wheel_twist)
        self._twist = frame.twist
        return frame


def without_doppler(
    points_base: np.ndarray, twist: FloatArray, p_base_radar: np.ndarray, shift_s: float
) -> np.ndarray:
    """Return points (n, 3) of a moving radar as seen by one at rest.

    The points are in the base's frame, each at its own time, `twist` (6,) is the base's, and
    `p_base_radar` (3,) the radar's position [m, m/s, rad/s]. The radar reads ranges short by
    `shift_s` per closing speed [s]: range + beta (v . u) (Burnett et al. 2021, RA-L 6, 771-778).
    """
    away = np.asarray(points_base, np.float64) - p_base_radar
    away[:, 2] = 0.0
    u = away / np.maximum(np.linalg.norm(away, axis=1), 1e-9)[:, None]
    velocity = twist[:3] + np.cross(twist[3:], p_base_radar)
    return (points_base + shift_s * (u @ velocity)[:, None] * u).astype(np.float32)


class _FlatMap:
    """Points of the last keyframes in the plane, with normals of lines through them."""

    def __init__(self, parameters: OdometryParameters, line_radius_m: float) -> None:
        p = parameters
        self._protocol, self._radius_m = p.protocol, line_radius_m
        n_scans = max(1, round(p.map_memory_m / max(p.keyframe_m, 1e-3)))
        self._scans: deque[np.ndarray] = deque(maxlen=n_scans)
        self._points, self._normals = np.empty((0, 3)), np.empty((0, 3))
        self._matcher: PlanarMatcher | None = None

    def add(self, points: np.ndarray, frame: ScanOdometryFrame) -> None:
        """Add the points (n, 3) of a keyframe and drop the oldest [m]."""
        self._scans.append(points)
        self._points = flattened(np.concatenate(self._scans))
        self._normals, weights = line_normals(self._points, self._radius_m)
        self._matcher = PlanarMatcher(
            self._points, self._normals, weights, self._protocol, np.zeros((3, 3))
        )

    def match(self, points_base: np.ndarray, T_odom_base: FloatArray, L: FloatArray) -> ScanMatch:
        """Match a turn to the map; poses are in odom."""
        assert self._matcher is not None
        return self._matcher.match(points_base, T_odom_base, L)

    def around(self, p_odom: np.ndarray, radius_m: float) -> tuple[np.ndarray, np.ndarray]:
        """Return points and normals within a horizontal distance of a position."""
        retained = np.hypot(*(self._points[:, :2] - p_odom[:2]).T) <= radius_m
        return self._points[retained], self._normals[retained]


@dataclass(frozen=True, kw_only=True)
class RadarProtocol:
    """Parameters of detector, odometry, view of the map and matching."""

    detector: DetectorParameters = field(default_factory=DetectorParameters)
    odometry: RadarOdometryParameters = field(default_factory=RadarOdometryParameters)
    view: BeamView = field(default_factory=BeamView)
    localization: LocalizationProtocol = field(default_factory=lambda: RADAR_MATCHING)


def known_of_the_radar(protocol: RadarProtocol, radar: RadarParameters) -> RadarProtocol:
    """Return a protocol that knows its radar's data sheet: Doppler shift and beam."""
    view = replace(protocol.view, beam_deg=radar.beam_elevation_deg)
    odometry = replace(protocol.odometry, doppler_shift_s=radar.doppler_shift_s)
    return replace(protocol, view=view, odometry=odometry)


class RadarSenses:
    """Odometry and localiser of a route for turns of a radar, on the submaps of a lidar.

    `T_base_radar` (4, 4) is the mounting; without it, `mount` is to be called before the first turn
    (else the radar is above the base, at the height of the protocol's view).
    """

    def __init__(
        self,
        graph: RouteGraph,
        route_ids: Sequence[int],
        protocol: RadarProtocol | None = None,
        T_base_radar: FloatArray | None = None,
    ) -> None:
        p = protocol or RadarProtocol()
        self._protocol, self._view = p.localization, p.view
        self.odometry = RadarOdometry(p.odometry)
        self.localizer = SubmapLocalizer(
            graph, route_ids, p.localization, make_matcher=self._make_matcher
        )
        if T_base_radar is not None:
            self.mount(T_base_radar)

    def mount(self, T_base_radar: FloatArray) -> None:
        """Set where the radar is on the vehicle; its height selects the part of the map."""
        self.odometry.p_base_radar = np.asarray(T_base_radar[:3, 3])
        self._view = replace(self._view, height_m=float(T_base_radar[2, 3]))

    def _make_matcher(self, submap: Submap) -> PlanarMatcher:
        return submap_matcher(self._protocol, self._view)(submap)
