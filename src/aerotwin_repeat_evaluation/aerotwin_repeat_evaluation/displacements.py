# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From the true world to its image in a bent map and back, for points, poses and routes."""

from typing import Protocol

import numpy as np
from scipy.spatial import cKDTree

_REACH_M = 0.05  # half the baseline over which a direction is mapped


class Displacement(Protocol):
    """Deformation of a map: the true point p appears at w(p) = p + u(p) in the map."""

    def __call__(self, points_map: np.ndarray) -> np.ndarray:
        """Return u (n, 3) [m] at true points (n, 3)."""

    def inverse(self, points_map: np.ndarray) -> np.ndarray:
        """Return the true points (n, 3) that appear at points (n, 3) of the map."""


class NoDisplacement:
    """A map without any deformation."""

    def __call__(self, points_map: np.ndarray) -> np.ndarray:
        """Return zeros."""
        return np.zeros_like(np.asarray(points_map, np.float64))

    def inverse(self, points_map: np.ndarray) -> np.ndarray:
        """Return a copy of the points."""
        return np.asarray(points_map, np.float64).copy()


class DrivenDisplacement:
    """Deformation of the map of a driven teach, drift of the odometry included; near the route.

    A point is mapped by its two nearest vertices, weighted by proximity along the path.

    Parameters
    ----------
    T_map_vertex, T_true_vertex : (n, 4, 4) arrays
        Taught poses of the vertices in driving order, at least two, and the vehicle's true poses.
    """

    def __init__(self, T_map_vertex: np.ndarray, T_true_vertex: np.ndarray) -> None:
        self._T_map, self._T_true = (np.asarray(T, float) for T in (T_map_vertex, T_true_vertex))
        shapes = self._T_map.shape, self._T_true.shape
        if shapes[0] != shapes[1] or len(shapes[0]) != 3 or len(self._T_map) < 2:
            raise ValueError(f"both must be (n, 4, 4) with two vertices at least, got {shapes}")

    def __call__(self, points_map: np.ndarray) -> np.ndarray:
        """Return u (n, 3) [m] at true points (n, 3)."""
        points = np.asarray(points_map, np.float64)
        return _by_vertices(points, self._T_true, self._T_map) - points

    def inverse(self, points_map: np.ndarray) -> np.ndarray:
        """Return the true points (n, 3) that appear at points (n, 3) of the map."""
        return _by_vertices(np.asarray(points_map, np.float64), self._T_map, self._T_true)


def _by_vertices(points: np.ndarray, T_from: np.ndarray, T_to: np.ndarray) -> np.ndarray:
    """Return points (n, 3) carried along by the nearest vertices, from their poses to others."""
    places = T_from[:, :3, 3]
    near = cKDTree(places).query(points)[1]
    ahead = np.einsum("ij,ij->i", points - places[near], T_from[near, :3, 0]) >= 0.0
    other = np.where(ahead, near + 1, near - 1)
    other = np.where((other < 0) | (other == len(places)), near, other)
    step = places[other] - places[near]
    length = np.einsum("ij,ij->i", step, step)
    share = np.einsum("ij,ij->i", points - places[near], step) / np.where(length > 0.0, length, 1.0)
    share = np.clip(share, 0.0, 1.0)[:, None]
    carry = T_to @ np.linalg.inv(T_from)
    first, second = (
        np.einsum("nij,nj->ni", carry[k, :3, :3], points) + carry[k, :3, 3] for k in (near, other)
    )
    return (1.0 - share) * first + share * second


def image_of_points(displacement: Displacement, points_true: np.ndarray) -> np.ndarray:
    """Return where true points (n, 3) appear in the map, w(p) = p + u(p) [m]."""
    points = np.asarray(points_true, np.float64)
    return points + displacement(points)


def image_of_poses(displacement: Displacement, T_map_base: np.ndarray) -> np.ndarray:
    """Return true poses (n, 4, 4) as they appear in the map.

    The position is exact; the attitude is rotated by the map's change of heading over a decimetre
    (yaw only: roll and pitch change by the map's slope, which tracking does not see).
    """
    return _carried(lambda points: image_of_points(displacement, points), T_map_base)


def true_poses(displacement: Displacement, T_map_base: np.ndarray) -> np.ndarray:
    """Return the true poses (n, 4, 4) of poses in the map: the exact image by w^-1."""
    return _carried(displacement.inverse, T_map_base)


def _carried(carry, T_map_base: np.ndarray) -> np.ndarray:
    poses = np.asarray(T_map_base, np.float64)
    if poses.ndim != 3 or poses.shape[1:] != (4, 4):
        raise ValueError(f"T_map_base must have shape (n, 4, 4), got {poses.shape}")
    middle, forward = poses[:, :3, 3], poses[:, :3, 0]
    ahead, behind = carry(middle + _REACH_M * forward), carry(middle - _REACH_M * forward)
    along = (ahead - behind)[:, :2]
    turn = np.arctan2(along[:, 1], along[:, 0]) - np.arctan2(forward[:, 1], forward[:, 0])
    carried = poses.copy()
    carried[:, :3, :3] = _turns(turn) @ poses[:, :3, :3]
    carried[:, :3, 3] = carry(middle)
    return carried


def _turns(yaw: np.ndarray) -> np.ndarray:
    R = np.zeros((len(yaw), 3, 3))
    R[:, 0, 0] = R[:, 1, 1] = np.cos(yaw)
    R[:, 1, 0], R[:, 0, 1], R[:, 2, 2] = np.sin(yaw), -np.sin(yaw), 1.0
    return R
