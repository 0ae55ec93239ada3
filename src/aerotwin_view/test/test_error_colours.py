# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Colours of values."""

import numpy as np

from aerotwin_core.plots import colour_table
from aerotwin_view.scene.error_colours import coloured


def test_the_ends_of_the_scale_have_the_ends_of_the_table_and_all_beyond_too():
    table = colour_table()
    found = coloured(np.array([-5.0, 1.0, 2.0, 3.0, 9.0]), (1.0, 3.0))
    np.testing.assert_array_equal(found, table[[0, 0, 128, 255, 255]])
