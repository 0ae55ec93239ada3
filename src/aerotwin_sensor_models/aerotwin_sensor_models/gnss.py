# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Satellite navigation receiver: position on WGS84 and velocity, with consistent accuracies."""

import dataclasses
import math

import numpy as np

from aerotwin_core.geodesy import AzimuthalEquidistant, LocalTangentPlane, MapProjection
from aerotwin_core.parameters import parameter
from aerotwin_sensor_models.noise import gauss_markov, require_step

WGS84 = "wgs84"
SPHERE = "azimuthal_equidistant"
Window = tuple[float, float]
Step = tuple[float, float, float, float, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class GnssParameters:
    """A GNSS receiver; every sigma is that of a reading, whatever the rate."""

    rate_hz: float = parameter(1.0, unit="Hz", minimum=0.01, text="readings per second")
    delay_s: float = parameter(
        0.0, unit="s", minimum=0.0, text="age of a reading when it is delivered"
    )
    projection: str = parameter(
        WGS84, choices=(WGS84, SPHERE), text="from map to latitude and longitude: exact, or as PX4"
    )
    white_horizontal_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="white noise of east and north, standard deviation each"
    )
    white_vertical_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="white noise of the altitude, standard deviation"
    )
    walk_horizontal_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="Gauss-Markov error of east and north, standard deviation"
    )
    walk_vertical_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="Gauss-Markov error of the altitude, standard deviation"
    )
    walk_correlation_time_s: float = parameter(
        60.0, unit="s", minimum=1e-3, text="correlation time of the Gauss-Markov error"
    )
    turn_on_horizontal_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="constant error of east and north, drawn once, sigma each"
    )
    turn_on_vertical_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="constant error of the altitude, drawn once, sigma"
    )
    velocity_horizontal_m_s: float = parameter(
        0.0, unit="m/s", minimum=0.0, text="white noise of east and north velocity, each"
    )
    velocity_vertical_m_s: float = parameter(
        0.0, unit="m/s", minimum=0.0, text="white noise of the vertical velocity"
    )
    velocity_walk_horizontal_m_s: float = parameter(
        0.0, unit="m/s", minimum=0.0, text="Gauss-Markov error of east and north velocity, each"
    )
    velocity_walk_vertical_m_s: float = parameter(
        0.0, unit="m/s", minimum=0.0, text="Gauss-Markov error of the vertical velocity"
    )
    velocity_correlation_time_s: float = parameter(
        10.0, unit="s", minimum=1e-3, text="correlation time of the error of the velocity"
    )
    multipath_horizontal_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="steps by reflections: sigma of east and north, each"
    )
    multipath_vertical_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="steps by reflections: sigma of the altitude"
    )
    multipath_interval_s: float = parameter(
        30.0, unit="s", minimum=1e-3, text="mean time between two such steps (a Poisson process)"
    )
    multipath_steps: tuple[Step, ...] = parameter(
        (), text="steps on purpose: from [s], to [s], east [m], north [m], up [m], times as below"
    )
    outages_s: tuple[Window, ...] = parameter(
        (), unit="s", text="no fix from, to; counted from the switching on"
    )

    def __post_init__(self) -> None:
        for name in ("multipath_steps", "outages_s"):
            for window in getattr(self, name):
                if not 0.0 <= window[0] < window[1]:
                    raise ValueError(
                        f"{name}: each must start at 0 s or later and end after that, got {window}"
                    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GnssSample:
    """One reading: WGS84 position, velocity in map axes [m/s], and their standard deviations.

    The standard deviations are along east, north and up [m], [m/s], of the errors that the model
    really makes, white, correlated and constant together, without multipath: a receiver does not
    know of it. Without a fix (`has_fix` false) position and velocity are NaN.
    """

    latitude_deg: float
    longitude_deg: float
    altitude_m: float
    v_map: np.ndarray
    position_std_m: np.ndarray
    velocity_std_m_s: np.ndarray
    has_fix: bool = True


def _east_north_up(horizontal: float, vertical: float) -> np.ndarray:
    return np.array([horizontal, horizontal, vertical])


class Gnss:
    """A GNSS receiver whose correlated errors wander over time.

    The caller applies the delay by sampling the truth of `parameters.delay_s` ago. Presets of its
    errors: see `load_preset`. `rng` is not shared, see `seed_sequence`. `plane` is the map: exact
    WGS84 about its origin; projection azimuthal_equidistant uses only the origin.
    """

    def __init__(
        self, parameters: GnssParameters, rng: np.random.Generator, plane: LocalTangentPlane
    ) -> None:
        p = self.parameters = parameters
        self._rng = rng
        is_sphere = p.projection == SPHERE
        self._projection: MapProjection = AzimuthalEquidistant(plane.origin) if is_sphere else plane
        self._white = _east_north_up(p.white_horizontal_m, p.white_vertical_m)
        self._walk_sigma = _east_north_up(p.walk_horizontal_m, p.walk_vertical_m)
        self._velocity_white = _east_north_up(p.velocity_horizontal_m_s, p.velocity_vertical_m_s)
        self._velocity_sigma = _east_north_up(
            p.velocity_walk_horizontal_m_s, p.velocity_walk_vertical_m_s
        )
        self._reflection_sigma = _east_north_up(p.multipath_horizontal_m, p.multipath_vertical_m)
        turn_on_sigma = _east_north_up(p.turn_on_horizontal_m, p.turn_on_vertical_m)
        first = rng.standard_normal((4, 3))
        self._walk = self._walk_sigma * first[0]
        self._velocity_walk = self._velocity_sigma * first[1]
        self._reflection = self._reflection_sigma * first[2]
        self._turn_on = turn_on_sigma * first[3]
        self._position_std = np.hypot(np.hypot(self._white, self._walk_sigma), turn_on_sigma)
        self._velocity_std = np.hypot(self._velocity_white, self._velocity_sigma)
        self._time_s = 0.0

    def sample(self, dt: float, p_map: np.ndarray, v_map: np.ndarray) -> GnssSample:
        """Return the reading dt [s] after the last one, of a true position and velocity in map."""
        require_step(dt)
        self._time_s += dt
        normals = self._rng.standard_normal((5, 3))
        self._wander(dt, normals, self._rng.random())
        if any(start <= self._time_s < end for start, end in self.parameters.outages_s):
            return self.no_fix()
        error = self.correlated_error_m + self.multipath_m + self._white * normals[0]
        latitude, longitude, altitude = self._projection.to_geodetic(np.add(p_map, error))
        velocity_error = self._velocity_walk + self._velocity_white * normals[1]
        return GnssSample(
            latitude_deg=latitude,
            longitude_deg=longitude,
            altitude_m=altitude,
            v_map=np.add(v_map, velocity_error),
            position_std_m=self._position_std.copy(),
            velocity_std_m_s=self._velocity_std.copy(),
        )

    @property
    def correlated_error_m(self) -> np.ndarray:
        """Return the current position error without white noise and multipath [m], to evaluate."""
        error: np.ndarray = self._walk + self._turn_on
        return error

    @property
    def correlated_velocity_error_m_s(self) -> np.ndarray:
        """Return the correlated part of the current velocity error [m/s], for the evaluation."""
        return self._velocity_walk.copy()

    @property
    def multipath_m(self) -> np.ndarray:
        """Return the current error by reflections, east, north, up [m]."""
        error = self._reflection.copy()
        for start, end, *step in self.parameters.multipath_steps:
            if start <= self._time_s < end:
                error += step
        return error

    def _wander(self, dt: float, normals: np.ndarray, chance: float) -> None:
        """Advance the correlated errors by dt, each in exact discretisation."""
        p = self.parameters
        decay, gain = gauss_markov(dt, p.walk_correlation_time_s)
        self._walk = decay * self._walk + gain * self._walk_sigma * normals[2]
        decay, gain = gauss_markov(dt, p.velocity_correlation_time_s)
        self._velocity_walk = decay * self._velocity_walk + gain * self._velocity_sigma * normals[3]
        # of a Poisson process, any number of steps but none: the last one counts
        if chance < -math.expm1(-dt / p.multipath_interval_s):
            self._reflection = self._reflection_sigma * normals[4]

    @staticmethod
    def no_fix() -> GnssSample:
        """Return the reading of a receiver without a fix."""
        return GnssSample(
            latitude_deg=math.nan,
            longitude_deg=math.nan,
            altitude_m=math.nan,
            v_map=np.full(3, math.nan),
            position_std_m=np.full(3, math.inf),
            velocity_std_m_s=np.full(3, math.inf),
            has_fix=False,
        )
