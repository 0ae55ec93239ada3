# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight as a mission: placed in a world, written as a track, flown by an autopilot."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_px4_bridge.path import PATH_STEP_S, SampledPath
from aerotwin_px4_bridge.track import write_track
from aerotwin_rendering import WorldQueries
from aerotwin_trajectory_evaluation import (
    RecordedTrack,
    TrackOptions,
    make_track,
)
from aerotwin_trajectory_evaluation.recorded_track import STEP_S
from aerotwin_trajectory_evaluation.recordings import FlightRecording
from aerotwin_worlds import World

TAKEOFF_M = 2.5
_APPROACH_M_S = 2.0
assert STEP_S == PATH_STEP_S, "a track is sampled as a path is"


def plan_recorded_flight(
    recording: FlightRecording, options: TrackOptions, world: World
) -> tuple[RecordedTrack, World]:
    """Return the track of a recording, and the world with its start below the track's.

    Raises `UserError` if the recording cannot be flown there.
    """
    queries = WorldQueries(world)

    def ground_height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(queries.height(x, y))

    track = make_track(
        recording,
        options,
        plane=LocalTangentPlane(world.origin),
        start_p_map=world.start_p_map,
        start_yaw=world.start_yaw,
        ground_height=ground_height,
    )
    x, y = track.p_map[0, :2]
    start = np.array([x, y, float(queries.height(x, y))])
    return track, replace(world, start_p_map=start, start_yaw=float(track.yaw[0]))


def write_mission(track: RecordedTrack, folder: Path, *, ground_m: float) -> Path:
    """Write the track and the mission that flies it; return the path of the mission."""
    above = float(track.p_map[0, 2] - ground_m)
    if above > 100.0:
        raise ParameterError(
            f"lowest_m: the track begins {above:.0f} m above the ground, 100 m are allowed; "
            "lower lowest_m or raise_m"
        )
    path = SampledPath(
        p_map=track.p_map,
        v_map=track.v_map,
        a_map=track.a_map,
        yaw=track.yaw,
        yaw_rate=track.yaw_rate,
    )
    write_track(folder / "track.csv", path)
    content = {
        "takeoff_altitude_m": round(max(TAKEOFF_M, above), 3),
        "speed_m_s": _APPROACH_M_S,
        "track": str(folder / "track.csv"),
    }
    write_text_atomically(folder / "mission.yaml", yaml.safe_dump(content, sort_keys=False))
    return folder / "mission.yaml"
