# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of lidar and radar: lost turns, lost beams, rain.

Beams are changed before the lidar measures them: what becomes of a weaker echo (a lost return, a
noisier range, less intensity) is up to the model of the lidar.

References
----------
V. Kilic et al.: Lidar Light Scattering Augmentation (LISA), arXiv 2107.07004, 2021: extinction,
and drops that outshine the target, in one Monte Carlo model.
J. S. Marshall and W. McK. Palmer: The Distribution of Raindrops with Size. J. Meteorology 5, 1948:
N(D) = 8000 exp(-L D) per m^3 and mm, L = 4.1 R^-0.21 per mm.
C. W. Ulbrich and D. Atlas: Extinction of Visible and Infrared Radiation in Rain. J. Atmospheric and
Oceanic Technology 2, 1985: 1.45 R^0.64 dB/km, within 10 % of `rain_extinction` from 1 to 100 mm/h.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_core.seeds import seed_sequence
from aerotwin_faults.fault import LIDAR, RADAR, Fault, Moment

DROPS_PER_M3_MM = 8000.0
WATER_REFLECTS = ((1.328 - 1.0) / (1.328 + 1.0)) ** 2
"""Share of the light that a water surface reflects back at normal incidence (Fresnel), near
infrared."""
FAINTEST_ECHO_PER_M2 = 0.1 / 100.0**2
"""Reflectivity over squared range [1/m^2] of the faintest drops: of a 10 % target at 100 m."""


class Echoes(NamedTuple):
    """What the beams of a turn meet.

    Distances (n,) float32 [m], infinity for nothing; unit normals (n, 3) float32 in map;
    reflectivity (n,) float32, which stands for all that weakens an echo beside 1 / distance^2.
    """

    distance_m: np.ndarray
    normal_map: np.ndarray
    reflectivity: np.ndarray


class ScannerEffect:
    """What a fault at place `lidar` or `radar` does, stage by stage; here: nothing."""

    is_silent: bool = False
    """Whether the sensor sends nothing."""

    def echoes(
        self, echoes: Echoes, directions_map: np.ndarray, stamp_ns: int, moment: Moment
    ) -> Echoes:
        """Return what the beams of the turn of a stamp meet instead; only a lidar asks.

        Directions (n, 3) float32 are unit vectors. The arrays passed in are not changed.
        """
        return echoes


@dataclass(frozen=True, kw_only=True)
class LidarLoss(ScannerEffect, Fault):
    """The lidar sends nothing."""

    place: ClassVar[str] = LIDAR
    is_silent: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class RadarLoss(ScannerEffect, Fault):
    """The radar sends nothing."""

    place: ClassVar[str] = RADAR
    is_silent: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class LidarDropout(ScannerEffect, Fault):
    """Beams at random return nothing."""

    place: ClassVar[str] = LIDAR
    share: float = parameter(0.5, text="of the beams", minimum=0.0, maximum=1.0)

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what knows which."""
        return _LostBeams(self, int(rng.integers(2**63)))


class _LostBeams(ScannerEffect):
    def __init__(self, fault: LidarDropout, key: int) -> None:
        self._share, self._key = fault.share, key

    def echoes(
        self, echoes: Echoes, directions_map: np.ndarray, stamp_ns: int, moment: Moment
    ) -> Echoes:
        rng = seed_sequence(self._key, stamp_ns, "lidar_dropout")
        is_lost = rng.random(len(echoes.distance_m)) < moment.level * self._share
        return echoes._replace(distance_m=np.where(is_lost, np.float32(np.inf), echoes.distance_m))


@dataclass(frozen=True, kw_only=True)
class LidarRain(ScannerEffect, Fault):
    """Rain: echoes fade with the distance, and drops near the lidar return false ones.

    Light is lost to drops that block twice their cross section (geometric optics). A drop within
    the beam returns its share of the beam's cross section times what water reflects; the strongest
    echo of a beam is measured. A lidar without `limit_range_m` loses none of the faded ones.
    """

    place: ClassVar[str] = LIDAR
    rate_mm_h: float = parameter(
        20.0, text="rain; 2 is light, 10 moderate, 50 violent", unit="mm/h", minimum=0.0,
        maximum=300.0,
    )  # fmt: skip
    divergence_mrad: float = parameter(
        3.0, text="diameter of the beam over the distance", unit="mrad", minimum=0.1, maximum=20.0
    )
    nearest_m: float = parameter(
        1.5, text="nearer drops are outside the receiver's view", unit="m", minimum=0.1,
        maximum=20.0,
    )  # fmt: skip

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what knows its drops."""
        return _Rain(self, int(rng.integers(2**63)))


