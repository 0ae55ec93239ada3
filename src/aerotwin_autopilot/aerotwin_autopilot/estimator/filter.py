# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The estimator: aligns at rest, sets its local origin, then filters sample by sample."""

import math
from dataclasses import replace

import numpy as np

from aerotwin_autopilot.estimator import layout
from aerotwin_autopilot.estimator.alignment import StandStill, first_covariance, level
from aerotwin_autopilot.estimator.atmosphere import pressure_altitude
from aerotwin_autopilot.estimator.kernel import advance, store_sample
from aerotwin_autopilot.parameters import EstimatorParameters
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane

Triple = tuple[float, float, float]

MAXIMUM_STEP_S = 0.05
"""Longer gaps between samples are carried as this: the motion in them is unknown anyway."""
SETTLING_S = 2.0
READY_STD = {"position": 1.5, "velocity": 0.5, "tilt": 0.05, "heading": 0.15}
"""Largest standard deviations [m, m/s, rad, rad] with which the vehicle may arm."""


class Estimator:
    """Position, velocity, attitude, rates and biases from the sensors alone.

    Local axes are east, north, up at the place where the vehicle stands when the filter starts;
    on Earth that place is known as the mean of the first GNSS fixes. Body axes are forward, left,
    up. What the filter is sure of is the way since the start (barometer, GNSS velocity); the place
    on Earth is as uncertain as the correlated GNSS error.

    Parameters
    ----------
    parameters : EstimatorParameters
        Noise, delays, alignment.
    """

    def __init__(self, parameters: EstimatorParameters) -> None:
        self.parameters = parameters
        self.plane: LocalTangentPlane | None = None
        self.is_initialised = False
        self.output = np.zeros(layout.N_OUTPUT)
        self.output[layout.O_ATTITUDE + 3] = 1.0
        self.state = np.zeros(layout.N_STATE)
        self.covariance = np.zeros((layout.N_ERROR, layout.N_ERROR))
        self.monitor = np.zeros(layout.N_MONITOR)
        self._scratch = np.zeros((3, layout.N_ERROR))
        self._ring = np.zeros((layout.RING_LENGTH, layout.N_SAMPLE))
        self._fixes = np.zeros((layout.FIX_LENGTH, layout.N_FIX))
        self._cursor = np.zeros(layout.N_CURSOR, dtype=np.int64)
        self._still = StandStill()
        self._first_fixes: list[Triple] = []
        self._first_scale = [1.0, 1.0]
        self._initialised_at = math.inf
        self._last_fix_at = -math.inf
        self._previous: tuple[Triple, Triple] | None = None
        self._noise: np.ndarray | None = None
        self._now = 0.0

    def step(
        self,
        time_s: float,
        dt: float,
        accel: Triple,
        gyro: Triple,
        field: Triple | None,
        pressure_pa: float | None,
        *,
        is_still: bool,
    ) -> None:
        """Take one inertial sample (and what came with it) and bring `output` to its time."""
        self._now = time_s
        altitude = pressure_altitude(pressure_pa) if pressure_pa is not None else None
        if not self.is_initialised:
            self._still.add(dt, accel, gyro, field, altitude)
            self._try_to_initialise(time_s)
            return
        assert self._previous is not None
        assert self._noise is not None
        assert self.plane is not None
        a, w = self._previous
        self._previous = (accel, gyro)
        store_sample(
            self._ring, self._cursor, time_s, min(dt, MAXIMUM_STEP_S),
            (0.5 * (a[0] + accel[0]), 0.5 * (a[1] + accel[1]), 0.5 * (a[2] + accel[2])),
            (0.5 * (w[0] + gyro[0]), 0.5 * (w[1] + gyro[1]), 0.5 * (w[2] + gyro[2])),
            field is not None, field or (0.0, 0.0, 0.0),
            altitude is not None,
            (altitude or 0.0) - self.plane.origin.altitude_m,
            is_still,
        )  # fmt: skip
        advance(
            self.output, self.state, self.covariance, self._scratch, self._ring, self._fixes,
            self._cursor, self.monitor, self._noise, time_s, accel, gyro,
        )  # fmt: skip

    def add_fix(
        self,
        time_s: float,
        position: Triple,
        v_enu: Triple,
        horizontal_std_m: float,
        vertical_std_m: float,
    ) -> None:
        """Take a GNSS fix that arrived at time_s; position is (latitude, longitude, altitude)."""
        self._last_fix_at = time_s
        if self.plane is None or not self.is_initialised:
            self._first_fixes.append(position)
            del self._first_fixes[: -self.parameters.origin_fixes]
            self._first_scale = self._noise_scale(horizontal_std_m, vertical_std_m)
            return
        count = int(self._cursor[layout.C_FIX_COUNT])
        if count >= layout.FIX_LENGTH:
            return
        row = self._fixes[(int(self._cursor[layout.C_FIX_HEAD]) + count) % layout.FIX_LENGTH]
        row[layout.F_TIME] = time_s - self.parameters.gnss_delay_s
        row[layout.F_POSITION : layout.F_POSITION + 3] = self.plane.from_geodetic(*position)
        row[layout.F_VELOCITY : layout.F_VELOCITY + 3] = v_enu
        now = self._noise_scale(horizontal_std_m, vertical_std_m)
        row[layout.F_SCALE :] = [max(1.0, now[i] / self._first_scale[i]) for i in range(2)]
        self._cursor[layout.C_FIX_COUNT] += 1

    def _noise_scale(self, horizontal_std_m: float, vertical_std_m: float) -> list[float]:
        """Return how much worse than expected the receiver says it is (1 at least)."""
        p = self.parameters
        reported = (horizontal_std_m, vertical_std_m)
        return [
            max(1.0, reported[i] / math.hypot(p.gnss_position_std_m[i], p.gnss_bias_std_m[i]))
            for i in range(2)
        ]

    def _try_to_initialise(self, time_s: float) -> None:
        p = as_reported(self.parameters, self._first_scale)
        if self._still.duration < p.alignment_s or self._still.missing:
            return
        if len(self._first_fixes) < p.origin_fixes:
            return
        latitude, longitude, altitude = np.mean(np.array(self._first_fixes), axis=0)
        origin = GeodeticPoint(
            latitude_deg=float(latitude), longitude_deg=float(longitude), altitude_m=float(altitude)
        )
        self.plane = LocalTangentPlane(origin)
        field_angle = math.pi / 2 - math.radians(declination_deg(p, origin))
        still = self._still
        attitude = level(still.accel, still.field_body, field_angle)
        east, north, up = attitude.apply(still.field_body)
        noise = filter_noise(p, field_angle, float(up / math.hypot(east, north)))
        self._noise = np.array(noise)
        self.state[layout.X_ATTITUDE : layout.X_ATTITUDE + 4] = attitude.as_quat(canonical=True)
        self.state[layout.X_GYRO : layout.X_GYRO + 3] = still.gyro / still.n_inertial
        self.state[layout.X_BARO] = still.height / still.n_height - origin.altitude_m
        self.covariance[:] = first_covariance(attitude.as_matrix(), still.field_body, p)
        self.output[: layout.O_RATE] = self.state[: layout.O_RATE]
        mean_accel = tuple(float(v) for v in still.accel / still.n_inertial)
        mean_gyro = tuple(float(v) for v in still.gyro / still.n_inertial)
        self._previous = (mean_accel, mean_gyro)  # type: ignore[assignment]
        self._initialised_at = time_s
        self.is_initialised = True

    @property
    def is_position_valid(self) -> bool:
        """True while fixes arrive and the filter's position is good enough to fly on."""
        return (
            self.is_initialised
            and self._now - self._last_fix_at < 5.0
            and self.standard_deviations()["position"] < READY_STD["position"]
        )

    def standard_deviations(self) -> dict[str, float]:
        """Return the largest standard deviation of each block [m, m/s, rad, rad]."""
        variance = np.diagonal(self.covariance)
        e = layout
        return {
            "position": math.sqrt(max(variance[e.E_POSITION : e.E_POSITION + 3])),
            "velocity": math.sqrt(max(variance[e.E_VELOCITY : e.E_VELOCITY + 3])),
            "tilt": math.sqrt(max(variance[e.E_ATTITUDE : e.E_ATTITUDE + 2])),
            "heading": math.sqrt(variance[e.E_ATTITUDE + 2]),
        }

    def refusals(self) -> list[str]:
        """Return why the estimate is not good enough to arm, in words; empty when it is."""
        if not self.is_initialised:
            return [self._missing_for_alignment()]
        reasons = [
            f"estimator: {name} uncertain ({value:.2f}, limit {READY_STD[name]:.2f})"
            for name, value in self.standard_deviations().items()
            if value > READY_STD[name]
        ]
        if self._now - self._last_fix_at > 5.0:
            reasons.append("no GNSS fix for 5 s")
        if self._now - self._initialised_at < SETTLING_S:
            reasons.append("estimator settling")
        return reasons

    def _missing_for_alignment(self) -> str:
        if self._still.duration < self.parameters.alignment_s:
            return "aligning: keep the vehicle still"
        if self._still.missing:
            return self._still.missing
        return f"waiting for GNSS ({len(self._first_fixes)} of {self.parameters.origin_fixes})"


