# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How bright a colour is."""

import numpy as np

LUMA_REC601 = np.array([0.299, 0.587, 0.114])
"""Shares of red, green and blue in the luma of ITU-R BT.601."""
