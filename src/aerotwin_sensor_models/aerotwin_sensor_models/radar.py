# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A spinning radar: power over range and azimuth, from rays cast at their own times.

The world casts the rays (`Cast`); this module holds beam, echoes, multipath and noise. Every ray
is an echo of amplitude a and random phase; a range bin of an azimuth holds the sum over the beam,
as an FMCW receiver with a Hann window measures it, plus white noise of the receiver:

    a^2 = K G(elevation)^2 cos(incidence) dOmega / R^2          E = sum a G(azimuth) W(R) e^(i phi)

which is the radar equation (Skolnik 2001, Introduction to Radar Systems, 3rd ed., section 1.2) with
the area R^2 dOmega / cos(incidence) of the ray as target and Lambert's backscatter, as cos^2
(Ulaby, Moore and Fung 1982, Microwave Remote Sensing II, section 12-5). Targets that fill the beam
fall off as 1 / R^2, others, such as a pole, as 1 / R^4, since fewer rays hit them. Where many rays
share a cell their power is exponentially distributed: speckle. G is a Gaussian of the one-way
half-power beam width; for W see `radar_kernels.hann_lobe`. K is such that a wall that fills the
beam at normal incidence at 50 m has the level `wall_level_db`.

A surface also mirrors: the ray continues from the first hit, and its next hit appears in the
direction of the mirror at the range of the whole path (a ghost), attenuated by the mirror on the
way there and back. The Doppler shift moves an echo by `doppler_shift_s` times the closing speed
towards the radar (up-chirps; Burnett et al. 2021, RA-L 6, 771-778, arXiv 2011.03512, eq. for beta).
At the seam of a turn the beam sees the end of the same turn.

Not modelled: side lobes of antenna and window, materials, corner reflectors (dihedrals), paths that
return another way than they came, rain, interference, and the correlation of the noise between bins
that are finer than the resolution.
"""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_core.trajectory import Trajectory
from aerotwin_sensor_models import radar_kernels
from aerotwin_sensor_models.counter_noise import RADAR, counter_key, normal_table
from aerotwin_sensor_models.lidar import Cast
from aerotwin_sensor_models.turning_rays import TurningRays

LEVEL_DB = 0.5
"""Step of a level, as Navtech's radars send it and VTR3 reads it (vtr_radar, detector.inl)."""
WALL_RANGE_M = 50.0
"""Distance of the wall that `wall_level_db` refers to [m]."""
_BEAM = 0.9
"""Half-width of the ray fan in beam widths: three standard deviations of the two-way gain."""
_OFF_M = 1e-3
"""Offset of the start of a mirrored ray from the mirror [m]."""


@dataclass(frozen=True, kw_only=True)
class RadarParameters:
    """A spinning FMCW radar with one beam."""

    n_azimuths: int = parameter(400, minimum=8, maximum=4096, text="directions of a turn")
    n_bins: int = parameter(1600, minimum=16, maximum=16384, text="range bins of a direction")
    rate_hz: float = parameter(4.0, unit="Hz", minimum=0.1, maximum=20.0, text="turns")
    bin_m: float = parameter(
        0.0438, unit="m", minimum=0.01, maximum=5.0, text="length of a range bin"
    )
    resolution_m: float = parameter(
        0.175, unit="m", minimum=0.01, maximum=5.0, text="resolution in range, c / 2B"
    )
    beam_azimuth_deg: float = parameter(
        1.8, unit="deg", minimum=0.1, maximum=20.0, text="width between half powers, level"
    )
    beam_elevation_deg: float = parameter(
        1.8, unit="deg", minimum=0.1, maximum=60.0, text="width between half powers, upright"
    )
    minimum_range_m: float = parameter(
        2.5, unit="m", minimum=0.0, maximum=100.0, text="bins that begin nearer are 0"
    )
    n_columns: int = parameter(
        3, minimum=1, maximum=20, text="columns of rays from one azimuth to the next"
    )
    n_rings: int = parameter(9, minimum=1, maximum=200, text="rays of a column over the beam")
    wall_level_db: float = parameter(
        40.0, unit="dB", minimum=0.0, maximum=127.5, text="level of a wall square on at 50 m"
    )
    noise_level_db: float = parameter(
        10.0, unit="dB", minimum=-50.0, maximum=127.5, text="mean level of the receiver's noise"
    )
    saturation_level_db: float = parameter(
        80.0, unit="dB", minimum=0.0, maximum=127.5, text="no level is higher"
    )
    mirror_share: float = parameter(
        0.25, minimum=0.0, maximum=1.0, text="share of the power that a surface mirrors"
    )
    doppler_shift_s: float = parameter(
        0.0, unit="s", minimum=-1.0, maximum=1.0, text="range that is lost per closing speed"
    )

    @property
    def period_ns(self) -> int:
        """Duration of a turn [ns]."""
        return round(1e9 / self.rate_hz)

    @property
    def maximum_range_m(self) -> float:
        """End of the last bin [m]."""
        return self.n_bins * self.bin_m

    @property
    def azimuths(self) -> np.ndarray:
        """Directions in order of time, from x towards y, (n_azimuths,) [rad].

        A turn begins behind and is clockwise seen from above, as that of the lidar.
        """
        return np.pi - 2.0 * np.pi * np.arange(self.n_azimuths) / self.n_azimuths


@dataclass(frozen=True, kw_only=True, eq=False)
class RadarScan:
    """The levels of one turn that begins at `stamp_ns` [ns].

    Attributes
    ----------
    levels : (n_azimuths, n_bins) uint8 array
        Power in steps of `LEVEL_DB`; the middle of bin b is at (b + 0.5) `bin_m`.
    """

    stamp_ns: int
    levels: np.ndarray
    parameters: RadarParameters

    @property
    def times_s(self) -> np.ndarray:
        """Time of each azimuth since the stamp, (n_azimuths,) [s]."""
        p = self.parameters
        return np.arange(p.n_azimuths) * (p.period_ns * 1e-9 / p.n_azimuths)


