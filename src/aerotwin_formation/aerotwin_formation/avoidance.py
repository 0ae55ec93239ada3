# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Avoidance in flight: each vehicle changes its velocity as little as it must.

Reciprocal velocity obstacles with half-planes (ORCA: van den Berg, Guy, Lin and Manocha 2011,
Reciprocal n-body collision avoidance) in the metric of the downwash ellipsoid: heights are divided
by its ratio, after which it is a sphere. Two vehicles on a course that brings them closer than the
required distance within the horizon change their relative velocity by the smallest vector that
avoids it; each makes half of it, a follower all of it towards the leader. All such half-spaces of a
vehicle together are met by the velocity nearest to the desired one, by Hildreth's iterations.
Where there is none, the nearest neighbour counts most.

A vehicle knows of the others what it received: their motions, continued to now.
"""

import math

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.kernel_cache import njit
from aerotwin_core.time import from_seconds
from aerotwin_formation.messages import LEADER, NANOSECOND, NEVER_NS
from aerotwin_formation.received import ReceivedReports
from aerotwin_formation.separation import SeparationParameters

N_ITERATIONS = 200
CONVERGED_M_S = 1e-6
TINY = 1e-9


def safe_velocities(
    parameters: SeparationParameters,
    received: ReceivedReports,
    *,
    stamp_ns: int,
    hold_s: float,
    position: FloatArray,
    velocity: FloatArray,
    desired: FloatArray,
) -> FloatArray:
    """Return velocities (m, 3) near the desired ones that keep the vehicles of `received` apart.

    `position`, `velocity` are their own now, `desired` what they would command (m, 3). Reports of
    others are continued for `hold_s`; row i depends on row i of what was received alone. The
    leader's own row is returned as desired.
    """
    p = parameters
    return _safe_velocities(
        received.receivers,
        received.stamps_ns,
        received.motion,
        np.ascontiguousarray(position),
        np.ascontiguousarray(velocity),
        np.ascontiguousarray(desired),
        (stamp_ns, from_seconds(hold_s), from_seconds(p.forget_s)),
        (p.required_m, p.unknown_m_s, p.horizon_s, p.contact_s, 1.0 / p.downwash_ratio),
    )


@njit(cache=True, error_model="numpy")
def half_space(r, w, distance, horizon, contact):
    """Return unit normal (3 numbers) and how far w must change along it; negative: it may change.

    r is the position of the other minus the own, w the own velocity minus that of the other, three
    numbers each. The velocities to avoid are a cone about r, cut off by a sphere about r / horizon,
    or, for a pair that is too close, a sphere about r / contact.
    """
    square, along, speed = _dot(r, r), _dot(r, w), _dot(w, w)
    is_close = square <= distance * distance
    rate = 1.0 / contact if is_close else 1.0 / horizon
    q = (w[0] - r[0] * rate, w[1] - r[1] * rate, w[2] - r[2] * rate)
    ahead = _dot(q, r)
    if not is_close and (ahead >= 0.0 or ahead * ahead <= distance * distance * _dot(q, q)):
        # the cone: the sphere about r times this rate is the one that w is radially off
        across = speed - (square * speed - along * along) / (square - distance * distance)
        rate = (along + math.sqrt(max(0.0, along * along - square * across))) / square
        q = (w[0] - r[0] * rate, w[1] - r[1] * rate, w[2] - r[2] * rate)
    length = math.sqrt(_dot(q, q))
    if length < TINY:
        size = -max(math.sqrt(square), TINY)
        return r[0] / size, r[1] / size, r[2] / size, distance * rate
    return q[0] / length, q[1] / length, q[2] / length, distance * rate - length


@njit(cache=True)
def _dot(a, b):
    """Return the product of two vectors of three numbers."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def nearest_in_half_spaces(desired, planes, n):
    """Return the point nearest to desired (3 numbers) in n half-spaces (rows of n_x, n_y, n_z, b).

    n . point >= b for each, n of unit length. Hildreth 1957: ascent in one multiplier after the
    other.
    """
    x, y, z = desired
    multipliers = np.zeros(n)
    for _ in range(N_ITERATIONS):
        change = 0.0
        for k in range(n):
            a, b, c, bound = planes[k]
            step = max(-multipliers[k], bound - a * x - b * y - c * z)
            multipliers[k] += step
            x, y, z = x + step * a, y + step * b, z + step * c
            change = max(change, abs(step))
        if change < CONVERGED_M_S:
            break
    return x, y, z


@njit(cache=True)
def _continued(motion, age, is_known, scale):
    """Return position and velocity of a motion (3, 3) continued by an age [s], heights scaled."""
    p, v, a = motion
    r = (
        p[0] + age * (v[0] + 0.5 * age * a[0]),
        p[1] + age * (v[1] + 0.5 * age * a[1]),
        (p[2] + age * (v[2] + 0.5 * age * a[2])) * scale,
    )
    if not is_known:
        return r, (0.0, 0.0, 0.0)
    return r, (v[0] + age * a[0], v[1] + age * a[1], (v[2] + age * a[2]) * scale)


@njit(cache=True, error_model="numpy")
def _safe_velocities(receivers, stamps, motion, position, velocity, desired, times, sizes):
    now_ns, hold_ns, forget_ns = times
    required, unknown, horizon, contact, scale = sizes
    m, n = stamps.shape
    found = desired.copy()
    planes, gaps = np.empty((n, 4)), np.empty(n)
    for i in range(m):
        if receivers[i] == LEADER:
            continue
        n_near = 0
        here = (position[i, 0], position[i, 1], position[i, 2] * scale)
        own = (velocity[i, 0], velocity[i, 1], velocity[i, 2] * scale)
        wish = (desired[i, 0], desired[i, 1], desired[i, 2] * scale)
        speed = math.sqrt(_dot(own, own)) + math.sqrt(_dot(wish, wish))
        for j in range(n):
            age_ns = now_ns - stamps[i, j]
            if j == receivers[i] or stamps[i, j] == NEVER_NS or age_ns > forget_ns:
                continue
            age = min(age_ns, hold_ns) * NANOSECOND
            there, other = _continued(motion[i, j], age, age_ns <= hold_ns, scale)
            r = (there[0] - here[0], there[1] - here[1], there[2] - here[2])
            distance = required + unknown * age
            gap = math.sqrt(_dot(r, r)) - distance
            if gap > horizon * (speed + math.sqrt(_dot(other, other))):
                continue  # even head on they do not meet within the horizon
            w = (own[0] - other[0], own[1] - other[1], own[2] - other[2])
            a, b, c, change = half_space(r, w, distance, horizon, contact)
            share = 1.0 if j == LEADER else 0.5
            bound = a * own[0] + b * own[1] + c * own[2] + share * change
            planes[n_near] = a, b, c, bound
            gaps[n_near] = -gap
            n_near += 1
        if n_near > 0:
            order = np.argsort(gaps[:n_near])  # the nearest last: it is met best
            x, y, z = nearest_in_half_spaces(wish, planes[order], n_near)
            found[i] = x, y, z / scale
    return found
