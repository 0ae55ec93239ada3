# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a turn."""

import numpy as np

from aerotwin_teach_repeat.radar.figures import power_from_above, turn_picture

AZIMUTHS = np.pi - 2.0 * np.pi * np.arange(8) / 8


def test_a_cell_lies_where_it_looks():
    """Row 2 of 8 looks to the left: in the picture that is the upper middle."""
    levels = np.zeros((8, 20), np.uint8)
    levels[2, 10:15] = 80
    picture = power_from_above(levels, AZIMUTHS, 0.5, 9.0, 90)
    rows, columns = np.nonzero(picture > 0.0)
    assert np.nanmax(picture) == 40.0
    assert abs(columns.mean() - 44.5) < 0.5
    ahead_m, left_m = (np.array([columns, rows]) + 0.5) / 90 * 18.0 - 9.0
    ranges = np.hypot(ahead_m, left_m)
    assert ((ranges >= 5.0) & (ranges < 7.5)).all() and left_m.min() > 4.0
    assert np.abs(np.degrees(np.arctan2(ahead_m, left_m))).max() <= 22.5
    assert np.isnan(picture[0, 0])  # farther than the bins reach


def test_the_picture_is_an_svg():
    picture = power_from_above(np.full((8, 20), 30, np.uint8), AZIMUTHS, 0.5, 9.0, 20)
    points = np.array([[1.0, 2.0], [3.0, 4.0]])
    svg = turn_picture(picture, points, np.array([True, False]), points, 9.0, "turn")
    assert svg.startswith("<svg") and "peaks beside it" in svg
