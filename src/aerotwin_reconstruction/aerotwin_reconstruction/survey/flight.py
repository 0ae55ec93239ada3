# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From planned pictures to taken ones: how a real flight and its receiver differ from the plan."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
MISSED_M = 0.4
"""How far a flight that is not simulated misses its plan, in each axis [m]."""
REACH_M = 5.0
"""A vehicle that was never nearer to a place than this has not been there [m]."""
LEFT_M = 0.3
"""A vehicle that is so much farther than it was leaves; a hover strays less."""
AIMED_DEG = 5.0
"""A nose that points farther off is still turning."""
_BETWEEN_S = 2.0


@dataclass(frozen=True, kw_only=True)
class ExifGnssNoise:
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
class GimbalErrors:
    """How a gimbal that holds a camera misses what it is to hold, and what it tells of it."""

    held_deg: float = parameter(
        1.0, text="Standard deviation from the wanted attitude, about each axis.", unit="deg",
        minimum=0.0,
    )  # fmt: skip
    told_deg: float = parameter(
        1.0,
        text="Standard deviation of the attitude that the gimbal tells, about each axis.",
        unit="deg",
        minimum=0.0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class FlownTrack:
    """Where a vehicle was on a flight, and where it believed to be.

    Attributes
    ----------
    stamps_s : (n,) array
        Increasing [s].
    p_map_body : (n, 3) array
        True positions [m].
    yaw : (n,) array
        True headings, counter-clockwise from east [rad].
    p_map_told : (n, 3) array
        Positions by its autopilot, which fire the camera [m]; NaN before there are any.
    yaw_told : (n,) array
        Headings by its autopilot, likewise [rad].
    """

    stamps_s: np.ndarray
    p_map_body: np.ndarray
    yaw: np.ndarray
    p_map_reported: np.ndarray
    yaw_reported: np.ndarray


@dataclass(frozen=True, kw_only=True)
class CapturedShot:
    """A picture that was taken.

    Attributes
    ----------
    T_map_optical : (4, 4) array
        True pose of the camera.
    p_map_gnss : (3,) array
        Where the receiver says it was [m].
    R_map_optical_told : (3, 3) array
        Attitude that the gimbal tells.
    stamp_s : float
        Time of the flight at which it was taken [s].
    """

    T_map_optical: np.ndarray
    p_map_gnss: np.ndarray
    R_map_optical_reported: np.ndarray
    stamp_s: float


def camera_rotation(yaw: float, pitch_down: float, roll: float = 0.0) -> np.ndarray:
    """Return R_map_optical of a camera, turned by yaw, then pitch, then roll about its axis."""
    from scipy.spatial.transform import Rotation

    R_map_cam = Rotation.from_euler("ZYX", [yaw, pitch_down, roll]).as_matrix()
    return R_map_cam @ R_CAM_OPTICAL


def fly_shots(
    shots: Sequence[Shot],
    gimbal: GimbalErrors,
    gnss: ExifGnssNoise,
    *,
    seed: int,
    missed_m: float = MISSED_M,
) -> list[CapturedShot]:
    """Return the pictures of a flight that misses its plan by seeded random amounts.

    Errors of successive pictures are independent: pictures are a second or more apart, longer
    than a position controller's memory. Nothing flies here.

    Parameters
    ----------
    shots : sequence of Shot
    gimbal : GimbalErrors
    gnss : ExifGnssNoise
    seed : int
    missed_m : float
        Standard deviation from the planned place, in each axis [m].
    """
    camera = _Camera(gimbal, gnss, np.random.default_rng([seed, 61]), missed_m)
    return [
        camera.capture(shot, np.array(shot.p_map), shot.yaw, _BETWEEN_S * k)
        for k, shot in enumerate(shots)
    ]


def shots_of_flight(
    shots: Sequence[Shot],
    track: FlownTrack,
    gimbal: GimbalErrors,
    gnss: ExifGnssNoise,
    *,
    seed: int,
) -> list[CapturedShot]:
    """Return the pictures of a flight: taken where it was when it believed to be at each place.

    The camera sits at the body's origin. Its gimbal takes out roll and pitch of the vehicle and
    turns with its nose; the receiver's antenna is reduced to the camera.

    Parameters
    ----------
    shots : sequence of Shot
        What was planned, in the order of the flight.
    track : FlownTrack
    gimbal : GimbalErrors
    gnss : ExifGnssNoise
    seed : int

    Raises
    ------
    ValueError
        If the flight did not pass a place, as `trigger`.
    """
    camera = _Camera(gimbal, gnss, np.random.default_rng([seed, 67]))
    return [
        camera.capture(shot, track.p_map_body[k], float(track.yaw[k]), float(track.stamps_s[k]))
        for shot, k in zip(shots, trigger(shots, track), strict=True)
    ]


def trigger(shots: Sequence[Shot], track: FlownTrack) -> np.ndarray:
    """Return at which samples of a flight the camera fires, (m,) int.

    It fires where the vehicle, by its own belief and looking the right way, is nearest to the place
    of the next picture before it leaves it again; places are passed in their order.

    Raises
    ------
    ValueError
        If a place is never come within `REACH_M` of with the nose within `AIMED_DEG`.
    """
    fired = np.zeros(len(shots), np.int64)
    last = -1
    for n, shot in enumerate(shots):
        away = np.linalg.norm(track.p_map_reported[last + 1 :] - shot.p_map, axis=1)
        turned = np.cos(track.yaw_reported[last + 1 :] - shot.yaw)
        suits = (away < REACH_M) & (turned > np.cos(np.radians(AIMED_DEG)))
        if not suits.any():
            x, y, z = shot.p_map
            raise ValueError(
                f"the flight did not come within {REACH_M:g} m of picture {n} at ({x:.1f}, "
                f"{y:.1f}, {z:.1f}) m with its nose where it was planned"
            )
        first = int(np.argmax(suits))
        has_left = away[first:] > np.minimum.accumulate(away[first:]) + LEFT_M
        end = first + int(np.argmax(has_left)) if has_left.any() else len(away)
        last += 1 + first + int(np.argmin(np.where(suits, away, np.inf)[first:end]))
        fired[n] = last
    return fired


class _Camera:
    """Takes pictures with the errors of a gimbal and of a receiver, `missed_m` from where told."""

    def __init__(
        self,
        gimbal: GimbalErrors,
        gnss: ExifGnssNoise,
        rng: np.random.Generator,
        missed_m: float = 0.0,
    ) -> None:
        self._gimbal, self._rng, self._missed_m = gimbal, rng, missed_m
        self._bias = rng.normal(0.0, gnss.bias_m, 3)
        self._spread = np.array([gnss.horizontal_m, gnss.horizontal_m, gnss.vertical_m])

    def capture(self, shot: Shot, p_map: np.ndarray, yaw: float, stamp_s: float) -> CapturedShot:
        R = camera_rotation(yaw, shot.pitch_down) @ self._turn(self._gimbal.held_deg)
        p = p_map + self._rng.normal(0.0, self._missed_m, 3)
        return CapturedShot(
            T_map_optical=make_transform(R, p),
            p_map_gnss=p + self._bias + self._rng.normal(0.0, self._spread),
            R_map_optical_reported=R @ self._turn(self._gimbal.told_deg),
            stamp_s=stamp_s,
        )

    def _turn(self, deg: float) -> np.ndarray:
        from scipy.spatial.transform import Rotation

        return Rotation.from_rotvec(self._rng.normal(0.0, np.radians(deg), 3)).as_matrix()
