# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Description of a mission: take-off, a path through way-points, a track, landing where it ends."""

from dataclasses import dataclass
from math import radians

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter
from aerotwin_px4_bridge.path import (
    PATH_STEP_S,
    PathLimits,
    PathPoint,
    SampledPath,
    plan_path,
)
from aerotwin_px4_bridge.track import join, read_track

_BEFORE_TRACK_S = 2.0


@dataclass(frozen=True, kw_only=True)
class Waypoint:
    """A way-point of a mission, in the map frame."""

    position_m: tuple[float, float, float] = parameter(
        text="x east, y north, z up in map", unit="m"
    )
    yaw_deg: float | None = parameter(
        None, text="yaw from east, counter-clockwise; null keeps the last", unit="deg"
    )
    hold_s: float = parameter(
        0.0, text="stop there for this long; 0 flies through", unit="s", minimum=0.0
    )


@dataclass(frozen=True, kw_only=True)
class MissionPlan:
    """A flight: take-off, a path through way-points, a track, landing where it ends.

    Way-points alone, a track alone, or both: then the way-points lead to the track.
    """

    takeoff_altitude_m: float = parameter(
        5.0, text="height above the start", unit="m", minimum=1.5, maximum=120.0
    )
    speed_m_s: float = parameter(2.0, text="speed along the path", unit="m/s", minimum=0.1)
    climb_rate_m_s: float = parameter(
        1.0, text="vertical part of the speed", unit="m/s", minimum=0.05
    )
    acceleration_m_s2: float = parameter(
        1.5, text="along the path and in corners", unit="m/s^2", minimum=0.05
    )
    jerk_m_s3: float = parameter(4.0, text="build-up of acceleration", unit="m/s^3", minimum=0.05)
    corner_radius_m: float = parameter(
        2.0, text="arcs at way-points that are flown through; 0 stops there", unit="m", minimum=0.0
    )
    yaw_rate_deg_s: float = parameter(
        30.0, text="turning rate", unit="deg/s", minimum=1.0, maximum=180.0
    )
    ready_timeout_s: float = parameter(
        90.0, text="simulated time until the autopilot can arm", unit="s", minimum=1.0
    )
    waypoints: tuple[Waypoint, ...] = parameter((), text="the path; may be empty before a track")
    track: str = parameter(
        "", text="CSV file of set-points in time (module track), flown after the way-points"
    )

    def __post_init__(self) -> None:
        if not self.waypoints and not self.track:
            raise ParameterError("waypoints: expected at least one, found none; add one")
        if self.track:
            read_track(self.track)

    def plan(self, p_map_start: FloatArray, yaw_start: float) -> tuple[SampledPath, float]:
        """Return the path in time from a hover at the start, and the start of its track [s].

        Without a track the latter is the end of the path.
        """
        track = read_track(self.track) if self.track else None
        points = [
            PathPoint(
                p_map=waypoint.position_m,
                yaw=None if waypoint.yaw_deg is None else radians(waypoint.yaw_deg),
                hold=waypoint.hold_s,
            )
            for waypoint in self.waypoints
        ]
        if track is not None:
            yaw = float(track.yaw[0])
            points.append(PathPoint(p_map=track.p_map[0], yaw=yaw, hold=_BEFORE_TRACK_S))
        path = plan_path(p_map_start, yaw_start, points, self._limits())
        if track is None:
            return path, path.duration
        return join(path, track), path.duration + PATH_STEP_S

    def _limits(self) -> PathLimits:
        return PathLimits(
            speed=self.speed_m_s,
            climb_rate=self.climb_rate_m_s,
            acceleration=self.acceleration_m_s2,
            jerk=self.jerk_m_s3,
            corner_radius=self.corner_radius_m,
            yaw_rate=radians(self.yaw_rate_deg_s),
        )
