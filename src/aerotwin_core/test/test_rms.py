# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from aerotwin_core.rms import rms, rms_length

ROUNDING = 1e-12


def test_rms_is_the_length_over_the_root_of_the_number():
    values = np.random.default_rng(1).normal(size=(40, 3))
    assert rms(values) == pytest.approx(np.linalg.norm(values) / math.sqrt(120), rel=ROUNDING)
    assert rms_length(values) == pytest.approx(np.linalg.norm(values) / math.sqrt(40), rel=ROUNDING)


def test_the_rms_of_nothing_is_nan():
    assert math.isnan(rms([]))
    assert math.isnan(rms_length(np.empty((0, 3))))
