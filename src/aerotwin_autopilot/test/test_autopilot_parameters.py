# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters: file, tables, settings."""

import pytest

from aerotwin_autopilot import parameters as p
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_autopilot.settings import PX4_NAMES, Settings
from aerotwin_core.errors import ParameterError
from aerotwin_multirotor_dynamics import load_airframe


def test_the_packaged_iris_is_the_iris_that_flies():
    """Two files on purpose, but the shipped ones agree."""
    ours, flown = load_autopilot_parameters().airframe, load_airframe("iris")
    assert ours.mass_kg == flown.mass_kg
    assert ours.inertia_kg_m2 == pytest.approx(flown.inertia_kg_m2)
    assert ours.rotor_x_m == tuple(rotor.position_m[0] for rotor in flown.rotors)
    assert ours.rotor_y_m == tuple(rotor.position_m[1] for rotor in flown.rotors)
    assert ours.rotor_is_ccw == tuple(rotor.spin for rotor in flown.rotors)


def test_three_rotors_are_refused(tmp_path):
    text = p.DEFAULT_FILE.read_text(encoding="utf-8").replace(
        "rotor_x_m: [0.13, -0.13, 0.13, -0.13]", "rotor_x_m: [0.13, -0.13, 0.13]"
    )
    path = tmp_path / "tricopter.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match="equally many values"):
        load_autopilot_parameters(path)


def test_a_declination_in_the_file_is_taken(tmp_path):
    path = tmp_path / "own.yaml"
    text = p.DEFAULT_FILE.read_text(encoding="utf-8")
    path.write_text(text + "estimator: {magnetic_declination_deg: 12.5}\n", encoding="utf-8")
    assert load_autopilot_parameters(path).estimator.magnetic_declination_deg == 12.5


def test_each_setting_has_a_name_on_the_wire_and_keeps_its_range():
    settings = Settings(p.TunableParameters())
    assert set(PX4_NAMES.values()) == set(p.TunableParameters.__dataclass_fields__)
    assert all(len(name) <= 16 for name in PX4_NAMES)
    assert settings.set("MIS_TAKEOFF_ALT", 7.0)
    assert not settings.set("MIS_TAKEOFF_ALT", -1.0)
    assert not settings.set("MIS_TAKEOFF_ALT", float("nan"))
    assert settings.get("MIS_TAKEOFF_ALT") == 7.0
