# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a robot believes to be, and how surely: ellipsoids of three standard deviations."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import trimesh
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page
from aerotwin_view.scene.kind_colours import kind_colour, rgb_of
from aerotwin_view.scene.layers import Layers

SIGMAS = 3.0
LEAST_M, MOST_M = 1e-3, 200.0
"""Shorter half axes are drawn so long; with a longer one nothing is: it would hide the world."""
_ASYMMETRY = 1e-6
"""Of a covariance, relative to its largest number: rounding of its publisher."""
_OPACITY = 0.3
Believed: TypeAlias = tuple[FloatArray, FloatArray]
"""A position (3,) [m] and its covariance (3, 3) [m^2], both in map."""


def ellipsoid_of(covariance: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the half axes (3,) [m] of three sigma and their quaternion wxyz (4,) in map.

    None if the covariance (3, 3) [m^2] is unknown; see `ellipsoids_of`.
    """
    is_known, half_axes, turns = ellipsoids_of(covariance[None])
    return (half_axes[0], turns[0]) if is_known[0] else None


def ellipsoids_of(
    covariances: FloatArray,
) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
    """Return which covariances (n, 3, 3) [m^2] are known, and half axes and turns of those.

    Unknown are those that are all zero, or -1 first, as messages say it, not finite, not symmetric,
    not positive, or wider than `MOST_M`. Half axes (m, 3) [m] are of three sigma, turns (m, 4) are
    quaternions wxyz in map.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        largest = np.abs(covariances).max(axis=(1, 2))  # NaN stays
        skew = np.abs(covariances - covariances.transpose(0, 2, 1)).max(axis=(1, 2))
    is_known = (largest > 0.0) & (largest <= (MOST_M / SIGMAS) ** 2)
    is_known &= skew <= _ASYMMETRY * largest
    variances, axes = np.linalg.eigh(covariances[is_known])
    is_positive = variances[:, 0] >= -_ASYMMETRY * largest[is_known]
    is_known[is_known] = is_positive
    variances, axes = np.maximum(variances[is_positive], 0.0), axes[is_positive]
    half_axes = np.maximum(SIGMAS * np.sqrt(variances), LEAST_M)
    axes[:, :, 2] = np.cross(axes[:, :, 0], axes[:, :, 1])  # no reflection
    return is_known, half_axes, Rotation.from_matrix(axes).as_quat(scalar_first=True)


class UncertaintyEllipsoids:
    """Ellipsoids by the kind of the estimate, in the colour of its path."""

    def __init__(self, page: Page, layers: Layers) -> None:
        self._page = page
        self._drawn: dict[str, Any] = {}
        self._counts: dict[str, int] = {}
        self._switch = layers.add(
            "Uncertainty (3 sigma)",
            "of positions, as estimates report it; nothing where they report none",
            self._switched,
        )

    def show(self, believed: Mapping[str, Sequence[Believed]]) -> None:
        """Show these estimates by their kind in place of those before."""
        for kind in self._drawn.keys() - believed.keys():
            self._remove(kind)
        for kind, estimates in believed.items():
            if not estimates:
                self._remove(kind)
                continue
            places, covariances = map(np.array, zip(*estimates, strict=True))
            is_known, half_axes, turns = ellipsoids_of(covariances)
            if len(turns) != self._counts.get(kind, 0):
                self._remove(kind)
                self._add(kind, len(turns))
            if len(turns):
                shown = self._drawn[kind]
                shown.batched_positions = places[is_known].astype(np.float32)
                shown.batched_scales = half_axes.astype(np.float32)
                shown.batched_wxyzs = turns.astype(np.float32)

    def _add(self, kind: str, n: int) -> None:
        self._counts[kind] = n
        if n:
            ball = trimesh.creation.icosphere(subdivisions=3)
            self._drawn[kind] = self._page.scene.add_batched_meshes_simple(
                f"/uncertainty/{kind}",
                np.asarray(ball.vertices),
                np.asarray(ball.faces),
                np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
                np.zeros((n, 3)),
                batched_scales=np.ones((n, 3), np.float32),
                batched_colors=rgb_of(kind_colour(kind)),
                lod="off",  # a coarser ball has corners
                opacity=_OPACITY,
                cast_shadow=False,
                receive_shadow=False,
                visible=self._switch.is_on,
            )

    def _remove(self, kind: str) -> None:
        self._counts.pop(kind, None)
        if kind in self._drawn:
            self._drawn.pop(kind).remove()

    def _switched(self, is_on: bool) -> None:
        for drawn in list(self._drawn.values()):
            drawn.visible = is_on
