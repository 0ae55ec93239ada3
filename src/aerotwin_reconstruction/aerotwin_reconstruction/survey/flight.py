# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From planned pictures to taken ones: how a real flight and its receiver differ from the plan."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import R_CAM_OPTICAL, make_transform
from aerotwin_core.parameters import parameter
from aerotwin_reconstruction.survey.pattern import Shot

GNSS_PRESETS = {
    "rtk": {"horizontal_m": 0.02, "vertical_m": 0.04},
    "standalone": {"horizontal_m": 0.3, "vertical_m": 0.6, "bias_m": 1.5},
    "exact": {"horizontal_m": 0.001, "vertical_m": 0.001},
}
"""rtk: fixed carrier-phase solutions with the antenna's motion, 2 cm across and twice that up.
standalone: code solutions of one flight, an offset common to all of its pictures (ionosphere,
orbits: ICAO Annex 10, GPS SPS, 95 % 9 m) and the scatter of a filtered receiver."""


@dataclass(frozen=True, kw_only=True)
class GnssNoise:
    """Errors of the positions in EXIF."""

    horizontal_m: float = parameter(
        0.02,
        text="Standard deviation east and north, each.",
        unit="m",
        minimum=0.0001,
        maximum=50.0,
    )
    vertical_m: float = parameter(
        0.04, text="Standard deviation upwards.", unit="m", minimum=0.0001, maximum=50.0
    )
    bias_m: float = parameter(
        0.0,
        text="Standard deviation of an offset common to all pictures, in each axis.",
        unit="m",
        minimum=0.0,
        maximum=100.0,
    )


@dataclass(frozen=True, kw_only=True)
class FlightJitter:
    """How a vehicle and its gimbal miss the plan, and how well the gimbal knows where it looks."""

    position_m: float = parameter(
        0.4, text="Standard deviation from the planned place, in each axis.", unit="m", minimum=0.0
    )
    attitude_deg: float = parameter(
        1.0, text="Standard deviation from the planned attitude, about each axis.", unit="deg",
        minimum=0.0,
    )  # fmt: skip
    gimbal_deg: float = parameter(
        1.0,
        text="Standard deviation of the attitude that the gimbal tells, about each axis.",
        unit="deg",
        minimum=0.0,
    )


@dataclass(frozen=True, kw_only=True)
class TakenShot:
    """A picture that was taken.

    Attributes
    ----------
    T_map_optical : (4, 4) array
        True pose of the camera.
    p_map_gnss : (3,) array
        Where the receiver says it was [m].
    R_map_optical_told : (3, 3) array
        Attitude that the gimbal tells.
    """

    T_map_optical: np.ndarray
    p_map_gnss: np.ndarray
    R_map_optical_told: np.ndarray


def camera_rotation(yaw: float, pitch_down: float, roll: float = 0.0) -> np.ndarray:
    """Return R_map_optical of a camera, turned by yaw, then pitch, then roll about its axis."""
    R_map_cam = Rotation.from_euler("ZYX", [yaw, pitch_down, roll]).as_matrix()
    return R_map_cam @ R_CAM_OPTICAL


def fly_shots(
    shots: Sequence[Shot], jitter: FlightJitter, gnss: GnssNoise, *, seed: int
) -> list[TakenShot]:
    """Return the pictures of a flight that misses its plan by seeded random amounts.

    Errors of successive pictures are independent: pictures are a second or more apart, longer
    than a position controller's memory. Nothing flies here.
    """
    rng = np.random.default_rng([seed, 61])
    bias = rng.normal(0.0, gnss.bias_m, 3)
    spread = np.array([gnss.horizontal_m, gnss.horizontal_m, gnss.vertical_m])
    taken = []
    for shot in shots:
        planned = camera_rotation(shot.yaw, shot.pitch_down)
        R = planned @ _small_turn(rng, jitter.attitude_deg)
        p = np.array(shot.p_map) + rng.normal(0.0, jitter.position_m, 3)
        taken.append(
            TakenShot(
                T_map_optical=make_transform(R, p),
                p_map_gnss=p + bias + rng.normal(0.0, spread),
                R_map_optical_told=R @ _small_turn(rng, jitter.gimbal_deg),
            )
        )
    return taken


def _small_turn(rng: np.random.Generator, deg: float) -> np.ndarray:
    return Rotation.from_rotvec(rng.normal(0.0, np.radians(deg), 3)).as_matrix()
