# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A spinning lidar: rays by rings and columns, each column cast from the pose at its own time.

The world casts the rays (`Cast`); this module holds geometry, motion, noise and drop-outs. All
follow from one signal, the lidar equation for an extended, diffuse target that fills the beam:
the received power goes as reflectivity x cosine of incidence / range^2 (Baltsavias 1999, ISPRS J.
54, 199-214, section 5; Wagner et al. 2006, ISPRS J. 60, 100-112, eq. 18). In units of a 10 % target
at normal incidence and range `limit_range_m`:

    s = reflectivity / 0.1  x  cos(incidence)  x  (limit_range / range)^2
    amplitude = limit_snr s + n,   n ~ N(0, 1)          a pulse in white noise
    it returns if amplitude > threshold_snr             P = Phi(limit_snr s - threshold_snr)
    range noise sigma^2 = range_noise^2 + (limit_range_noise / s)^2
    intensity = 100 reflectivity cos(incidence) amplitude / (limit_snr s)

The threshold detector is the textbook one (Richmond and Cain 2010, Direct-Detection LADAR Systems,
chapter 3); the time at which a pulse crosses a threshold jitters as 1 over its signal-to-noise
ratio. Not modelled: beam size (edges, multiple echoes, smear at grazing incidence),
retro-reflectors, rain, direction of sunlight, and offsets between lasers that fire in turn
within a column.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_core.trajectory import Trajectory
from aerotwin_sensor_models import lidar_kernels as kernels
from aerotwin_sensor_models.counter_noise import LIDAR, counter_key, normal_table
from aerotwin_sensor_models.turning_rays import TurningRays

Cast = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray | None]]
"""Casts rays into a world: (n, 6) float32 (origin, unit direction in map) to the distances
(n,) [m], infinity for no hit, unit normals (n, 3) and reflectivity (n,) or None."""
POINT = np.dtype(
    {
        "names": ["x", "y", "z", "intensity", "ring", "time"],
        "formats": ["<f4", "<f4", "<f4", "<f4", "<u2", "<f4"],
        "offsets": [0, 4, 8, 12, 16, 20],
        "itemsize": 24,
    }
)
"""A point: position in the lidar's frame [m], intensity, ring, time since the stamp [s]."""


@dataclass(frozen=True, kw_only=True)
class LidarParameters:
    """A spinning lidar with rings at equal steps of elevation."""

    n_rings: int = parameter(64, minimum=1, maximum=256, text="lasers, one above the other")
    n_columns: int = parameter(1024, minimum=4, maximum=8192, text="shots of each laser in a turn")
    rate_hz: float = parameter(10.0, unit="Hz", minimum=0.1, maximum=100.0, text="turns")
    elevation_top_deg: float = parameter(
        16.6, unit="deg", minimum=-89.0, maximum=89.0, text="elevation of the highest ring"
    )
    elevation_bottom_deg: float = parameter(
        -16.6, unit="deg", minimum=-89.0, maximum=89.0, text="elevation of ring 0, the lowest"
    )
    minimum_range_m: float = parameter(
        0.5, unit="m", minimum=0.0, text="what is nearer gives no return"
    )
    maximum_range_m: float = parameter(
        120.0, unit="m", minimum=0.1, text="what is farther gives no return"
    )
    limit_range_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="range of a 10 % target at limit_snr; 0: no drop-outs"
    )
    limit_snr: float = parameter(
        5.0, minimum=0.1, text="signal-to-noise ratio there (5.0: 90 % of shots return)"
    )
    threshold_snr: float = parameter(
        3.72, minimum=0.0, text="signal-to-noise ratio of the detector's threshold (3.72: 1e-4)"
    )
    range_noise_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="standard deviation of the range of a strong signal"
    )
    limit_range_noise_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="what adds to it at limit_range_m, as 1 / signal"
    )
    range_step_m: float = parameter(
        0.0, unit="m", minimum=0.0, maximum=1.0, text="resolution of the range; 0 = none"
    )
    reflectivity: float = parameter(
        0.3, minimum=0.01, maximum=1.0, text="of surfaces for which the world has none"
    )
    is_organised: bool = parameter(
        False, text="an image of rings and columns, NaN where nothing returned; else returns only"
    )
    is_deskewed: bool = parameter(
        False, text="points in the lidar's frame at the stamp, by the true motion; else as measured"
    )

    def __post_init__(self) -> None:
        if self.elevation_top_deg < self.elevation_bottom_deg:
            raise ValueError(
                f"elevation_top_deg must be at least elevation_bottom_deg, got "
                f"{self.elevation_top_deg:g} and {self.elevation_bottom_deg:g}; exchange them"
            )
        if self.maximum_range_m <= self.minimum_range_m:
            raise ValueError(
                f"maximum_range_m must be more than minimum_range_m, got "
                f"{self.maximum_range_m:g} and {self.minimum_range_m:g}"
            )

    @property
    def period_ns(self) -> int:
        """Duration of a turn [ns]."""
        return round(1e9 / self.rate_hz)

    @property
    def elevations(self) -> np.ndarray:
        """Elevation of each ring above the lidar's x-y plane, ring 0 first, (n_rings,) [rad]."""
        limits = self.elevation_bottom_deg, self.elevation_top_deg
        return np.radians(np.linspace(*limits, self.n_rings))

    @property
    def azimuths(self) -> np.ndarray:
        """Azimuth of each column from x towards y, (n_columns,) [rad].

        A turn begins behind and is clockwise seen from above, as with Velodyne and Ouster.
        """
        return np.pi - 2.0 * np.pi * np.arange(self.n_columns) / self.n_columns