def as_reported(parameters: EstimatorParameters, scale: list[float]) -> EstimatorParameters:
    """Return the parameters with a GNSS that is worse by a factor, horizontal and vertical."""
    h, v = scale
    white, bias = parameters.gnss_position_std_m, parameters.gnss_bias_std_m
    return replace(
        parameters,
        gnss_position_std_m=(white[0] * h, white[1] * v),
        gnss_bias_std_m=(bias[0] * h, bias[1] * v),
    )


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
    parameters: EstimatorParameters, field_angle: float, field_slope: float
) -> layout.Noise:
    """Return the numbers of the compiled filter; the field by its direction and its slope.

    The GNSS error b(t) is Gauss-Markov; the local origin has taken up b(0), so the filter sees
    b(t) - b(0), whose variance 2 s^2 (1 - exp(-t/T)) is that of a Gauss-Markov process of twice
    the variance and twice the time that begins at zero.
    """
    p = parameters
    return layout.Noise(
        accel_density2=p.accel_noise_m_s2_sqrt_hz**2,
        gyro_density2=p.gyro_noise_rad_s_sqrt_hz**2,
        accel_walk2=p.accel_bias_walk_m_s3_sqrt_hz**2,
        gyro_walk2=p.gyro_bias_walk_rad_s2_sqrt_hz**2,
        gnss_variance_h=p.gnss_position_std_m[0] ** 2,
        gnss_variance_v=p.gnss_position_std_m[1] ** 2,
        gnss_bias_variance_h=2.0 * p.gnss_bias_std_m[0] ** 2,
        gnss_bias_variance_v=2.0 * p.gnss_bias_std_m[1] ** 2,
        gnss_bias_time=2.0 * p.gnss_bias_time_s,
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
