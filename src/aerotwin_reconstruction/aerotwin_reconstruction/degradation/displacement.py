# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A seeded Gaussian random field of displacements: the distortion of a reconstruction.

The field is a sum of plane waves with random wave vectors and amplitudes (spectral synthesis,
Shinozuka and Deodatis 1991, doi 10.1115/1.3119501). With wave vectors drawn from the spectrum of a
Gaussian correlation and normal amplitudes its covariance is, over all seeds, exactly

    E[u_i(p) u_j(q)] = d_ij s_i^2 exp(-|p - q|^2 / l^2),

with distances in the horizontal plane: objects on the ground move with it.
"""

import numpy as np
from scipy.ndimage import map_coordinates

N_WAVES = 128
"""Enough that one draw looks like its ensemble; the covariance is exact for any number."""
INVERSE_ERROR_M = 1e-9  # largest step of the last iteration of the inverse [m]
LOOK_UP_ERROR = 1e-5  # of the interpolation in dense clouds, as a share of the RMS
_LATTICE_SHARE = 1.0 / 16.0
_PADDING = 16  # nodes: the rim's influence on a cubic spline falls by 0.27 per node
_MAX_ITERATIONS = 60
_CHUNK = 16_384


class DisplacementField:
    """Displacements u(p) of a reconstruction: the true point p appears at w(p) = p + u(p).

    Parameters
    ----------
    rms_m : float
        Root mean square of the length of u, its three components together, over all seeds [m].
        A place of a hundred metres is about one draw of a field with that correlation length,
        so its own RMS scatters; most of it is an offset, which does not affect a repeat.
    correlation_m : float
        Horizontal distance at which the correlation has fallen to 1/e [m].
    vertical_ratio : float
        RMS of the vertical component relative to one horizontal component.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    def __init__(
        self, rms_m: float, correlation_m: float, seed: int, *, vertical_ratio: float = 1.0
    ) -> None:
        if not (np.isfinite(rms_m) and rms_m >= 0.0):
            raise ValueError(f"rms_m must be finite and not negative, got {rms_m}")
        if not (np.isfinite(correlation_m) and correlation_m > 0.0):
            raise ValueError(f"correlation_m must be finite and positive, got {correlation_m}")
        if not (np.isfinite(vertical_ratio) and vertical_ratio >= 0.0):
            raise ValueError(
                f"vertical_ratio must be finite and not negative, got {vertical_ratio}"
            )
        self.rms_m, self.correlation_m, self.seed = float(rms_m), float(correlation_m), int(seed)
        self.vertical_ratio = float(vertical_ratio)
        rng = np.random.default_rng([self.seed, 701])
        # The characteristic function of N(0, 2 / l^2) is exp(-r^2 / l^2).
        self._waves = rng.normal(0.0, np.sqrt(2.0) / correlation_m, (2, N_WAVES))
        horizontal = rms_m / np.sqrt(2.0 + vertical_ratio**2)
        self.axis_rms_m = horizontal * np.array([1.0, 1.0, vertical_ratio])
        amplitudes = rng.normal(0.0, 1.0 / np.sqrt(N_WAVES), (2, N_WAVES, 3))
        self._cosines, self._sines = amplitudes * self.axis_rms_m

    def __call__(self, points_map: np.ndarray) -> np.ndarray:
        """Return the displacements (n, 3) [m] of true points (n, 3) in map [m].

        Clouds denser than a lattice of 1/16 of the correlation length are interpolated in it with
        cubic splines, within `LOOK_UP_ERROR` times the RMS of the sum of waves; others are summed.
        """
        points = _checked(points_map)
        if not len(points):
            return np.empty_like(points)
        step = self.correlation_m * _LATTICE_SHARE
        low = np.floor(points[:, :2].min(axis=0) / step) - _PADDING
        size = np.floor(points[:, :2].max(axis=0) / step) + _PADDING + 2 - low
        if size.prod() >= len(points):
            return self._sum(points[:, :2])
        columns, rows = (low[k] + np.arange(int(size[k])) for k in range(2))
        nodes = np.stack(np.meshgrid(columns, rows, indexing="ij"), axis=-1) * step
        lattice = self._sum(nodes.reshape(-1, 2)).reshape(*nodes.shape[:2], 3)
        places = points[:, :2].T / step - low[:, None]
        return np.column_stack(
            [map_coordinates(lattice[..., k], places, order=3, mode="nearest") for k in range(3)]
        )

    def _sum(self, xy_map: np.ndarray) -> np.ndarray:
        out = np.empty((len(xy_map), 3))
        for start in range(0, len(xy_map), _CHUNK):
            part = slice(start, start + _CHUNK)
            phase = xy_map[part] @ self._waves
            out[part] = np.cos(phase) @ self._cosines + np.sin(phase) @ self._sines
        return out

    def inverse(self, points_map: np.ndarray) -> np.ndarray:
        """Return the true points p (n, 3) whose images w(p) are the input points (n, 3) [m].

        Fixed-point iteration p <- q - u(p): each step shrinks the error by the field's largest
        gradient g, and the result is within g / (1 - g) times `INVERSE_ERROR_M` of the exact one.

        Raises ValueError if the field folds the plane, so that the inverse does not exist or is not
        found.
        """
        images = _checked(points_map)
        points = images
        for _ in range(_MAX_ITERATIONS):
            moved = images - self(points)
            step = float(np.abs(moved - points).max(initial=0.0))
            points = moved
            if step <= INVERSE_ERROR_M:
                return points
        raise ValueError(
            f"the field has no inverse that is found in {_MAX_ITERATIONS} steps (last one "
            f"{step:.3g} m): an RMS of {self.rms_m:g} m over {self.correlation_m:g} m folds the "
            "place; choose a longer correlation or less RMS"
        )


def _checked(points_map: np.ndarray) -> np.ndarray:
    points = np.asarray(points_map, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ValueError(f"points_map must be a finite (n, 3) array, got shape {points.shape}")
    return points
