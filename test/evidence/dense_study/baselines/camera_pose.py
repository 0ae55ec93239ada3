# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The pose of a camera from points that it sees, many of them mistaken.

Three points make a pose, the pose that most others agree with is refined with all of these, and so
on: what agrees is asked anew after each refinement, by what each point can be trusted.

References
----------
Fischler, Bolles: Random sample consensus. CACM 24(6), 1981.
Ke, Roumeliotis: An efficient algebraic solution to the perspective-three-point problem. CVPR 2017.
Mur-Artal, Tardos: ORB-SLAM2. T-RO 33(5), 2017 (four rounds, Huber's weights, 95 % of chi-square).
"""

import cv2
import numpy as np

from aerotwin_core.frames import FloatArray, invert_transform, make_transform, transform_points
from aerotwin_core.rigid_motion import cross_matrix, exponential

_TRIALS, _CONFIDENCE = 1000, 0.999
"""With a fifth of the matches right, 1000 draws of four miss them all once in five."""
_GATE = float(np.sqrt(5.991))
"""95 % of the errors of two coordinates lie within so many standard deviations."""
_ROUNDS, _STEPS = 4, 5
_NEAREST_M = 0.05


def camera_pose(
    points_map: FloatArray, rays: FloatArray, sigmas: FloatArray, n_at_least: int
) -> tuple[FloatArray | None, np.ndarray]:
    """Return T_map_cam, None where too few agree, and which points agree (n,) bool.

    Parameters
    ----------
    points_map : (n, 3) array
        [m].
    rays : (n, 2) array
        x/z and y/z at which the camera sees them.
    sigmas : (n,) array
        Standard deviation of each coordinate of the rays.
    n_at_least : int
        Points that must agree.
    """
    none = np.zeros(len(points_map), dtype=bool)
    if len(points_map) < max(n_at_least, 4):
        return None, none
    middle = points_map.mean(axis=0)  # as numbers of the map may be large
    points = points_map - middle
    cv2.setRNGSeed(0)  # the same matches give the same pose
    found, rotvec, shift, chosen = cv2.solvePnPRansac(
        points, rays, np.eye(3), None, iterationsCount=_TRIALS, confidence=_CONFIDENCE,
        reprojectionError=_GATE * float(np.median(sigmas)), flags=cv2.SOLVEPNP_AP3P,
    )  # fmt: skip
    if not found or chosen is None or len(chosen) < n_at_least:
        return None, none
    T_cam_points, agrees = make_transform(cv2.Rodrigues(rotvec)[0], shift.ravel()), none.copy()
    agrees[chosen.ravel()] = True
    for _ in range(_ROUNDS):
        T_cam_points = _refined(T_cam_points, points[agrees], rays[agrees], sigmas[agrees])
        agrees = _errors(T_cam_points, points, rays, sigmas) < _GATE
        if agrees.sum() < n_at_least:
            return None, none
    T_map_cam = invert_transform(T_cam_points)
    T_map_cam[:3, 3] += middle
    return T_map_cam, agrees


def _errors(T: FloatArray, points: FloatArray, rays: FloatArray, sigmas: FloatArray) -> FloatArray:
    """Return how far each ray is off, in its standard deviations; points behind are far off."""
    seen = transform_points(T, points)
    depth = np.maximum(seen[:, 2], _NEAREST_M)
    off = np.linalg.norm(seen[:, :2] / depth[:, None] - rays, axis=1) / sigmas
    return np.where(seen[:, 2] > _NEAREST_M, off, np.inf)


def _refined(T: FloatArray, points: FloatArray, rays: FloatArray, sigmas: FloatArray) -> FloatArray:
    """Return the pose of least weighted squares, Huber's weights, by Gauss-Newton.

    A motion d = (v, omega) of the camera's frame moves a point p by v + omega x p.
    """
    for _ in range(_STEPS):
        seen = transform_points(T, points)
        x, y, z = seen[:, 0], seen[:, 1], np.maximum(seen[:, 2], _NEAREST_M)
        of_point = np.zeros((len(points), 2, 3))
        of_point[:, 0, 0] = of_point[:, 1, 1] = 1.0 / z
        of_point[:, 0, 2], of_point[:, 1, 2] = -x / z**2, -y / z**2
        J = np.concatenate([of_point, of_point @ -cross_matrix(seen)], axis=2)
        residuals = np.column_stack([x / z, y / z]) - rays
        size = np.linalg.norm(residuals, axis=1) / sigmas
        weights = np.minimum(1.0, _GATE / np.maximum(size, 1e-12)) / sigmas**2
        H = np.einsum("n,nij,nik->jk", weights, J, J)
        b = np.einsum("n,nij,ni->j", weights, J, residuals)
        T = exponential(-np.linalg.lstsq(H, b, rcond=None)[0]) @ T
    return T
