# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which points of the unit cube a campaign visits: at random, Sobol's, or a Latin hypercube.

References
----------
I. M. Sobol', USSR Comp. Math. Math. Phys. 7 (1967) 86; scrambled as A. B. Owen, J. Complexity 14
(1998) 466. M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21 (1979) 239.
"""

import numpy as np
from numpy.typing import NDArray

GRID = "grid"
METHODS = (GRID, "random", "sobol", "latin_hypercube")


def unit_points(method: str, n_samples: int, n_axes: int, seed: int) -> NDArray[np.float64]:
    """Return points of the unit cube.

    Parameters
    ----------
    method : str
        One of `METHODS` but the grid.
    n_samples, n_axes : int
        1 at least.
    seed : int
        Of the random numbers, or of the scrambling.

    Returns
    -------
    (n_samples, n_axes) array
        In [0, 1).

    Raises
    ------
    ValueError
        If the method is another.
    """
    rng = np.random.default_rng(seed)
    if method == "random":
        return rng.random((n_samples, n_axes))
    from scipy.stats import qmc  # takes a second to import

    if method == "latin_hypercube":
        return np.asarray(qmc.LatinHypercube(n_axes, seed=rng).random(n_samples))
    if method == "sobol":
        # A sequence: the first points do not depend on how many are drawn, in powers of two.
        n_doublings = max(n_samples - 1, 0).bit_length()
        return np.asarray(qmc.Sobol(n_axes, seed=rng).random_base2(n_doublings))[:n_samples]
    raise ValueError(f"method must be one of {METHODS[1:]}, got {method}")
