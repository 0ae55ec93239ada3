# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Initial parameters of the filter: its noise, the local magnetic field, the GNSS errors."""

import math
from dataclasses import dataclass

from aerotwin_autopilot.estimator import layout
from aerotwin_autopilot.parameters import EstimatorParameters
from aerotwin_core.geodesy import GeodeticPoint

UNKNOWN_ACCURACY_M = 600.0
"""HIL_GPS.eph of 65535 (6.55e2 m) says that the receiver does not know."""
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
) -> layout.Noise:
    """Return the numbers of the compiled filter; the field by its direction and its slope."""
    p = parameters
    return layout.Noise(
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
