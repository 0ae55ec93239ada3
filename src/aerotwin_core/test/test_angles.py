# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from aerotwin_core.angles import wrap_deg, wrap_rad


@pytest.mark.parametrize(
    ("angle", "wrapped"),
    [(0, 0), (180, -180), (-180, -180), (179, 179), (181, -179), (-181, 179), (725, 5)],
)
def test_the_upper_end_is_the_lower_one(angle, wrapped):
    assert wrap_deg(float(angle)) == wrapped
    assert wrap_rad(math.radians(angle)) == pytest.approx(math.radians(wrapped), abs=1e-12)


def test_numbers_and_arrays_are_wrapped_alike_and_point_where_they_did():
    angles = np.random.default_rng(0).uniform(-50.0, 50.0, 1000)
    for wrap, to_rad in ((wrap_rad, 1.0), (wrap_deg, math.pi / 180.0)):
        found = wrap(angles)
        assert [wrap(float(angle)) for angle in angles] == found.tolist()
        assert (found >= -math.pi / to_rad).all() and (found < math.pi / to_rad).all()
        np.testing.assert_allclose(np.exp(1j * to_rad * found), np.exp(1j * to_rad * angles))


def test_what_is_no_number_stays_none():
    assert math.isnan(wrap_deg(math.nan))
    assert np.isnan(wrap_rad(np.array([math.nan])))[0]
