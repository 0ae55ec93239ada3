# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Seeds, presets, and the page that describes them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import read_yaml, to_mapping
from aerotwin_sensor_models import (
    load_preset,
    preset_names,
    presets,
    seed_sequence,
)
from aerotwin_sensor_models.presets import PARAMETERS_OF

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "sensor_models.md"
PRESET_FILES = Path(presets.__file__).parent / "presets"
SENSORS = list(PARAMETERS_OF)
PRESETS = [(sensor, name) for sensor in SENSORS for name in preset_names(sensor)]


def test_one_seed_gives_one_stream_and_every_other_value_another():
    def first(*key):
        return seed_sequence(*key).standard_normal(4000)

    a = first(3, 0, "imu")
    np.testing.assert_array_equal(a, first(3, 0, "imu"))
    for other in ((4, 0, "imu"), (3, 1, "imu"), (3, 0, "gnss"), (3, "iris0", "imu"), (0, 3, "imu")):
        assert abs(np.mean(a * first(*other))) < 5 / np.sqrt(4000)


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match="seed"):
        seed_sequence(-1, 0, "imu")


@pytest.mark.parametrize(("sensor", "name"), PRESETS)
def test_every_preset_loads_and_names_its_source(sensor, name):
    assert to_mapping(load_preset(sensor, name))
    content = read_yaml(PRESET_FILES / sensor / f"{name}.yaml")
    assert len(content["source"]) > 20


def test_every_sensor_has_an_ideal_preset():
    assert all("ideal" in preset_names(sensor) for sensor in SENSORS)


def test_unknown_presets_and_sensors_are_refused_with_the_names_there_are():
    with pytest.raises(ParameterError, match="gnss has none named 'rtk'; choose one of gnss_def"):
        load_preset("gnss", "rtk")
    with pytest.raises(ParameterError, match="none named 'sonar'; choose one of imu, barometer"):
        load_preset("sonar", "ideal")


def test_the_reference_names_every_preset():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for _, name in PRESETS)


def test_a_file_like_a_preset_is_loaded_by_its_path(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("source: my bench\nparameters: {rate_hz: 5.0, outages_s: [[20.0, 30.0]]}\n")
    parameters = load_preset("gnss", str(path))
    assert (parameters.rate_hz, parameters.outages_s) == (5.0, ((20.0, 30.0),))
    path.write_text("source: my bench\nparameters: {rate: 5.0}\n")
    with pytest.raises(ParameterError, match=r"mine\.yaml.*rate"):
        load_preset("gnss", str(path))
    with pytest.raises(ParameterError, match=r"none\.yaml"):
        load_preset("gnss", str(tmp_path / "none.yaml"))


def test_a_preset_inherits_from_its_base_what_it_does_not_state(tmp_path):
    rolling, base = load_preset("camera", "as_flown_rolling"), load_preset("camera", "as_flown")
    assert rolling == replace(base, readout_s=0.0141)
    (tmp_path / "dim.yaml").write_text(
        "source: my bench\nbase: as_flown\nparameters: {exposure: {automatic: {target_dn: 60.0}}}\n"
    )
    (tmp_path / "slow.yaml").write_text(
        "source: my bench\nbase: dim.yaml\nparameters: {rate_hz: 5.0}\n"
    )
    slow = load_preset("camera", str(tmp_path / "slow.yaml"))
    assert (slow.rate_hz, slow.exposure.automatic.target_dn) == (5.0, 60.0)
    assert slow.exposure.automatic.speed == base.exposure.automatic.speed


def test_a_base_that_is_missing_or_the_preset_itself_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("source: my bench\nbase: as_driven\nparameters: {}\n")
    with pytest.raises(ParameterError, match="camera has none named 'as_driven'"):
        load_preset("camera", str(path))
    path.write_text("source: my bench\nbase: other.yaml\nparameters: {}\n")
    (tmp_path / "other.yaml").write_text("source: my bench\nbase: mine.yaml\nparameters: {}\n")
    with pytest.raises(ParameterError, match="based on itself"):
        load_preset("camera", str(path))
    path.write_text("source: my bench\nbase: [as_flown]\nparameters: {}\n")
    with pytest.raises(ParameterError, match="expected base as a name"):
        load_preset("camera", str(path))
