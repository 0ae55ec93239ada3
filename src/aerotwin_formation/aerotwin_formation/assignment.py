# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which vehicle flies to which goal: the smallest sum of squared distances.

For the assignment of the smallest sum, no exchange of two goals makes the sum smaller, hence
(s_i - s_j) . (g_i - g_j) >= 0 for every two starts and their goals. Where all fly straight and have
gone the same share of their ways at any time, two of them are therefore never closer than
Delta / sqrt(2), Delta the smallest spacing of the starts and of the goals: with Delta > 2 sqrt(2) R
none come closer than 2R (Turpin, Michael and Kumar 2014, CAPT, IJRR 33(1), theorem 1). It
holds in any metric that is Euclidean after scaling, so for downwash ellipsoids if starts and goals
are scaled before.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist


def assign_goals(starts: ArrayLike, goals: ArrayLike) -> np.ndarray:
    """Return the index (n,) of the goal of each start, both (n, 3) [m].

    Notes
    -----
    SciPy's `linear_sum_assignment`, the method of Jonker and Volgenant: n^3, about 1 ms for 100.

    Raises
    ------
    ValueError
        If there are not equally many finite starts and goals.

    Examples
    --------
    >>> assign_goals([[0, 0, 0], [1, 0, 0]], [[2, 0, 0], [1, 0, 0]]).tolist()
    [1, 0]
    """
    starts, goals = np.asarray(starts, dtype=np.float64), np.asarray(goals, dtype=np.float64)
    if starts.shape != goals.shape or starts.ndim != 2:
        raise ValueError(
            f"starts and goals must be as many points, got shapes {starts.shape}, {goals.shape}"
        )
    if not (np.isfinite(starts).all() and np.isfinite(goals).all()):
        raise ValueError("starts and goals must be finite")
    return linear_sum_assignment(cdist(starts, goals, "sqeuclidean"))[1]
