# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Wheel contacts on the terrain, and the resulting pose of the vehicle."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter

Ground = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Height of the ground [m] at x (n,), y (n,) [m] of map; not finite where there is none."""


class NoGroundError(ValueError):
    """There is no ground under a wheel: the vehicle has left its world."""


@dataclass(frozen=True, kw_only=True)
class WheelParameters:
    """Four wheels in a rectangle, of the size of the robots of the field trials.

    `base_link` is on the ground on the middle line, `base_ahead_of_rear_m` ahead of the rear
    axle: halfway between the axles of a skid-steered robot, on the rear axle of a car.
    """

    wheelbase_m: float = parameter(
        0.9, unit="m", minimum=0.05, maximum=10.0, text="from the rear axle to the front axle"
    )
    track_m: float = parameter(
        1.1, unit="m", minimum=0.05, maximum=10.0, text="from the left wheels to the right wheels"
    )
    base_ahead_of_rear_m: float = parameter(
        0.45, unit="m", minimum=0.0, maximum=10.0, text="where base_link is, ahead of the rear axle"
    )

    @property
    def contacts_base(self) -> np.ndarray:
        """Front left, front right, rear left, rear right (4, 2) [m] ahead and to the left."""
        front, rear = self.wheelbase_m - self.base_ahead_of_rear_m, -self.base_ahead_of_rear_m
        half = 0.5 * self.track_m
        return np.array([[front, half], [front, -half], [rear, half], [rear, -half]])


def pose_on_ground(
    x: float, y: float, yaw: float, ground: Ground, wheels: WheelParameters
) -> np.ndarray:
    """Return T_map_base of a vehicle at x, y [m] with heading yaw [rad].

    The plane is the least-squares one through the ground under the four wheels; `base_link` lies
    in it above x, y, its x axis points along it straight to yaw, its z axis is its normal. The
    wheel positions are those on level ground: on a slope of 20 degrees they are 6 % nearer.

    Raises
    ------
    NoGroundError
        If there is no ground under a wheel.
    """
    c, s = math.cos(yaw), math.sin(yaw)
    ahead, left = wheels.contacts_base.T
    z = ground(x + c * ahead - s * left, y + s * ahead + c * left)
    front_left, front_right, rear_left, rear_right = (float(height) for height in z)
    total = front_left + front_right + rear_left + rear_right
    if not math.isfinite(total):
        raise NoGroundError(f"there is no ground under a wheel at ({x:.2f}, {y:.2f}) m")
    slope_x = 0.5 * (front_left + front_right - rear_left - rear_right) / wheels.wheelbase_m
    slope_y = 0.5 * (front_left + rear_left - front_right - rear_right) / wheels.track_m
    middle = 0.5 * wheels.wheelbase_m - wheels.base_ahead_of_rear_m
    return _standing(x, y, 0.25 * total - slope_x * middle, (c, s), slope_x, slope_y)


def _standing(
    x: float, y: float, z: float, heading: tuple[float, float], slope_x: float, slope_y: float
) -> np.ndarray:
    """Return T_map_base on the plane with slopes ahead and to the left of a heading (cos, sin)."""
    c, s = heading
    n = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    k = 1.0 / math.sqrt(1.0 + slope_x * slope_x)
    # In heading axes: e_x = k (1, 0, slope_x), e_z = n (-slope_x, -slope_y, 1), e_y = e_z x e_x.
    ex = (k, 0.0, k * slope_x)
    ez = (-n * slope_x, -n * slope_y, n)
    ey = (
        ez[1] * ex[2] - ez[2] * ex[1],
        ez[2] * ex[0] - ez[0] * ex[2],
        ez[0] * ex[1] - ez[1] * ex[0],
    )
    rows = [
        [c * e[0] - s * e[1] for e in (ex, ey, ez)],
        [s * e[0] + c * e[1] for e in (ex, ey, ez)],
    ]
    return np.array([[*rows[0], x], [*rows[1], y], [ex[2], ey[2], ez[2], z], [0.0, 0.0, 0.0, 1.0]])
