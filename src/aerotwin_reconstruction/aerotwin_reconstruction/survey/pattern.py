# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight patterns: camera poses whose pictures have the requested overlap.

A pattern is computed from the area, the height above ground and the camera: forward overlap sets
the distance between pictures, side overlap that between lines.
"""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_reconstruction.survey.camera import SurveyCamera

PATTERNS = ("lawnmower", "crosshatch", "orbit", "mapping")
MOST_SHOTS = 5000


@dataclass(frozen=True, kw_only=True)
class PatternParameters:
    """Coverage and geometry of a survey flight."""

    pattern: str = parameter(
        "mapping",
        text="lawnmower: parallel lines, camera down. crosshatch: lines both ways, camera tilted "
        "to the side of the line, alternating. orbit: circle, camera to its centre. mapping: "
        "lawnmower and crosshatch, for ground, roofs and walls.",
        choices=PATTERNS,
    )
    height_m: float = parameter(
        45.0, text="Height above the ground.", unit="m", minimum=2.0, maximum=500.0
    )
    forward_overlap: float = parameter(
        0.8, text="Share of a picture that the next one shows.", minimum=0.0, maximum=0.98
    )
    side_overlap: float = parameter(
        0.6, text="Share of a picture that the next line shows.", minimum=0.0, maximum=0.98
    )
    tilt_deg: float = parameter(
        35.0, text="Camera tilt from down in crosshatch.", unit="deg", minimum=0.0, maximum=75.0
    )
    heading_deg: float = parameter(
        0.0, text="Of the lines, from east to north.", unit="deg", minimum=-360.0, maximum=360.0
    )


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A planned picture.

    Attributes
    ----------
    p_map : (3,) tuple of float
        Position of the camera [m].
    yaw, pitch_down : float
        Heading, counter-clockwise from east, and angle of the axis below the horizon [rad].
    line : int
        Number of the flight line; shots of a line are consecutive.
    """

    p_map: tuple[float, float, float]
    yaw: float
    pitch_down: float
    line: int


def plan_shots(
    parameters: PatternParameters,
    camera: SurveyCamera,
    *,
    low_m: tuple[float, float],
    high_m: tuple[float, float],
    ground_z_m: float,
) -> tuple[Shot, ...]:
    """Return the pictures of a survey in the order in which they are taken.

    `low_m` and `high_m` (x, y) are corners of the area, `ground_z_m` is the height of the ground in
    the map [m].

    Raises
    ------
    ValueError
        If the area is empty or would need more than 5000 pictures.
    """
    size = np.subtract(high_m, low_m)
    if not (np.isfinite(size).all() and (size > 0.0).all()):
        raise ValueError(f"the area must have low_m below high_m, got {low_m} and {high_m}")
    z = ground_z_m + parameters.height_m
    middle = 0.5 * np.add(low_m, high_m)
    if parameters.pattern == "orbit":
        return _orbit(parameters, camera, middle, 0.5 * float(np.hypot(*size)), z)
    shots: list[Shot] = []
    if parameters.pattern in ("lawnmower", "mapping"):
        shots += _lines(parameters, camera, middle, size, z, turn=0.0, tilt=0.0, first_line=0)
    if parameters.pattern in ("crosshatch", "mapping"):
        tilt = math.radians(parameters.tilt_deg)
        for turn in (0.0, 0.5 * math.pi):
            first_line = shots[-1].line + 1 if shots else 0
            shots += _lines(
                parameters, camera, middle, size, z, turn=turn, tilt=tilt, first_line=first_line
            )
    return tuple(shots)


def shot_distance_m(
    parameters: PatternParameters, camera: SurveyCamera, tilt: float
) -> tuple[float, float]:
    """Return the distance between the pictures of a line, and that between lines [m].

    The picture's width is along lines flown with the camera tilted to the side, its height along
    lines flown with the camera down, as aircraft do. A tilted camera looks from farther, and its
    lines look to either side in turn: neighbours of one direction are two lines apart.
    """
    across, down = camera.footprint(parameters.height_m / math.cos(tilt))
    along, aside = (across, down / math.cos(tilt)) if tilt > 0.0 else (down, across)
    return along * (1.0 - parameters.forward_overlap), aside * (1.0 - parameters.side_overlap)


def _lines(
    parameters: PatternParameters,
    camera: SurveyCamera,
    middle: np.ndarray,
    size: np.ndarray,
    z: float,
    *,
    turn: float,
    tilt: float,
    first_line: int,
) -> list[Shot]:
    """Return parallel lines over a rectangle, there and back; a tilted camera looks to the left.

    On the way back, the left is the other side, so that walls of all directions are seen. The lines
    of a tilted camera begin outside, where it looks at the area's rim.
    """
    heading = math.radians(parameters.heading_deg) + turn
    forward = np.array([math.cos(heading), math.sin(heading)])
    left = np.array([-forward[1], forward[0]])
    length, width = (float(np.abs(axis) @ size) for axis in (forward, left))
    width += 2.0 * parameters.height_m * math.tan(tilt)
    step, spacing = shot_distance_m(parameters, camera, tilt)
    n_steps = max(math.ceil(length / step), 1)
    n_lines = max(math.ceil(width / spacing), 1)
    _require_few(n_lines * (n_steps + 1))
    along = np.linspace(-0.5, 0.5, n_steps + 1) * length
    asides = (np.arange(n_lines) + 0.5) / n_lines * width - 0.5 * width
    shots = []
    for k, aside in enumerate(asides):
        way = 1.0 if k % 2 == 0 else -1.0
        for s in way * along:
            x, y = middle + s * forward + aside * left
            looks = heading if tilt == 0.0 else heading + way * 0.5 * math.pi
            shots.append(
                Shot(
                    p_map=(float(x), float(y), z),
                    yaw=looks,
                    pitch_down=0.5 * math.pi - tilt,
                    line=first_line + k,
                )
            )
    return shots


def _orbit(
    parameters: PatternParameters,
    camera: SurveyCamera,
    middle: np.ndarray,
    radius_m: float,
    z: float,
) -> tuple[Shot, ...]:
    """Return a circle about the area, the camera on its middle; forward overlap sets the step."""
    distance = math.hypot(radius_m, parameters.height_m)
    step, _ = camera.footprint(distance)
    n = max(math.ceil(2.0 * math.pi * radius_m / (step * (1.0 - parameters.forward_overlap))), 8)
    _require_few(n)
    down = math.atan2(parameters.height_m, radius_m)
    shots = []
    for angle in 2.0 * math.pi * np.arange(n) / n:
        x, y = middle + radius_m * np.array([math.cos(angle), math.sin(angle)])
        place = (float(x), float(y), z)
        shots.append(Shot(p_map=place, yaw=float(angle) + math.pi, pitch_down=down, line=0))
    return tuple(shots)


def _require_few(n_shots: int) -> None:
    if n_shots > MOST_SHOTS:
        raise ValueError(
            f"the pattern needs {n_shots} pictures, {MOST_SHOTS} at most; choose a smaller area, "
            "a greater height or less overlap"
        )
