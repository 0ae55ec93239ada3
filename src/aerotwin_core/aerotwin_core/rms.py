# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Root mean squares; NaN of an empty array."""

import numpy as np
from numpy.typing import ArrayLike


def rms(values: ArrayLike) -> float:
    """Return the root of the mean square of all values of an array.

    >>> rms([3.0, -4.0, 5.0, 0.0])
    3.5355339059327378
    """
    array = np.asarray(values)
    return float(np.sqrt(np.mean(array**2))) if array.size else np.nan


def rms_length(vectors: ArrayLike) -> float:
    """Return the root of the mean square of the lengths of vectors (n, k).

    >>> rms_length([[3.0, 4.0], [0.0, 5.0]])
    5.0
    """
    array = np.asarray(vectors)
    return float(np.sqrt(np.mean(np.sum(array**2, axis=1)))) if array.size else np.nan
