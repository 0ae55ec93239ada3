# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Thrust and drag models of one's own, as the README shows them."""

import dataclasses
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_multirotor_dynamics import GRAVITY, Multirotor, MultirotorBatch, load_airframe

README = Path(__file__).resolve().parents[1] / "README.md"
OWN_MODELS = re.search(r"```python\n([^`]*def cubic_thrust[^`]*)```", README.read_text("utf-8"))[1]
HIGH = (0.0, 0.0, 1000.0)


@pytest.fixture
def own_models(tmp_path, monkeypatch):
    (tmp_path / "own_models.py").write_text(OWN_MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_models"
    sys.modules.pop("own_models", None)


def test_models_of_ones_own_take_the_place_of_thrust_and_drag(own_models):
    airframe = dataclasses.replace(
        load_airframe("iris"),
        thrust_model=f"{own_models}:cubic_thrust",
        drag_model=f"{own_models}:sideways_drag",
        model_parameters=(7e-9, 0.4),
    )
    start = {"p_map_body": HIGH, "rotor_speed_rad_s": (800.0, 0.0, 0.0, 0.0)}
    still = Multirotor(airframe, **start).state
    thrust = 7e-9 * 800.0**3
    np.testing.assert_allclose(still.specific_force_in_body, (0, 0, thrust / 1.55), rtol=1e-12)
    # arms and reaction torque follow the thrust of the model
    moment = np.array([-0.22, -0.13, -0.06]) * thrust
    np.testing.assert_allclose(still.alpha_in_body * airframe.inertia_kg_m2, moment, rtol=1e-12)
    sliding = Multirotor(airframe, v_map_body=(0.0, 3.0, 0.0), **start).state
    h_force = -800.0 * 1.75e-4 * 3.0
    felt = sliding.specific_force_in_body[1]
    assert felt == pytest.approx((h_force - 0.4 * 3.0) / 1.55, rel=1e-12)
    hover = np.full(4, (1.55 * GRAVITY / 4 / 7e-9) ** (1 / 3))
    hovering = Multirotor(airframe, p_map_body=HIGH, rotor_speed_rad_s=hover)
    for _ in range(250):
        hovering.step(None, 0.004, rotor_speed_setpoint_rad_s=hover)
    np.testing.assert_allclose(hovering.state.p_map_body, HIGH, atol=1e-9)


@pytest.mark.parametrize("name", ["no_such_module:thrust", "math:no_such_function", "nonsense"])
def test_a_model_that_is_not_there_is_refused(name):
    airframe = dataclasses.replace(load_airframe("iris"), thrust_model=name)
    with pytest.raises(ParameterError, match="thrust_model"):
        Multirotor(airframe)


def test_too_many_model_parameters_are_refused():
    with pytest.raises(ValueError, match="at most 8 numbers"):
        dataclasses.replace(load_airframe("iris"), model_parameters=(1.0,) * 9)


def test_a_batch_has_only_the_built_in_models():
    airframe = dataclasses.replace(load_airframe("iris"), drag_model="math:sin")
    with pytest.raises(ValueError, match="models of its own"):
        MultirotorBatch(airframe, p_map_body=[HIGH])