class Radar:
    """A spinning radar, sampled turn by turn.

    Phases and noise depend only on seed, vehicle (its number), stamp and index in the turn: a scan
    has the same bytes whatever was cast before it. Presets: see `load_preset`.

    Raises
    ------
    ValueError
        If seed or vehicle is negative.
    """

    def __init__(self, parameters: RadarParameters, seed: int = 0, vehicle: int = 0) -> None:
        if seed < 0 or vehicle < 0:
            raise ValueError(f"seed and vehicle must not be negative, got {seed} and {vehicle}")
        self.parameters = p = parameters
        self._entropy = (seed, vehicle)
        n = p.n_azimuths * p.n_columns
        angles = np.pi - 2.0 * np.pi * np.arange(n) / n
        elevations = _elevations(p)
        self._turn = TurningRays(angles, elevations, p.period_ns)
        self._columns = np.repeat(np.arange(n), p.n_rings)
        self._beam = _gain(_steps_over_beam(p), p.beam_azimuth_deg)
        gains = _gain(np.degrees(elevations), p.beam_elevation_deg)
        wall = 10.0 ** (p.wall_level_db / 10.0) * WALL_RANGE_M**2
        wall /= np.sum(gains**2) * np.sum(self._beam**2)
        self._amplitudes = np.tile(math.sqrt(wall) * gains, n)

    def scan(self, cast: Cast, motion: Trajectory, stamp_ns: int) -> RadarScan:
        """Return the scan of the turn at a stamp; `motion` is T_map_radar over the whole turn.

        It is linear and slerp between its poses. The reflectivity of `cast`, of light, is not used.

        Raises
        ------
        ValueError
            If the motion does not cover the turn.
        """
        p, rays = self.parameters, self._turn.cast(motion, stamp_ns)
        keys = [counter_key(RADAR, *self._entropy, stamp_ns, k) for k in range(3)]
        field = np.zeros((p.n_azimuths, p.n_bins, 2), np.float32)
        ranges, normals, _ = cast(rays)
        self._add(field, rays, (ranges, normals), np.arange(len(rays)), 0.0, keys[0])
        if p.mirror_share > 0.0:
            hit = np.flatnonzero(ranges < p.maximum_range_m)
            mirrored = _mirrored(rays[hit], ranges[hit], normals[hit])
            met = cast(mirrored)
            self._add(field, mirrored, (met[0], met[1]), hit, ranges[hit], keys[1])
        levels = np.empty((p.n_azimuths, p.n_bins), np.uint8)
        radar_kernels.write_levels(
            field,
            10.0 ** (p.noise_level_db / 20.0) / math.sqrt(2.0),
            min(math.ceil(p.minimum_range_m / p.bin_m), p.n_bins),
            math.floor(p.saturation_level_db / LEVEL_DB),
            normal_table(),
            keys[2],
            levels,
        )
        return RadarScan(stamp_ns=stamp_ns, levels=levels, parameters=p)

    def _add(self, field, rays, hits, which, before, key) -> None:
        """Add echoes of the rays `which`; `before` [m] is the path to a mirror."""
        p, (ranges, normals) = self.parameters, hits
        way = np.where(np.isfinite(ranges), ranges, 0.0).astype(np.float64) + before
        cosine = np.abs(np.einsum("ij,ij->i", rays[:, 3:], normals)).astype(np.float64)
        is_met = np.isfinite(ranges) & (way > 0.0)
        mirrors = p.mirror_share if np.ndim(before) else 1.0  # there and back: of the power
        amplitude = mirrors * self._amplitudes[which] * np.sqrt(cosine) / np.where(is_met, way, 1.0)
        columns = self._columns[which]
        seconds = self.parameters.period_ns * 1e-9 / len(self._turn.p)
        velocity = np.gradient(self._turn.p, seconds, axis=0)[columns]
        closing = np.einsum("ij,ij->i", velocity, self._turn.rays[which, 3:])
        radar_kernels.add_echoes(
            way - p.doppler_shift_s * closing,
            np.where(is_met, amplitude, 0.0),
            columns,
            self._beam,
            p.n_columns,
            p.bin_m,
            p.resolution_m,
            key,
            field,
        )


def _elevations(p: RadarParameters) -> np.ndarray:
    """Return the elevations of the rays, the middles of equal shares of the beam, [rad]."""
    shares = (np.arange(p.n_rings) + 0.5) / p.n_rings * 2.0 - 1.0
    return np.radians(_BEAM * p.beam_elevation_deg * shares)


def _steps_over_beam(p: RadarParameters) -> np.ndarray:
    """Return the offsets from an azimuth of the columns that its beam reaches [deg]."""
    step = 360.0 / (p.n_azimuths * p.n_columns)
    m = math.floor(_BEAM * p.beam_azimuth_deg / step)
    return step * np.arange(-m, m + 1)


def _gain(off_deg: np.ndarray, width_deg: float) -> np.ndarray:
    """Return the one-way power gain, and two-way amplitude, of a Gaussian beam."""
    return np.exp(-4.0 * math.log(2.0) * (off_deg / width_deg) ** 2)


def _mirrored(rays: np.ndarray, ranges: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Return the rays (n, 6) reflected at the surfaces that they hit."""
    d = rays[:, 3:]
    out = np.empty_like(rays)
    out[:, 3:] = d - 2.0 * np.einsum("ij,ij->i", d, normals)[:, None] * normals
    out[:, :3] = rays[:, :3] + ranges[:, None] * d + _OFF_M * out[:, 3:]
    return out
