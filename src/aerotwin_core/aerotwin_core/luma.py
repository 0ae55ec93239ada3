# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How bright a colour is."""

import numpy as np

LUMA_REC601 = np.array([0.299, 0.587, 0.114])
"""Shares of red, green and blue in the luma of ITU-R BT.601."""


def grey_of(picture: np.ndarray) -> np.ndarray:
    """Return a picture (h, w) or red, green, blue (h, w, 3) uint8 in grey (h, w) uint8."""
    return picture if picture.ndim == 2 else (picture @ LUMA_REC601 + 0.5).astype(np.uint8)
