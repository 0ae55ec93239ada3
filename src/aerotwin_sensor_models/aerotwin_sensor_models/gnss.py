# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Satellite navigation receiver: position on WGS84 and velocity, with honest accuracies."""

import dataclasses

import numpy as np

from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.parameters import parameter
from aerotwin_sensor_models.noise import gauss_markov, require_step


@dataclasses.dataclass(frozen=True, kw_only=True)
class GnssParameters:
    """A GNSS receiver; every sigma is that of a reading, whatever the rate."""

    rate_hz: float = parameter(1.0, unit="Hz", minimum=0.01, text="readings per second")
    delay_s: float = parameter(
        0.0, unit="s", minimum=0.0, text="age of a reading when it is delivered"
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
    velocity_horizontal_m_s: float = parameter(
        0.0, unit="m/s", minimum=0.0, text="white noise of east and north velocity, each"
    )
    velocity_vertical_m_s: float = parameter(
        0.0, unit="m/s", minimum=0.0, text="white noise of the vertical velocity"
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GnssSample:
    """One reading: WGS84 position, velocity in map axes [m/s], and their standard deviations.

    The standard deviations are along east, north and up [m], [m/s], and are those of the errors
    that the model really makes, white and correlated together.
    """

    latitude_deg: float
    longitude_deg: float
    altitude_m: float
    v_map: np.ndarray
    position_std_m: np.ndarray
    velocity_std_m_s: np.ndarray


def _east_north_up(horizontal: float, vertical: float) -> np.ndarray:
    return np.array([horizontal, horizontal, vertical])


class Gnss:
    """A GNSS receiver that lives through time (its correlated error wanders).

    The delay is a matter of the caller, who samples truth of `parameters.delay_s` ago.

    Parameters
    ----------
    parameters : GnssParameters
        Its errors; see `load_preset`.
    rng : numpy.random.Generator
        Its own source of randomness, see `seed_sequence`.
    plane : LocalTangentPlane
        The map: exact WGS84 about its origin.
    """

    def __init__(
        self, parameters: GnssParameters, rng: np.random.Generator, plane: LocalTangentPlane
    ) -> None:
        p = self.parameters = parameters
        self._rng, self._plane = rng, plane
        self._white = _east_north_up(p.white_horizontal_m, p.white_vertical_m)
        self._walk_sigma = _east_north_up(p.walk_horizontal_m, p.walk_vertical_m)
        self._velocity = _east_north_up(p.velocity_horizontal_m_s, p.velocity_vertical_m_s)
        self._walk = self._walk_sigma * rng.standard_normal(3)

    def sample(self, dt: float, p_map: np.ndarray, v_map: np.ndarray) -> GnssSample:
        """Return the reading dt [s] after the last one, of a true position and velocity in map."""
        require_step(dt)
        drive, white, velocity = self._rng.standard_normal((3, 3))
        decay, gain = gauss_markov(dt, self.parameters.walk_correlation_time_s)
        self._walk = decay * self._walk + gain * self._walk_sigma * drive
        measured = np.asarray(p_map, float) + self._walk + self._white * white
        latitude, longitude, altitude = self._plane.to_geodetic(measured)
        return GnssSample(
            latitude_deg=latitude,
            longitude_deg=longitude,
            altitude_m=altitude,
            v_map=np.asarray(v_map, float) + self._velocity * velocity,
            position_std_m=np.hypot(self._white, self._walk_sigma),
            velocity_std_m_s=self._velocity.copy(),
        )

    @property
    def correlated_error_m(self) -> np.ndarray:
        """Return the correlated part of the position error now [m], for the evaluation."""
        return self._walk.copy()
