# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the loop of an alignment stands."""

from dataclasses import dataclass

import numpy as np

from aerotwin_registration.neighbours import Pairs


@dataclass(frozen=True, kw_only=True)
class Iterate:
    """The last similarity, its pairs, and whether the loop had settled.

    Attributes
    ----------
    S : (4, 4) array
        x_target = S @ x_source, both relative to the origins of their surfaces.
    pairs : Pairs
        Of the source moved by S.
    """

    S: np.ndarray
    pairs: Pairs
    n_iterations: int
    has_settled: bool
