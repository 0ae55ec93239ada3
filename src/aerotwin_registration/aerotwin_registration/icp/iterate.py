# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the loop of an alignment stands."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Iterate:
    """The last similarity, its pairs, and whether the loop had settled.

    Attributes
    ----------
    S : (4, 4) array
        x_target = S @ x_source, both relative to the centres of their clouds.
    moved : (n, 3) array
        Source points moved by S.
    index : (n,) array
        Target point of each within the radius; negative without.
    """

    S: np.ndarray
    moved: np.ndarray
    index: np.ndarray
    n_iterations: int
    fitness: float
    rmse_m: float
    has_settled: bool