@dataclass(frozen=True, kw_only=True)
class LidarScan:
    """The points of one turn.

    Attributes
    ----------
    stamp_ns : int
        Start of the turn [ns]; point times are relative to it.
    cloud : (height, width) array of POINT
        One row of returns in order of time, or, if `is_organised`, one row per ring and one
        column per shot.
    """

    stamp_ns: int
    cloud: np.ndarray
    is_organised: bool

    @property
    def points(self) -> np.ndarray:
        """Positions (n, 3) float32 [m] in the lidar's frame; a view."""
        return self.cloud.reshape(-1).view(np.float32).reshape(-1, kernels.POINT_U32)[:, :3]

    def __len__(self) -> int:
        return self.cloud.size


class Lidar:
    """A spinning lidar, sampled turn by turn.

    The noise of a point depends only on seed, vehicle (its number), stamp and index in the turn:
    a scan has the same bytes whatever was cast before it, and on any number of threads. Presets:
    see `load_preset`.

    Raises
    ------
    ValueError
        If seed or vehicle is negative.
    """

    def __init__(self, parameters: LidarParameters, seed: int = 0, vehicle: int = 0) -> None:
        if seed < 0 or vehicle < 0:
            raise ValueError(f"seed and vehicle must not be negative, got {seed} and {vehicle}")
        self.parameters = p = parameters
        self._entropy = (seed, vehicle)
        self.turn = TurningRays(p.azimuths, p.elevations, p.period_ns)
        self._plain = np.full(p.n_columns * p.n_rings, p.reflectivity, np.float32)
        self._sensor = _pack(p)

    def scan(self, cast: Cast, motion: Trajectory, stamp_ns: int) -> LidarScan:
        """Return the scan of the turn at a stamp; `motion` is T_map_lidar over the whole turn.

        Raises
        ------
        ValueError
            If the motion does not cover the turn.
        """
        p, turn = self.parameters, self.turn
        rays = turn.cast(motion, stamp_ns)
        ranges, normals, reflectivity = cast(rays)
        hits = (ranges, normals, self._plain if reflectivity is None else reflectivity)
        frame = np.concatenate([turn.p[:1], turn.R[0].reshape(3, 3).T], out=np.empty((4, 3)))
        tokens = np.empty((len(rays), kernels.POINT_U32), np.float32)
        n = kernels.write_returns(
            rays,
            *hits,
            frame,
            turn.azimuth,
            turn.elevation,
            self._sensor,
            normal_table(),
            counter_key(LIDAR, *self._entropy, stamp_ns),
            p.is_organised,
            p.is_deskewed,
            tokens,
            tokens.view(np.uint32),
        )
        cloud = tokens[:n].view(POINT).reshape(p.n_rings if p.is_organised else 1, -1)
        return LidarScan(stamp_ns=stamp_ns, cloud=cloud, is_organised=p.is_organised)


def _pack(p: LidarParameters) -> tuple[float, ...]:
    """Return the sensor's numbers in the layout of the kernels."""
    numbers = [0.0] * kernels.N_NUMBERS
    numbers[kernels.MINIMUM], numbers[kernels.MAXIMUM] = p.minimum_range_m, p.maximum_range_m
    if p.limit_range_m > 0.0:
        numbers[kernels.PER_LIMIT] = 1.0 / p.limit_range_m
    numbers[kernels.PER_LIMIT_SNR], numbers[kernels.THRESHOLD] = 1.0 / p.limit_snr, p.threshold_snr
    numbers[kernels.NOISE], numbers[kernels.LIMIT_NOISE] = p.range_noise_m, p.limit_range_noise_m
    if p.range_step_m > 0.0:
        numbers[kernels.STEP], numbers[kernels.PER_STEP] = p.range_step_m, 1.0 / p.range_step_m
    numbers[kernels.PERIOD] = p.period_ns * 1e-9
    return tuple(numbers)
