# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A wheeled vehicle of the tests' own: lags, slip and command delay, Euler steps of 2 ms."""

import math
from dataclasses import dataclass

import numpy as np

EULER_S = 0.002


@dataclass(kw_only=True)
class TestVehicle:
    """Unicycle; a bicycle where max_curvature limits omega / v."""

    __test__ = False
    x: float = 0.0
    y: float = 0.0
    theta: float = 0.0
    v: float = 0.0
    omega: float = 0.0
    speed_lag_s: float = 0.2
    turn_lag_s: float = 0.27
    delay_s: float = 0.1
    speed_gain: float = 1.0
    turn_gain: float = 1.0
    turn_bias: float = 0.0
    max_curvature: float = math.inf

    def __post_init__(self):
        self.time_s, self._queue = 0.0, [(-math.inf, 0.0, 0.0)]

    def command(self, time_s, v, omega):
        """Take a command that leaves at a time (it may lie ahead)."""
        self._queue.append((time_s + self.delay_s, v, omega))

    def drive(self, until_s):
        """Drive on; return the positions on the way (n, 2)."""
        way = []
        while self.time_s < until_s - 1e-9:
            while len(self._queue) > 1 and self._queue[1][0] <= self.time_s + 1e-9:
                self._queue.pop(0)
            _, v, omega = self._queue[0]
            dt = EULER_S
            self.v += dt * (self.speed_gain * v - self.v) / self.speed_lag_s
            self.omega += (
                dt * (self.turn_gain * omega + self.turn_bias - self.omega) / (self.turn_lag_s)
            )
            bound = abs(self.v) * self.max_curvature
            turn = min(max(self.omega, -bound), bound)
            self.x += dt * self.v * math.cos(self.theta)
            self.y += dt * self.v * math.sin(self.theta)
            self.theta += dt * turn
            self.time_s += dt
            way.append((self.x, self.y))
        return np.array(way)

    @property
    def T_map_base(self):
        T = np.eye(4)
        c, s = math.cos(self.theta), math.sin(self.theta)
        T[:2, :2], T[:2, 3] = [[c, -s], [s, c]], (self.x, self.y)
        return T


def poses(x, y, theta):
    """Return (n, 4, 4) level poses."""
    T = np.tile(np.eye(4), (len(x), 1, 1))
    c, s = np.cos(theta), np.sin(theta)
    T[:, 0, 0], T[:, 0, 1], T[:, 1, 0], T[:, 1, 1] = c, -s, s, c
    T[:, 0, 3], T[:, 1, 3] = x, y
    return T


def rounded_loop(length=300.0, spacing=0.3, corner=3.0):
    """Return poses around a rectangle of about 300 m with round corners, an S bend on one side."""
    pieces = [(40.0, 0.0), (6.0, 1 / 4), (12.0, -1 / 4), (6.0, 1 / 4), (30.0, 0.0)]
    quarter = (corner * math.pi / 2, 1 / corner)
    pieces += [quarter, (40.0, 0.0), quarter, (90.0, 0.0), quarter, (40.0, 0.0), quarter]
    return driven(pieces, spacing)


def driven(pieces, spacing=0.3, direction=1):
    """Return poses along arcs (length, curvature of the direction of travel), exactly."""
    x, y, travel, out = 0.0, 0.0, 0.0, []
    for length, curvature in pieces:
        n = max(round(length / spacing), 1)
        for k in range(n):
            u = length * k / n
            out.append(_along(x, y, travel, curvature, u))
        x, y, travel = _along(x, y, travel, curvature, length)
    out.append((x, y, travel))
    x, y, travel = np.array(out).T
    return poses(x, y, travel if direction > 0 else travel + np.pi)


def _along(x, y, travel, curvature, u):
    if curvature == 0.0:
        return x + u * math.cos(travel), y + u * math.sin(travel), travel
    end = travel + curvature * u
    return (
        x + (math.sin(end) - math.sin(travel)) / curvature,
        y - (math.cos(end) - math.cos(travel)) / curvature,
        end,
    )
