# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which robots are near to whom watches: what is dear to draw is drawn of them only."""

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_view.page import Page


def nearest_rows(p_map: FloatArray, eyes: FloatArray, most: int) -> list[int]:
    """Return the rows of the points (n, 3) that are nearest to any eye (m, 3), in their order.

    Without an eye they are the first ones.

    >>> nearest_rows(np.diag([5.0, 1.0, 9.0]), np.zeros((1, 3)), 2)
    [0, 1]
    """
    if len(p_map) <= most or not len(eyes):
        return list(range(min(len(p_map), most)))
    away = np.linalg.norm(p_map[:, None] - eyes[None], axis=2).min(axis=1)
    return sorted(np.argsort(away, kind="stable")[:most].tolist())


def eyes_of(page: Page) -> FloatArray:
    """Return where the cameras of all pages are, (m, 3) in map [m]."""
    eyes = [client.camera.position for client in page.get_clients().values()]
    return np.array(eyes, dtype=np.float64).reshape(-1, 3)
