# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Seeds, presets, and the page that describes them."""

import dataclasses
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
    with pytest.raises(ParameterError, match="gnss has none named 'dgps'; choose one of gnss_def"):
        load_preset("gnss", "dgps")
    with pytest.raises(ParameterError, match="none named 'sonar'; choose one of imu, barometer"):
        load_preset("sonar", "ideal")


def test_the_reference_names_every_preset():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for _, name in PRESETS)


def write(path, base, parameters):
    path.write_text(f"base: {base}\nsource: my bench\nparameters: {parameters}\n")
    return str(path)


def test_a_preset_is_its_base_but_for_what_it_states(tmp_path):
    write(tmp_path / "a.yaml", "adis16448", "{gyroscope: {saturation: 9.0}}")
    (tmp_path / "below").mkdir()
    path = write(tmp_path / "below" / "b.yaml", "../a.yaml", "{rate_hz: 100.0}")
    base = load_preset("imu", "adis16448")
    gyroscope = dataclasses.replace(base.gyroscope, saturation=9.0)
    assert load_preset("imu", path) == dataclasses.replace(base, gyroscope=gyroscope, rate_hz=100.0)


def test_the_rolling_pair_is_the_other_one_but_for_its_shutter():
    plain, rolling = (load_preset("camera", name) for name in ("as_flown", "as_flown_rolling"))
    assert plain.exposure.time_s == 0.005 and plain.readout_s == 0.0
    assert rolling == dataclasses.replace(plain, readout_s=0.0141)


def test_an_old_name_replaces_the_value_of_the_base(tmp_path):
    path = write(tmp_path / "a.yaml", "lidar_lite_v3", "{most_m: 12.0}")
    with pytest.warns(FutureWarning, match="'most_m' is called 'max_range_m' now"):
        assert load_preset("range_finder", path).max_range_m == 12.0


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("adis", r"a\.yaml: base: imu has none named 'adis'; choose one of adis16448, ideal"),
        ("none.yaml", r"none\.yaml"),
        ("a.yaml", r"a\.yaml: base: it is its own, .*a\.yaml -> .*a\.yaml; leave one base out"),
        ("b.yaml", r"base: it is its own, .*a\.yaml -> .*b\.yaml -> .*a\.yaml; leave"),
        ("wrong.yaml", r"wrong\.yaml: unknown key 'rate'"),
        ("3", r"a\.yaml: base: expected the name of a preset or .*, found 3 \(int\)"),
        ("null", r"a\.yaml: base: expected .*, found None"),
    ],
)
def test_a_base_that_cannot_be_is_refused_by_file_and_key(tmp_path, base, message):
    write(tmp_path / "b.yaml", "a.yaml", "{}")
    write(tmp_path / "wrong.yaml", "adis16448", "{rate: 5.0}")
    with pytest.raises(ParameterError, match=message):
        load_preset("imu", write(tmp_path / "a.yaml", base, "{}"))


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
