# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""State of the loop of an alignment."""

from dataclasses import dataclass

import numpy as np

from aerotwin_registration.neighbours import Pairs


@dataclass(frozen=True, kw_only=True)
class Iterate:
    """The last similarity S (4, 4), its pairs, and whether the loop had settled.

    x_target = S @ x_source, both relative to the origins of their surfaces.
    """

    S: np.ndarray
    pairs: Pairs
    n_iterations: int
    has_settled: bool
