# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A block of houses made of boxes on flat ground, exact scans of it, and a drive around it."""

from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform
from aerotwin_teach_repeat.localization.odometry import T_begin_end

RANGE_M = 60.0
LIDAR_M = 1.0
N_RINGS, N_COLUMNS = 16, 180
NOISE_M = 0.01
TURN_S = 0.1
RADIUS_M, SPEED_M_S = 8.0, 4.0
"""Of the drive: a circle about the origin, counter-clockwise."""
LAP_SCANS = round(2.0 * np.pi * RADIUS_M / SPEED_M_S / TURN_S)


@cache
def boxes():
    """Return corners (n, 6) low and high, of a block in the middle and houses around."""
    rng = np.random.default_rng(3)
    found = [[-3.0, -2.0, 0.0, 2.5, 3.5, 6.0]]
    for k in range(14):
        angle = 2.0 * np.pi * k / 14 + rng.uniform(-0.1, 0.1)
        x, y = rng.uniform(14.0, 20.0) * np.array([np.cos(angle), np.sin(angle)])
        half, height = rng.uniform(1.0, 2.8, 2), rng.uniform(2.0, 9.0)
        found.append([x - half[0], y - half[1], 0.0, x + half[0], y + half[1], height])
    for _ in range(8):
        x, y = rng.uniform(-12.0, 12.0, 2)
        if 5.0 < np.hypot(x, y) < 6.5 or 10.0 < np.hypot(x, y) < 12.0:
            found.append([x, y, 0.0, x + 0.6, y + 0.4, rng.uniform(0.8, 2.0)])
    return np.array(found)


def cast(origins, directions):
    """Return distances (n,) to boxes and ground, by the slab method."""
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = np.where(directions[:, 2] < 0.0, -origins[:, 2] / directions[:, 2], np.inf)
        for box in boxes():
            a = (box[:3] - origins) / directions
            b = (box[3:] - origins) / directions
            enter = np.nanmax(np.minimum(a, b), axis=1)
            leave = np.nanmin(np.maximum(a, b), axis=1)
            hit = (enter <= leave) & (enter > 0.0)
            nearest = np.where(hit, np.minimum(nearest, enter), nearest)
    return nearest


def scan(T_map_base, twist=None, *, seed=0, n_columns=N_COLUMNS):
    """Return points in the base's frame, each at its own time, and those times since the start."""
    rng = np.random.default_rng(seed)
    azimuth = np.pi - 2.0 * np.pi * np.arange(n_columns) / n_columns
    elevation = np.radians(np.linspace(-20.0, 15.0, N_RINGS))
    azimuth, elevation = (g.ravel() for g in np.meshgrid(azimuth, elevation, indexing="ij"))
    rays = np.column_stack(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ]
    )
    steps = TURN_S * np.arange(n_columns) / n_columns
    times = np.repeat(steps, N_RINGS)
    twist = np.zeros(6) if twist is None else np.asarray(twist)
    poses = np.array([T_map_base @ T_begin_end(twist, t) for t in steps]).repeat(N_RINGS, axis=0)
    origins = poses[:, :3, 3] + LIDAR_M * poses[:, :3, 2]
    distance = cast(origins, np.einsum("nij,nj->ni", poses[:, :3, :3], rays))
    retained = distance < RANGE_M
    distance = distance[retained] + rng.normal(0.0, NOISE_M, np.count_nonzero(retained))
    points = rays[retained] * distance[:, None] + [0.0, 0.0, LIDAR_M]
    return points.astype(np.float32), times[retained]


def circle_pose(angle):
    """Return T_map_base on the circle."""
    R = Rotation.from_euler("z", angle + np.pi / 2.0).as_matrix()
    return make_transform(R, [RADIUS_M * np.cos(angle), RADIUS_M * np.sin(angle), 0.0])


DRIVE_TWIST = np.array([SPEED_M_S, 0.0, 0.0, 0.0, 0.0, SPEED_M_S / RADIUS_M])


def drive(n):
    """Return (stamp_ns, points, times_s, T_map_base) of the scans of a drive."""
    found = []
    for k in range(n):
        T = circle_pose(SPEED_M_S / RADIUS_M * TURN_S * k)
        points, times = scan(T, DRIVE_TWIST, seed=k)
        found.append((round(1e9 * TURN_S * (k + 1)), points, times, T))
    return found


def surface_points(spacing_m=0.25):
    """Return points (n, 3) on all walls and roofs and on the ground, and their normals."""
    line = np.arange(-30.0, 30.0, spacing_m) + 0.5 * spacing_m
    x, y = (g.ravel() for g in np.meshgrid(line, line))
    free = np.ones(len(x), dtype=bool)
    points, normals = [], []
    for low, high in boxes().reshape(-1, 2, 3):
        free &= ~((x > low[0]) & (x < high[0]) & (y > low[1]) & (y < high[1]))
        for axis in range(3):
            others = [a for a in range(3) if a != axis]
            u, v = (np.arange(low[a], high[a], spacing_m) for a in others)
            u, v = (g.ravel() for g in np.meshgrid(u, v))
            for side in (low, high)[int(axis == 2) :]:
                face, normal = np.empty((len(u), 3)), np.zeros((len(u), 3))
                face[:, others[0]], face[:, others[1]], face[:, axis] = u, v, side[axis]
                normal[:, axis] = 1.0
                points.append(face)
                normals.append(normal)
    ground = np.column_stack([x, y, np.zeros(len(x))])[free]
    points.append(ground)
    normals.append(np.tile([0.0, 0.0, 1.0], (len(ground), 1)))
    return np.vstack(points), np.vstack(normals)


def errors(T, T_true):
    """Return shift [m] and turn [deg] between two poses."""
    turn = Rotation.from_matrix(T_true[:3, :3].T @ T[:3, :3]).magnitude()
    return np.linalg.norm(T[:3, 3] - T_true[:3, 3]), np.degrees(turn)


def moved(T, shift, yaw_deg):
    """Return a pose shifted by (3,) [m] and turned about its own z."""
    found = T.copy()
    found[:3, 3] += shift
    found[:3, :3] = T[:3, :3] @ Rotation.from_euler("z", yaw_deg, degrees=True).as_matrix()
    return found
