# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Routes, bent maps with closed-form inverses, and runs for the tests of deviation."""

import numpy as np

from aerotwin_repeat_evaluation import (
    RepeatRun,
    TeachRepeatEvaluation,
    marks_on_route,
    rigid_fit_floor,
    true_poses,
)


class Affine:
    """The map shows p at A p + offset (A of the plane or of space); inverse in closed form."""

    def __init__(self, A=((1.0, 0.0), (0.0, 1.0)), offset=(0.0, 0.0)):
        self.A = np.eye(3)
        self.A[: len(A), : len(A)] = A
        self.offset = np.array([*offset, 0.0])

    def __call__(self, points):
        return points @ self.A.T + self.offset - points

    def inverse(self, points):
        return (points - self.offset) @ np.linalg.inv(self.A).T


class Waves:
    """Each horizontal coordinate is moved by a sine of the other one; inverse by iteration."""

    def __init__(self, amplitude_m, wavelength_m):
        self.amplitude_m, self.wavelength_m = amplitude_m, wavelength_m

    def __call__(self, points):
        phase = 2.0 * np.pi / self.wavelength_m * points[:, [1, 0]]
        return np.column_stack([self.amplitude_m * np.sin(phase), np.zeros(len(points))])

    def inverse(self, points):
        found = points
        for _ in range(12):
            found = points - self(found)
        return found


class Bowl:
    """The map's ground rises with the square of the distance from its middle; exact inverse."""

    def __init__(self, rise_m, at_m):
        self.k = rise_m / at_m**2

    def __call__(self, points):
        up = self.k * (points[:, :2] ** 2).sum(axis=1)
        return np.column_stack([np.zeros((len(points), 2)), up])

    def inverse(self, points):
        return points - self(points)


def poses_of(points):
    poses = np.tile(np.eye(4), (len(points), 1, 1))
    tangent = np.gradient(points[:, :2], axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    poses[:, :2, 0], poses[:, 0, 1], poses[:, 1, 1] = tangent, -tangent[:, 1], tangent[:, 0]
    poses[:, :3, 3] = points
    return poses


def loop(length_m=300.0, n=601):
    """Return a rounded loop of a length, from its southern end counter-clockwise."""
    angle = np.linspace(0.0, 2.0 * np.pi, n)
    p = np.column_stack([49.0 * np.sin(angle), -35.0 * np.cos(angle), np.zeros(n)])
    p[:, :2] *= 1.0 - 0.08 * np.cos(4.0 * angle)[:, None]
    return p * (length_m / np.linalg.norm(np.diff(p, axis=0), axis=1).sum())


def beside(poses, left_m):
    """Return poses moved to the left by one number for each [m]."""
    moved = poses.copy()
    moved[:, :3, 3] += np.asarray(left_m)[:, None] * poses[:, :3, 1]
    return moved


def evaluation_of(displacement, *, n_runs=3, jitter_m=0.008, seed=0, **more):
    """Return an evaluation of robots whose localiser is the oracle: truth = floor + jitter."""
    route = poses_of(loop(n=301))
    floor = rigid_fit_floor(displacement, route[:-1:6])
    lateral = np.interp(np.arange(len(route)), np.arange(0, len(route) - 1, 6), floor.lateral_m)
    whole = rigid_fit_floor(displacement, route) if more.pop("full_floor", False) else None
    rng = np.random.default_rng(seed)
    runs = []
    stamps = np.arange(len(route), dtype=np.int64) * 1_000_000_000
    for k in range(n_runs):
        smooth = np.convolve(rng.normal(0.0, 1.0, len(route) + 20), np.ones(21) / 21, "valid")
        tracked = jitter_m * smooth / smooth.std()
        runs.append(
            RepeatRun(
                name=f"repeat {k + 1}",
                stamps_ns=stamps,
                T_true_base=beside(true_poses(displacement, route), lateral + tracked),
                T_map_base=beside(route, tracked),
                is_localized=np.ones(len(route), bool),
            )
        )
    return TeachRepeatEvaluation(
        T_map_route=route,
        runs=runs,
        marks=marks_on_route(route, np.linspace(3.0, 297.0, 50), displacement),
        displacement=displacement,
        floor=whole,
        **more,
    )
