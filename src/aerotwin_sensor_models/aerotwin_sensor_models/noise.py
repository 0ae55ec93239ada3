# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers: one independent stream per vehicle and sensor, and noise of exact statistics."""

import math
import zlib

import numpy as np


def seed_sequence(seed: int, vehicle: int | str, sensor: str) -> np.random.Generator:
    """Return the random generator of one sensor of one vehicle.

    Streams of different seeds, vehicles or sensors are independent, and adding or removing a
    sensor changes no other: the stream depends on the three values alone, which are mixed by
    NumPy's SeedSequence and drive an SFC64 (the quickest of NumPy's generators, with a state of
    256 bits and a period of at least 2^64 numbers).

    Parameters
    ----------
    seed : int
        Seed of the run, not negative.
    vehicle : int or str
        Number or name of the vehicle.
    sensor : str
        Name of the sensor, such as "imu".

    Examples
    --------
    >>> float(seed_sequence(7, 0, "imu").random()) == float(seed_sequence(7, 0, "imu").random())
    True
    """
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed}")
    kind, number = (0, vehicle) if isinstance(vehicle, int) else (1, zlib.crc32(vehicle.encode()))
    entropy = [seed, kind, number, zlib.crc32(sensor.encode())]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy)))


def gauss_markov(dt: float, tau: float) -> tuple[float, float]:
    """Return decay and innovation gain of a first-order Gauss-Markov process over dt.

    The exact discretisation: b' = decay b + gain sigma n keeps the standard deviation sigma and
    the correlation exp(-t / tau) whatever dt is.

    >>> decay, gain = gauss_markov(0.1, 10.0)
    >>> abs(decay**2 + gain**2 - 1.0) < 1e-15
    True
    """
    decay = math.exp(-dt / tau)
    return decay, math.sqrt(-math.expm1(-2.0 * dt / tau))


def reading_std(*parts: float, resolution: float = 0.0) -> float:
    """Return the standard deviation of a reading about the truth, of independent parts.

    Rounding to a step is one of them: step / sqrt(12).

    >>> reading_std(3.0, 4.0)
    5.0
    """
    return math.hypot(*parts, resolution / math.sqrt(12.0))


def require_step(dt: float) -> None:
    """Refuse a time step that is not positive and finite."""
    if not 0.0 < dt < math.inf:
        raise ValueError(f"dt must be positive, got {dt}; sample at increasing times")
