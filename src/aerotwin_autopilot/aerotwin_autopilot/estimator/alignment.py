# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Start of the filter: attitude and biases at rest, noise, the errors of GNSS and compass."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_autopilot.estimator import layout as at
from aerotwin_autopilot.parameters import EstimatorParameters
from aerotwin_core.geodesy import GeodeticPoint

UNKNOWN_ACCURACY_M = 600.0  # HIL_GPS.eph of 65535 (6.55e2 m) says that the receiver does not know
USUAL_BIAS_M = (0.3, 0.5)
"""Correlated error of a receiver that reports no accuracy: a choice of this project."""

Pair = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class GnssErrors:
    """White and correlated position error, horizontal and vertical, 1 sigma [m]."""

    white_m: Pair
    bias_m: Pair


def gnss_errors(parameters: EstimatorParameters, reported_m: Pair) -> GnssErrors:
    """Return the expected errors of a receiver that reports an accuracy.

    A receiver reports the size of its whole error. The part that the white noise does not explain
    is correlated, unless the parameters provide the correlated error; then both are scaled up when
    the receiver reports more than both together.
    """
    white, bias = parameters.gnss_position_std_m, parameters.gnss_bias_std_m
    pairs = [
        _white_and_bias(white[i], None if bias is None else bias[i], reported_m[i], USUAL_BIAS_M[i])
        for i in range(2)
    ]
    return GnssErrors(
        white_m=(pairs[0][0], pairs[1][0]),
        bias_m=(pairs[0][1], pairs[1][1]),
    )


def _white_and_bias(white: float, bias: float | None, reported: float, usual: float) -> Pair:
    is_known = 0.0 < reported < UNKNOWN_ACCURACY_M
    if bias is None:
        correlated = math.sqrt(max(0.0, reported**2 - white**2)) if is_known else usual
        return white, correlated
    scale = max(1.0, reported / math.hypot(white, bias)) if is_known else 1.0
    return white * scale, bias * scale


def declination_deg(parameters: EstimatorParameters, origin: GeodeticPoint) -> float:
    """Return the declination from the parameters, or of the World Magnetic Model at the origin."""
    if parameters.magnetic_declination_deg is not None:
        return parameters.magnetic_declination_deg
    from pygeomag import GeoMag

    return float(
        GeoMag()
        .calculate(
            glat=origin.latitude_deg,
            glon=origin.longitude_deg,
            alt=origin.altitude_m / 1000.0,
            time=parameters.magnetic_model_year,
        )
        .d
    )


def filter_noise(
    parameters: EstimatorParameters, errors: GnssErrors, field_angle: float, field_slope: float
) -> at.Noise:
    """Return the numbers of the compiled filter; the field by its direction and its slope."""
    p = parameters
    return at.Noise(
        accel_density2=p.accel_noise_m_s2_sqrt_hz**2,
        gyro_density2=p.gyro_noise_rad_s_sqrt_hz**2,
        accel_walk2=p.accel_bias_walk_m_s3_sqrt_hz**2,
        gyro_walk2=p.gyro_bias_walk_rad_s2_sqrt_hz**2,
        gnss_variance_h=errors.white_m[0] ** 2,
        gnss_variance_v=errors.white_m[1] ** 2,
        gnss_bias_variance_h=errors.bias_m[0] ** 2,
        gnss_bias_variance_v=errors.bias_m[1] ** 2,
        gnss_bias_time=p.gnss_bias_time_s,
        gnss_velocity_variance_h=p.gnss_velocity_std_m_s[0] ** 2,
        gnss_velocity_variance_v=p.gnss_velocity_std_m_s[1] ** 2,
        baro_variance=p.barometer_std_m**2,
        baro_walk2=p.barometer_walk_m_sqrt_s**2,
        heading_variance=p.heading_std_rad**2,
        gate2=p.gate_sigma**2,
        delay=p.gnss_delay_s,
        field_angle=field_angle,
        field_slope=field_slope,
    )


STILL_RATE_RAD_S = 0.25
"""More than any turn-on bias plus noise; less than when the vehicle is carried."""
STILL_FORCE_M_S2 = 2.0
FIRST_YAW_STD_RAD = 0.03
FIRST_TILT_STD_RAD = 2.0e-3
FIRST_BARO_STD_M = 0.5
FIRST_VELOCITY_STD_M_S = 0.1


class StandStill:
    """Running sums of the sensors while the vehicle is still; motion resets them."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear all sums."""
        self.duration = 0.0
        self.n_inertial = self.n_field = self.n_height = 0
        self.accel, self.gyro, self.field_body = np.zeros(3), np.zeros(3), np.zeros(3)
        self.height = 0.0

    def add(self, dt: float, reading: np.ndarray, provided: int) -> None:
        """Add one sample dt [s] after the last one, or reset when the vehicle moves.

        `reading` (10,) is specific force, angular velocity, field, pressure altitude; bit 0 of
        `provided`: the field is new; bit 1: so is the altitude.
        """
        accel, gyro = reading[:3], reading[3:6]
        moves = (
            float(np.abs(gyro).max()) > STILL_RATE_RAD_S
            or abs(float(np.linalg.norm(accel)) - at.GRAVITY) > STILL_FORCE_M_S2
        )
        if moves:
            self.reset()
            return
        self.duration += dt
        self.n_inertial += 1
        self.accel += accel
        self.gyro += gyro
        if provided & 1:
            self.n_field += 1
            self.field_body += reading[6:9]
        if provided & 2:
            self.n_height += 1
            self.height += float(reading[9])

    @property
    def missing(self) -> str:
        """The sensor without data so far, as text; empty if there is none."""
        if self.n_field == 0:
            return "no magnetometer"
        if self.n_height == 0:
            return "no barometer"
        return ""


