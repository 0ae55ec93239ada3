# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A survey as a mission file for the simulator, PX4 and the embedded autopilot."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import yaml

from aerotwin_core.parameters import parameter
from aerotwin_reconstruction.survey.pattern import Shot

_SETTLE_S = 1.0  # at the ends of lines, for the nose to come to rest
_STRAIGHT_M = 0.05  # a picture nearer to the line through its neighbours is no way-point


@dataclass(frozen=True, kw_only=True)
class FlightLimits:
    """Speed limits of a survey."""

    speed_m_s: float = parameter(
        8.0, text="Speed along the lines.", unit="m/s", minimum=0.1, maximum=30.0
    )
    climb_rate_m_s: float = parameter(
        3.0, text="Vertical part of the speed.", unit="m/s", minimum=0.05, maximum=10.0
    )
    acceleration_m_s2: float = parameter(
        2.0, text="Along the path and in corners.", unit="m/s^2", minimum=0.05, maximum=10.0
    )


def mission_text(shots: Sequence[Shot], limits: FlightLimits, start_p_map: np.ndarray) -> str:
    """Return the mission file of a survey; positions are the camera's, yaw is the camera's.

    Waypoints are at both ends of a line and at every bend, the last above the start `start_p_map`
    (3,) [m], where it lands. At the ends of lines the vehicle stops until its yaw is reached. The
    camera's tilt is the gimbal's, which a mission file does not hold.
    """
    height = shots[0].p_map[2] - float(start_p_map[2])
    if not 1.5 <= height <= 120.0:
        raise ValueError(
            f"a mission takes off to 1.5 m to 120 m above its start, the survey is flown "
            f"{height:.1f} m above it; choose another height"
        )
    has_lines = shots[-1].line > shots[0].line
    points = [
        {
            "position_m": [round(value, 3) for value in shot.p_map],
            "yaw_deg": round(math.degrees(math.remainder(shot.yaw, math.tau)), 3),
            "hold_s": _SETTLE_S if has_lines else 0.0,
        }
        for shot in turning_shots(shots)
    ]
    x, y = (round(float(value), 3) for value in start_p_map[:2])
    home = {"position_m": [x, y, round(shots[-1].p_map[2], 3)]}
    content = {
        "takeoff_altitude_m": round(height, 3),
        "speed_m_s": limits.speed_m_s,
        "climb_rate_m_s": limits.climb_rate_m_s,
        "acceleration_m_s2": limits.acceleration_m_s2,
        "waypoints": [*points, home],
    }
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None)


def turning_shots(shots: Sequence[Shot]) -> list[Shot]:
    """Return the shots at which the path bends or the heading changes, the ends included."""
    retained = [shots[0]]
    for before, here, after in zip(shots, shots[1:], shots[2:], strict=False):
        step = np.subtract(after.p_map, before.p_map)
        away = np.subtract(here.p_map, before.p_map)
        off = np.linalg.norm(np.cross(step, away)) / max(float(np.linalg.norm(step)), 1e-9)
        if off > _STRAIGHT_M or here.line != before.line or here.line != after.line:
            retained.append(here)
    return [*retained, shots[-1]] if len(shots) > 1 else retained
