# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From planned to taken pictures: how a real flight and its receiver deviate from the plan."""

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
MISSED_M = 0.4  # deviation of a flight from its plan without simulation, in each axis [m]
REACH_M = 5.0  # largest distance from a position at which it counts as reached [m]
LEFT_M = 0.3  # increase of the distance that means departure; a hover drifts less
AIMED_DEG = 5.0  # yaw error above which the vehicle is still turning
_BETWEEN_S = 2.0


@dataclass(frozen=True, kw_only=True)
class ExifGnssNoise:
    """Errors of the positions in EXIF."""

    horizontal_m: float = parameter(
        0.02, text="Standard deviation east and north.", unit="m", minimum=0.0001, maximum=50.0
    )
    vertical_m: float = parameter(
        0.04, text="Standard deviation upwards.", unit="m", minimum=0.0001, maximum=50.0
    )
    bias_m: float = parameter(
        0.0, text="Of an offset common to all pictures.", unit="m", minimum=0.0, maximum=100.0
    )


@dataclass(frozen=True, kw_only=True)
class GimbalErrors:
    """Pointing errors of a camera gimbal, and errors of the attitude that it reports."""

    pointing_error_deg: float = parameter(
        1.0, text="Pointing error about each axis, 1 sigma.", unit="deg", minimum=0.0,
        old_name="held_deg",
    )  # fmt: skip
    attitude_error_deg: float = parameter(
        1.0, text="Error of the reported attitude about each axis.", unit="deg", minimum=0.0,
        old_name="told_deg",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class FlownTrack:
    """True and estimated poses of a vehicle on a flight.

    Attributes
    ----------
    stamps_s : (n,) array
        Increasing [s].
    p_map_body, yaw : (n, 3), (n,) arrays
        True positions [m] and headings, counter-clockwise from east [rad].
    p_map_told, yaw_told : (n, 3), (n,) arrays
        The same as estimated by its autopilot, which trigger the camera; NaN before there are any.
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
    p_map_gnss, R_map_optical_told : (3,), (3, 3) arrays
        Position reported by the receiver [m], and attitude reported by the gimbal.
    stamp_s : float
        Time of the flight [s].
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
    shots: Sequence[Shot], gimbal: GimbalErrors, gnss: ExifGnssNoise, *, seed: int
) -> list[CapturedShot]:
    """Return the pictures of a flight that deviates from its plan by seeded random amounts.

    The standard deviation from the planned position is `MISSED_M` in each axis. Errors of
    successive pictures are independent: pictures are a second or more apart, longer than a position
    controller's memory. No flight is simulated.
    """
    camera = _Camera(gimbal, gnss, np.random.default_rng([seed, 61]), MISSED_M)
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
    """Return the pictures of a flight: taken where its estimated pose reaches each planned shot.

    The camera is at the body's origin. Its gimbal compensates roll and pitch of the vehicle and
    turns with its nose; the receiver's antenna is reduced to the camera. `shots` are in the order
    of the flight.

    Raises
    ------
    ValueError
        If the flight did not pass a planned position, as `trigger`.
    """
    camera = _Camera(gimbal, gnss, np.random.default_rng([seed, 67]))
    return [
        camera.capture(shot, track.p_map_body[k], float(track.yaw[k]), float(track.stamps_s[k]))
        for shot, k in zip(shots, trigger(shots, track), strict=True)
    ]


def trigger(shots: Sequence[Shot], track: FlownTrack) -> np.ndarray:
    """Return the samples of a flight at which the camera fires, (m,) int.

    It fires where the estimated position, with the right heading, is nearest to that of the next
    picture before it leaves it again; positions are passed in their order.

    Raises ValueError if the flight never comes within `REACH_M` of a position with the nose within
    `AIMED_DEG`.
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
    """Takes pictures with gimbal and receiver errors, `missed_m` from the requested position."""

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
        R = camera_rotation(yaw, shot.pitch_down) @ self._turn(self._gimbal.pointing_error_deg)
        p = p_map + self._rng.normal(0.0, self._missed_m, 3)
        return CapturedShot(
            T_map_optical=make_transform(R, p),
            p_map_gnss=p + self._bias + self._rng.normal(0.0, self._spread),
            R_map_optical_reported=R @ self._turn(self._gimbal.attitude_error_deg),
            stamp_s=stamp_s,
        )

    def _turn(self, deg: float) -> np.ndarray:
        from scipy.spatial.transform import Rotation

        return Rotation.from_rotvec(self._rng.normal(0.0, np.radians(deg), 3)).as_matrix()