def level(accel: np.ndarray, field_body: np.ndarray, field_angle: float) -> Rotation:
    """Return the attitude in which gravity is down and the field points at field_angle.

    `accel`, `field_body` (3,): mean specific force, upwards at rest, and magnetic field (any unit),
    in body axes. `field_angle`: direction of the horizontal field in local axes, from east towards
    north [rad].
    """
    up = accel / np.linalg.norm(accel)
    east_like = np.cross(np.cross(up, field_body), up)
    first = east_like / np.linalg.norm(east_like)
    second = np.cross(up, first)
    R_level_body = np.vstack([first, second, up])
    return Rotation.from_rotvec([0.0, 0.0, field_angle]) * Rotation.from_matrix(R_level_body)


def first_covariance(
    R: np.ndarray, field_body: np.ndarray, parameters: EstimatorParameters, errors: GnssErrors
) -> np.ndarray:
    """Return the covariance after alignment on GNSS (R: local <- body).

    The origin is the position by the first fixes, so the vehicle is there but for their error:
    their mean white noise and their correlated error, which later fixes share. Position and GNSS
    bias have the same error with opposite signs, hence the cross terms.
    """
    covariance = _inertial_covariance(R, field_body, parameters)
    white = np.array([errors.white_m[0], errors.white_m[0], errors.white_m[1]])
    bias = np.diag(np.array([errors.bias_m[0], errors.bias_m[0], errors.bias_m[1]]) ** 2)
    position, gnss = slice(at.E_POSITION, at.E_POSITION + 3), slice(at.E_GNSS, at.E_GNSS + 3)
    covariance[gnss, gnss] = bias
    covariance[position, gnss] = covariance[gnss, position] = -bias
    covariance[position, position] = bias + np.diag(white**2) / parameters.origin_fixes
    # barometric bias = height measured - origin's - height: the height's error once more
    height = covariance[at.E_POSITION + 2, at.E_POSITION + 2]
    covariance[at.E_BARO, at.E_BARO] += height
    covariance[at.E_BARO, at.E_POSITION + 2] = covariance[at.E_POSITION + 2, at.E_BARO] = -height
    covariance[at.E_BARO, at.E_GNSS + 2] = covariance[at.E_GNSS + 2, at.E_BARO] = bias[2, 2]
    return covariance


def first_covariance_in_vision(
    R: np.ndarray, parameters: EstimatorParameters, row: np.ndarray
) -> np.ndarray:
    """Return the covariance after alignment in the vision's frame, from the pose in `row`."""
    covariance = _inertial_covariance(R, np.array([1.0, 0.0, 0.0]), parameters)
    for i in range(3):
        covariance[at.E_POSITION + i, at.E_POSITION + i] = row[at.V_VARIANCE_P]
    covariance[at.E_ATTITUDE + 2, at.E_ATTITUDE + 2] = row[at.V_VARIANCE_YAW]
    covariance[at.E_BARO, at.E_BARO] += row[at.V_VARIANCE_P]
    covariance[at.E_BARO, at.E_POSITION + 2] = -row[at.V_VARIANCE_P]
    covariance[at.E_POSITION + 2, at.E_BARO] = -row[at.V_VARIANCE_P]
    return covariance


def _inertial_covariance(
    R: np.ndarray, field_body: np.ndarray, parameters: EstimatorParameters
) -> np.ndarray:
    """Return the covariance of velocity, attitude and biases after a stand-still.

    The accelerometer bias tilts the first attitude, and the tilt turns the first heading: these
    errors are correlated, hence the cross terms.
    """
    covariance = np.zeros((at.N_CORE, at.N_CORE))

    def block(first: int, std: float | tuple[float, ...]) -> None:
        covariance[first : first + 3, first : first + 3] = np.diag(np.broadcast_to(std, 3) ** 2.0)

    block(at.E_VELOCITY, FIRST_VELOCITY_STD_M_S)
    block(at.E_ATTITUDE, (FIRST_TILT_STD_RAD, FIRST_TILT_STD_RAD, FIRST_YAW_STD_RAD))
    block(at.E_GYRO, parameters.gyro_bias_std_rad_s)
    block(at.E_ACCEL, parameters.accel_bias_std_m_s2)
    covariance[at.E_BARO, at.E_BARO] = FIRST_BARO_STD_M**2
    east, north, up = R @ field_body
    slope = up / (east**2 + north**2)
    tilt = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) / at.GRAVITY @ R
    tilt[2] = slope * (east * tilt[0] + north * tilt[1])
    attitude, accel = slice(at.E_ATTITUDE, at.E_ATTITUDE + 3), slice(at.E_ACCEL, at.E_ACCEL + 3)
    variance = parameters.accel_bias_std_m_s2**2
    covariance[attitude, attitude] += variance * tilt @ tilt.T
    covariance[attitude, accel] = variance * tilt
    covariance[accel, attitude] = variance * tilt.T
    return covariance
