# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The radio link between vehicles: delay, jitter, loss in bursts, range.

What happens to a message is a function of the seed, its sender, its receiver and its number alone:
it does not depend on the order of calls or on other vehicles. Random numbers are hashed from these
by `aerotwin_core.counter_bits`.

Losses follow the chain of Gilbert (1960, Bell System Technical Journal 39): a link is good or bad,
becomes bad with probability p and good with probability r at each message. One uniform number u
drives it: u < p is bad and u >= 1 - r good whatever it was before, in between it stays as it was.
So the state at a message is found by looking back to the last number that decided, 1 / (p + r)
messages ago on average.
"""

import functools
from dataclasses import dataclass

import numpy as np
from numba import uint64

from aerotwin_core.counter_bits import GOLDEN, mix_bits
from aerotwin_core.frames import FloatArray
from aerotwin_core.kernel_cache import njit
from aerotwin_core.parameters import parameter
from aerotwin_core.time import from_seconds

LOST = int(np.iinfo(np.int64).max)
"""Arrival time of a message that does not arrive."""
UNIT = 2.0**-53


@dataclass(frozen=True, kw_only=True)
class VehicleLinkParameters:
    """The link from each vehicle to each other one."""

    delay_s: float = parameter(
        0.05, unit="s", minimum=0.0, maximum=10.0, text="of every message, at least"
    )
    jitter_s: float = parameter(
        0.02,
        unit="s",
        minimum=0.0,
        maximum=10.0,
        text="most that is added, uniform; messages may overtake",
    )
    loss_ratio: float = parameter(
        0.01, minimum=0.0, maximum=1.0, text="share of messages that do not arrive"
    )
    mean_burst: float = parameter(
        1.0,
        minimum=1.0,
        maximum=1000.0,
        text="messages lost in a row on average; at least 1 / (1 - loss_ratio), which is no memory",
    )
    range_m: float = parameter(
        1000.0, unit="m", minimum=0.0, maximum=1e6, text="nothing arrives from farther"
    )

    @property
    def longest_delay_ns(self) -> int:
        """After which a message has arrived or never will."""
        return from_seconds(self.delay_s + self.jitter_s)


def arrivals(
    parameters: VehicleLinkParameters,
    seed: int,
    *,
    number: int,
    stamp_ns: int,
    distances: FloatArray,
) -> np.ndarray:
    """Return when message `number` of each of n vehicles reaches each other one (n, n) [ns].

    Row s, column r is from s to r; `LOST` where it does not arrive and from a vehicle to itself.
    `distances` (n, n) are those at `stamp_ns`, when all are sent [m].
    """
    p, key = parameters, _key(seed)
    return _arrivals(key, number, stamp_ns, distances, p.range_m, _delays(p), _losses(p))


def arrival(
    parameters: VehicleLinkParameters,
    seed: int,
    *,
    sender: int,
    receiver: int,
    number: int,
    stamp_ns: int,
    distance_m: float,
) -> int:
    """Return when one message reaches one vehicle [ns], `LOST` for never; see `arrivals`."""
    p = parameters
    if distance_m > p.range_m:
        return LOST
    key = _key(seed)
    return int(_arrival(key, sender, receiver, number, stamp_ns, _delays(p), _losses(p)))


@functools.lru_cache
def _key(seed: int) -> np.uint64:
    return np.uint64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def _delays(p: VehicleLinkParameters) -> tuple[int, float]:
    """Return delay and jitter [ns]."""
    return from_seconds(p.delay_s), 1e9 * p.jitter_s


def _losses(p: VehicleLinkParameters) -> tuple[float, float, float]:
    """Return the share that is lost, and the chances to become bad and good again."""
    back = min(1.0 / p.mean_burst, 1.0 - p.loss_ratio)
    to_bad = back * p.loss_ratio / (1.0 - p.loss_ratio) if p.loss_ratio < 1.0 else 1.0
    return p.loss_ratio, to_bad, back


@njit(cache=True)
def _uniform(pair, number, use):
    """Return a number in [0, 1) for a message of a pair of vehicles and one of two uses."""
    bits = mix_bits(pair + uint64(GOLDEN) * uint64(2 * number + use))
    return float(bits >> uint64(11)) * UNIT


@njit(cache=True)
def _is_lost(pair, number, loss_ratio, to_bad, back):
    """Tell whether a message is lost, by Gilbert's chain looked at backwards."""
    for k in range(number, -1, -1):
        u = _uniform(pair, k, 0)
        if k == 0:
            return u < loss_ratio
        if u < to_bad:
            return True
        if u >= 1.0 - back:
            return False
    return False


@njit(cache=True)
def _arrival(key, sender, receiver, number, stamp_ns, delays, losses):
    """Return when a message within range arrives; losses are ratio, to bad and back."""
    pair = mix_bits(key + uint64(GOLDEN) * uint64((sender << 32) + receiver + 1))
    if _is_lost(pair, number, losses[0], losses[1], losses[2]):
        return LOST
    return stamp_ns + delays[0] + int(delays[1] * _uniform(pair, number, 1))


@njit(cache=True)
def _arrivals(key, number, stamp_ns, distances, range_m, delays, losses):
    n = len(distances)
    found = np.full((n, n), LOST, dtype=np.int64)
    for sender in range(n):
        for receiver in range(n):
            if sender != receiver and distances[sender, receiver] <= range_m:
                found[sender, receiver] = _arrival(
                    key, sender, receiver, number, stamp_ns, delays, losses
                )
    return found