def rain_extinction(rate_mm_h: float) -> float:
    """Return the share of light that rain takes on a metre [1/m].

    The integral of 2 pi/4 D^2 over the drops of Marshall and Palmer: 3.65e-4 R^0.63.
    """
    if rate_mm_h <= 0.0:
        return 0.0
    return math.pi * DROPS_PER_M3_MM * 1e-6 / _slope_per_mm(rate_mm_h) ** 3


class RainDrops(NamedTuple):
    """Drops in the beams of a turn: beam (k,), distance [m] (k,), reflectivity (k,)."""

    beam: np.ndarray
    distance_m: np.ndarray
    reflectivity: np.ndarray


def rain_drops(
    rate_mm_h: float, divergence_mrad: float, n_beams: int, rng: np.random.Generator
) -> RainDrops:
    """Return all drops in beams whose echo is above `FAINTEST_ECHO_PER_M2` before extinction.

    A drop of diameter D at distance r in a beam of divergence b has reflectivity F (D / b r)^2, at
    most F: its echo is above e if D > b r^2 sqrt(e / F). The drops above that diameter are a
    Poisson process along the beam with the density pi/4 b^2 r^2 N/L exp(-k r^2) where
    k = L b sqrt(e / F): r^2 is gamma distributed with shape 3/2, and what D has beyond its limit
    exponentially.
    """
    slope_per_mm = _slope_per_mm(rate_mm_h)
    limit_mm_per_m2 = divergence_mrad * math.sqrt(FAINTEST_ECHO_PER_M2 / WATER_REFLECTS)
    k = slope_per_mm * limit_mm_per_m2
    per_beam = 0.25 * math.pi * (1e-3 * divergence_mrad) ** 2 * DROPS_PER_M3_MM / slope_per_mm
    per_beam *= 0.25 * math.sqrt(math.pi) * k**-1.5
    n = rng.poisson(per_beam * n_beams)
    distance_sq = rng.gamma(1.5, 1.0 / k, n)
    diameter_mm = limit_mm_per_m2 * distance_sq + rng.exponential(1.0 / slope_per_mm, n)
    distance = np.sqrt(distance_sq)
    share = np.minimum((diameter_mm / (divergence_mrad * distance)) ** 2, 1.0)
    return RainDrops(rng.integers(n_beams, size=n), distance, WATER_REFLECTS * share)


def _slope_per_mm(rate_mm_h: float) -> float:
    return 4.1 * rate_mm_h**-0.21


class _Rain(ScannerEffect):
    def __init__(self, fault: LidarRain, key: int) -> None:
        self._fault, self._key = fault, key

    def echoes(
        self, echoes: Echoes, directions_map: np.ndarray, stamp_ns: int, moment: Moment
    ) -> Echoes:
        fault, rate_mm_h = self._fault, moment.level * self._fault.rate_mm_h
        if rate_mm_h <= 0.0:
            return echoes
        extinction = rain_extinction(rate_mm_h)
        distance = echoes.distance_m.copy()
        normal, reflectivity = echoes.normal_map.copy(), _faded(echoes, extinction)
        rng = seed_sequence(self._key, stamp_ns, "lidar_rain")
        drops = rain_drops(rate_mm_h, fault.divergence_mrad, len(distance), rng)
        light = drops.reflectivity * np.exp(-2.0 * extinction * drops.distance_m)
        beam, strength = drops.beam, light / drops.distance_m**2
        is_first = (drops.distance_m >= fault.nearest_m) & (drops.distance_m < distance[beam])
        cosine = np.abs(np.einsum("ij,ij->i", directions_map[beam], normal[beam]))
        is_first &= strength > reflectivity[beam] * cosine / distance[beam] ** 2
        kept = np.flatnonzero(is_first)
        kept = kept[np.argsort(strength[kept], kind="stable")]  # the strongest is written last
        beam = beam[kept]
        distance[beam], reflectivity[beam] = drops.distance_m[kept], light[kept]
        normal[beam] = -directions_map[beam]
        return Echoes(distance, normal, reflectivity)


def _faded(echoes: Echoes, extinction: float) -> np.ndarray:
    """Return the reflectivity times the light that comes there and back; 0 without a hit."""
    distance = echoes.distance_m
    passed = np.exp(np.float32(-2.0 * extinction) * distance)
    faded = np.zeros(len(distance), np.float32)
    return np.multiply(echoes.reflectivity, passed, out=faded, where=np.isfinite(distance))
