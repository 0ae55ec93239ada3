# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The result of an alignment."""

from dataclasses import dataclass

import numpy as np

from aerotwin_registration.observability import OpenDirection


@dataclass(frozen=True, kw_only=True)
class Registration:
    """The result of an alignment; check `converged` first.

    Attributes
    ----------
    T_target_source : (4, 4) array
        x_target = scale * R @ x_source + t: rotation and translation of the last iterate, also
        when `converged` is False.
    scale : float
        1 unless the protocol estimates it.
    converged, reason : bool, str
        Whether the result may be used, and why.
    n_iterations, n_correspondences : int
        Steps taken, and pairs within the radius at the end.
    fitness : float
        Share of source points with a pair within the radius.
    rmse_m : float
        Root mean square distance of those pairs [m]; NaN without pairs.
    explained : float
        Share of (sampled) source points that lie on the target's surface with the same normal;
        NaN without pairs.
    surface_rmse_m : float
        Root mean square of their distance along the target's normal [m].
    information : (6, 6) array or None
        Inverse covariance of the pose: shift (x, y, z) [1/m^2], then turn (x, y, z) [1/rad^2],
        both along target axes, the turn about `centre_target`. Pairs count as independent, so
        it is an upper bound. None without pairs.
    centre_target : (3,) array or None
        Centre of the paired source points in the target frame: the centre of rotation of
        `information` and `open_directions`.
    open_directions : tuple of OpenDirection
        Motions of the source that the target's surface does not constrain.
    """

    T_target_source: np.ndarray
    converged: bool
    reason: str
    n_iterations: int = 0
    n_correspondences: int = 0
    fitness: float = 0.0
    rmse_m: float = float("nan")
    scale: float = 1.0
    explained: float = float("nan")
    surface_rmse_m: float = float("nan")
    information: np.ndarray | None = None
    centre_target: np.ndarray | None = None
    open_directions: tuple[OpenDirection, ...] = ()

    @property
    def S_target_source(self) -> np.ndarray:
        """The (4, 4) similarity: `scale` times the rotation, and the translation."""
        S = self.T_target_source.copy()
        S[:3, :3] *= self.scale
        return S
