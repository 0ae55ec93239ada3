# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest

from aerotwin_core.interfaces import ControllerContext, ControllerSample


def test_a_context_cannot_be_changed_and_has_no_options_by_default():
    context = ControllerContext(vehicle="", instance=0, airframe=None, step_s=0.004, seed=1)
    assert context.options == {}
    with pytest.raises(dataclasses.FrozenInstanceError):
        context.seed = 2


def test_a_sample_holds_truth_and_no_reading_unless_one_is_due():
    three, four = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    sample = ControllerSample(4_000_000, 0.004, three, three, four, three, np.zeros(4))
    assert sample.specific_force_body is None
    assert sample.angular_velocity_body is None
    assert sample.magnetic_field_body_tesla is None
    assert sample.pressure_pa is None
    assert sample.fix is None
