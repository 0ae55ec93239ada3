# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Airframe files, and the README that describes them."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from aerotwin_core.errors import ParameterError
from aerotwin_multirotor_dynamics import (
    Multirotor,
    airframe_names,
    derived_quantities,
    load_airframe,
)

USABLE_CHARGE = 0.8  # as pilots leave a lithium polymer battery
README = Path(__file__).resolve().parents[1] / "README.md"


@pytest.mark.parametrize("name", airframe_names())
def test_every_airframe_loads_names_its_source_and_has_balanced_rotors(name):
    airframe = load_airframe(name)
    assert airframe.name == name
    assert len(airframe.source) > 40
    assert sum(rotor.spin for rotor in airframe.rotors) == 0


@pytest.mark.parametrize("name", airframe_names())
def test_every_airframe_has_a_battery_ground_effect_vibration_and_air_that_thins(name):
    """A minute of hover costs what leads to the 12 to 22 minutes of the vehicles' data sheets."""
    airframe = load_airframe(name)
    assert airframe.propeller.ground_effect > 0.0
    assert not airframe.vibration.is_off
    assert airframe.air_density == "standard_atmosphere"
    hover = derived_quantities(airframe)
    vehicle = Multirotor(airframe, p_map_body=(0, 0, 99), rotor_speed_rad_s=hover.hover_speed_rad_s)
    command = np.full(len(airframe.rotors), hover.hover_command)
    for _ in range(1000):
        vehicle.step(command, 0.004)
    minutes = 4.0 / 60.0 / (1.0 - vehicle.state.battery_charge)
    assert 12.0 < USABLE_CHARGE * minutes < 23.0


def test_damage_is_given_for_every_rotor_or_for_none(tmp_path):
    text = (Path(README.parent) / "aerotwin_multirotor_dynamics/airframes/iris.yaml").read_text()
    own = tmp_path / "own.yaml"
    own.write_text(text.replace("  n_blades: 2\n", "  damage_kg_m: [1.0e-5]\n"))
    with pytest.raises(ParameterError, match="damage_kg_m must hold 4 numbers"):
        load_airframe(own)


def test_an_unknown_airframe_is_refused_with_the_names_there_are():
    with pytest.raises(ParameterError, match=r"none named 'irus', packaged are .*iris"):
        load_airframe("irus")


def test_an_airframe_of_ones_own_comes_by_path_and_is_checked(tmp_path):
    text = (Path(README.parent) / "aerotwin_multirotor_dynamics/airframes/iris.yaml").read_text()
    own = tmp_path / "own.yaml"
    own.write_text(text.replace("mass_kg: 1.55", "mass_kg: 2.5"))
    assert load_airframe(own).mass_kg == 2.5
    own.write_text(text.replace("mass_kg: 1.55", "mass_kg: -1"))
    with pytest.raises(ParameterError, match="mass_kg: expected at least"):
        load_airframe(own)
    own.write_text(text.replace("mass_kg", "mass"))
    with pytest.raises(ParameterError, match="unknown key 'mass'"):
        load_airframe(own)


@pytest.mark.parametrize(
    ("provided", "impossible", "message"),
    [
        ("thrust_coefficient_n_s2: 5.84e-6", "thrust_coefficient_n_s2: 0.0", "at least 1e-15 N"),
        ("speed_per_command_rad_s: 1000.0", "speed_per_command_rad_s: 0.0", "at least 0.001 rad"),
        ("maximum_speed_rad_s: 1100.0", "maximum_speed_rad_s: 0.0", "at least 0.001 rad/s, found"),
        (
            "normal_stiffness_n_per_m: 2000.0",
            "normal_stiffness_n_per_m: 0.0",
            "at least 0.001 N/m, found 0.0",
        ),
        (
            "0.055225]",
            "0.0585]",
            r"about z at most the sum of the other two \(0.05825\), got 0.0585",
        ),
        ("[0.029125,", "[0.0845,", "inertia_kg_m2 must hold about x at most"),
    ],
)
def test_an_airframe_that_cannot_be_is_refused_when_it_is_loaded(
    tmp_path, provided, impossible, message
):
    text = (Path(README.parent) / "aerotwin_multirotor_dynamics/airframes/iris.yaml").read_text()
    assert text.count(provided) == 1
    own = tmp_path / "own.yaml"
    own.write_text(text.replace(provided, impossible))
    with pytest.raises(ParameterError, match=message) as error:
        load_airframe(own)
    assert "own.yaml" in str(error.value)


def test_an_airframe_without_feet_is_refused_when_it_is_loaded(tmp_path):
    text = (Path(README.parent) / "aerotwin_multirotor_dynamics/airframes/iris.yaml").read_text()
    values = yaml.safe_load(text)
    values["contact"]["feet_m"] = []
    own = tmp_path / "own.yaml"
    own.write_text(yaml.safe_dump(values))
    with pytest.raises(ParameterError, match=r"own\.yaml.*feet_m must hold at least one foot"):
        load_airframe(own)


def test_more_rotors_or_points_than_the_kernel_holds_are_refused():
    iris = load_airframe("iris")
    with pytest.raises(ValueError, match="rotors must hold 1 to 32 rotors, got 36"):
        dataclasses.replace(iris, rotors=iris.rotors * 9)
    with pytest.raises(ValueError, match="at most 64 points together, got 68"):
        dataclasses.replace(iris.contact, feet_m=iris.contact.feet_m[:4], hull_m=((0, 0, 0),) * 64)


def test_the_moments_of_a_flat_plate_are_a_body_whatever_their_rounding(tmp_path):
    """Of a plate Iz = Ix + Iy exactly; files round each of the three."""
    text = (Path(README.parent) / "aerotwin_multirotor_dynamics/airframes/iris.yaml").read_text()
    own = tmp_path / "own.yaml"
    own.write_text(text.replace("0.055225]", "0.05826]"))
    assert load_airframe(own).inertia_kg_m2[2] == 0.05826


def test_a_multirotor_need_not_be_a_quadrotor(tmp_path):
    text = (Path(README.parent) / "aerotwin_multirotor_dynamics/airframes/iris.yaml").read_text()
    two_more = (
        "  - {position_m: [0.0, 0.3, 0.0], spin: 1}\n  - {position_m: [0.0, -0.3, 0.0], spin: -1}\n"
    )
    own = tmp_path / "hexa.yaml"
    own.write_text(text.replace("contact:\n", two_more + "contact:\n"))
    vehicle = Multirotor(load_airframe(own), p_map_body=(0, 0, 9), rotor_speed_rad_s=500.0)
    lift = 6 * 5.84e-6 * 500.0**2 / 1.55
    np.testing.assert_allclose(vehicle.state.specific_force_in_body, (0, 0, lift), atol=1e-12)


def test_the_examples_of_the_readme_run():
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    assert len(blocks) == 4
    assert names["vehicle"].is_on_ground is False
