# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who follows whom under the consensus of XTDrone (Xiao et al. 2020, section V)."""

import numpy as np

from aerotwin_core.frames import FloatArray


def xtdrone_topology(places: FloatArray) -> np.ndarray:
    """Return whom each of n vehicles follows (n, n), true for followed ones, as XTDrone's leader.

    From the leader outwards, each vehicle is followed by the n // 2 nearest ones that were not
    handled before; of two vehicles only the one with the higher number follows. Who follows nobody
    follows the leader (coordination/formation_demo/leader.py, get_communication_topology).
    """
    n = len(places)
    follows = np.zeros((n, n), dtype=bool)
    waiting, handled = [0], []
    while waiting and len(handled) < n - 1:
        one = waiting.pop(0)
        handled.append(one)
        distances = np.sum((places - places[one]) ** 2, axis=1)
        distances[handled] = np.inf
        for other in np.argsort(distances, kind="stable")[: n // 2]:
            if np.isfinite(distances[other]):
                follows[other, one] = one < other
                if other not in waiting:
                    waiting.append(int(other))
    follows[1:, 0] |= ~follows[1:].any(axis=1)
    return follows
