# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which motions of a cloud its target's surface does not oppose.

A cloud on a plane slides: point-to-point residuals settle although two shifts and one turn are
free. The point-to-plane information matrix shows it: its small eigenvalues belong to the motions
that move no point along a surface normal.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

N_SAMPLES = 3000
N_NEIGHBOURS = 20
# Mean square of (surface normal . motion) below which a motion counts as free: the normals of
# real rough surfaces reach 0.01 and more, those of a plane seen with noise stay below 0.003.
FREE_INFORMATION = 0.004
# A part of a direction smaller than this is not mentioned.
_WORTH_NAMING = 0.4


@dataclass(frozen=True, kw_only=True)
class OpenDirection:
    """One motion that nothing opposes.

    Attributes
    ----------
    translation, rotation : (3,) arrays
        The motion in target axes: shift [m], and turn about the cloud's centre [rad] times the
        cloud's radius, together of unit length.
    information : float
        Mean square of the normal component; 1 = fully opposed.
    """

    translation: np.ndarray
    rotation: np.ndarray
    information: float

    @property
    def text(self) -> str:
        """The motion in words."""
        if np.linalg.norm(self.translation) >= np.linalg.norm(self.rotation):
            return f"a shift along ({_named(self.translation)})"
        return f"a turn about ({_named(self.rotation)})"


def open_directions(points: np.ndarray, target: cKDTree) -> tuple[OpenDirection, ...]:
    """Return the motions of points (n, 3) that the target's surface leaves open.

    Parameters
    ----------
    points : (n, 3) array
        Paired points of the source, in target axes.
    target : cKDTree
        Target points; normals are fitted to their neighbourhoods.
    """
    H = information_matrix(points, target)
    values, vectors = np.linalg.eigh(H)
    return tuple(
        OpenDirection(translation=v[:3], rotation=v[3:], information=float(max(e, 0.0)))
        for e, v in zip(values, vectors.T)
        if e < FREE_INFORMATION
    )


def information_matrix(points: np.ndarray, target: cKDTree) -> np.ndarray:
    """Return the (6, 6) mean point-to-plane information, (shift, turn times radius).

    Turns are about the points' centre and scaled by their RMS radius, so that all six have the
    same unit and eigenvalues lie between 0 and about 1.
    """
    step = max(1, len(points) // N_SAMPLES)
    samples = points[::step]
    normals = surface_normals(samples, target)
    arms = samples - samples.mean(axis=0)
    radius = max(float(np.sqrt(np.mean(np.sum(arms**2, axis=1)))), 1e-12)
    J = np.hstack([normals, np.cross(arms / radius, normals)])
    return J.T @ J / len(J)


def surface_normals(points: np.ndarray, target: cKDTree) -> np.ndarray:
    """Return unit normals (n, 3), sign arbitrary, of planes fitted to the nearest target points."""
    k = min(N_NEIGHBOURS, target.n)
    _, index = target.query(points, k=k, workers=-1)
    near = target.data[index] - target.data[index].mean(axis=1, keepdims=True)
    covariance = np.einsum("nki,nkj->nij", near, near)
    return np.linalg.eigh(covariance)[1][:, :, 0]


def _named(direction: np.ndarray) -> str:
    unit = direction / max(float(np.linalg.norm(direction)), 1e-12)
    unit = unit * np.sign(unit[int(np.argmax(np.abs(unit)))])
    parts = [
        f"{value:+.1f} {axis}" for axis, value in zip("xyz", unit) if abs(value) >= _WORTH_NAMING
    ]
    return " ".join(parts)
