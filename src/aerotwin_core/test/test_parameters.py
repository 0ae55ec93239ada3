# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses
from dataclasses import MISSING, dataclass, field

import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import (
    flat_parameters,
    group,
    load_parameters,
    load_parameters_file,
    old_names,
    parameter,
    read_yaml,
    replaced,
    to_mapping,
)


@dataclass(frozen=True, kw_only=True)
class Inner:
    gain: float = parameter(2.0, text="gain", minimum=0.0)


@dataclass(frozen=True, kw_only=True)
class Wide:
    gain: float = parameter(2.0, text="gain")
    bias: float = parameter(0.0, text="bias")
    items: tuple[Inner, ...] = parameter((), text="items")


@dataclass(frozen=True, kw_only=True)
class Nest:
    rate_hz: float = parameter(text="rate", unit="Hz")
    inner: Wide = parameter(Wide(), text="inner")
    other: Wide | None = parameter(None, text="other")


@dataclass(frozen=True, kw_only=True)
class Outer:
    rate_hz: float = parameter(text="rate", unit="Hz", minimum=1.0, maximum=10.0)
    kind: str = parameter("a", text="kind", choices=("a", "b"))
    offset_m: tuple[float, float] = parameter((0.0, 0.0), text="offset", unit="m")
    inner: Inner = parameter(Inner(), text="inner")
    items: tuple[Inner, ...] = parameter((), text="items")
    yaw_deg: float | None = parameter(None, text="yaw", unit="deg")


def test_defaults_fill_what_is_not_given_and_integers_become_floats():
    loaded = load_parameters(Outer, {"rate_hz": 5, "offset_m": [1, 2]}, where="x")
    assert loaded == Outer(rate_hz=5.0, offset_m=(1.0, 2.0))
    assert isinstance(loaded.rate_hz, float)


def test_what_a_mapping_leaves_out_is_as_in_its_base():
    base = Nest(rate_hz=5.0, inner=Wide(gain=3.0, bias=4.0, items=(Inner(gain=7.0),)))
    changes = {"inner": {"bias": 0.5}, "other": {"bias": 1.0}}
    loaded = load_parameters(Nest, changes, where="x", base=base)
    inner = dataclasses.replace(base.inner, bias=0.5)
    assert loaded == Nest(rate_hz=5.0, inner=inner, other=Wide(bias=1.0))
    changes = {"inner": {"items": [{}]}}  # a list is replaced, its items have their defaults
    loaded = load_parameters(Nest, changes, where="x", base=base)
    assert loaded.inner == dataclasses.replace(base.inner, items=(Inner(),))


def test_a_mapping_comes_back():
    provided = {"rate_hz": 5.0, "inner": {"gain": 3.0}, "items": [{"gain": 1.0}], "yaw_deg": 4.0}
    loaded = load_parameters(Outer, provided, where="x")
    assert load_parameters(Outer, to_mapping(loaded), where="x") == loaded


@pytest.mark.parametrize(
    ("provided", "message"),
    [
        ({}, r"file.yaml: 'rate_hz' is missing"),
        ({"rate_hz": 5.0, "knd": "a"}, r"unknown key 'knd'; did you mean 'kind'\?"),
        ({"rate_hz": "5"}, r"rate_hz: expected a number, found '5' \(str\)"),
        ({"rate_hz": True}, r"rate_hz: expected a number"),
        ({"rate_hz": float("nan")}, r"rate_hz: expected a finite number"),
        ({"rate_hz": 0.5}, r"rate_hz: expected at least 1.0 Hz, found 0.5"),
        ({"rate_hz": 11}, r"rate_hz: expected at most 10.0 Hz"),
        ({"rate_hz": 5.0, "kind": "c"}, r"kind: expected one of a, b, found 'c'"),
        ({"rate_hz": 5.0, "offset_m": [1.0]}, r"offset_m: expected 2 values, found 1"),
        ({"rate_hz": 5.0, "inner": {"gain": -1.0}}, r"inner\.gain: expected at least 0.0"),
        ({"rate_hz": 5.0, "items": [{"gian": 1.0}]}, r"items\[0\]: unknown key 'gian'"),
        ([1], r"expected names with values"),
    ],
)
def test_a_bad_parameter_is_named_with_what_was_expected_and_found(provided, message):
    with pytest.raises(ParameterError, match=message):
        load_parameters(Outer, provided, where="file.yaml")


@dataclass(frozen=True, kw_only=True)
class Renamed:
    max_rmse_m: float = parameter(1.0, text="limit", old_name="bar_rmse_m")


def test_an_old_name_is_taken_with_a_warning_and_not_beside_the_new_one():
    with pytest.warns(FutureWarning, match="x: 'bar_rmse_m' is called 'max_rmse_m' now"):
        assert load_parameters(Renamed, {"bar_rmse_m": 2}, where="x").max_rmse_m == 2.0
    with pytest.raises(ParameterError, match="'bar_rmse_m' is the old name of 'max_rmse_m'"):
        load_parameters(Renamed, {"bar_rmse_m": 2, "max_rmse_m": 3}, where="x")
    assert to_mapping(Renamed()) == {"max_rmse_m": 1.0}


@dataclass(frozen=True, kw_only=True)
class Camera:
    is_rendered: bool = parameter(True, text="rendered")
    rate_hz: float = parameter(20.0, text="rate", unit="Hz", minimum=0.1)


@dataclass(frozen=True, kw_only=True)
class Grouped:
    camera: Camera = group(Camera, old_prefix="camera_", is_rendered="camera")


@dataclass(frozen=True, kw_only=True)
class Deep:
    first: Grouped = group(Grouped)
    several: tuple[Grouped, ...] = parameter((), text="several")


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    ("provided", "camera"),
    [
        ({"camera": False, "camera_rate_hz": 5}, Camera(is_rendered=False, rate_hz=5.0)),
        (
            {"camera": {"is_rendered": False}, "camera_rate_hz": 5},
            Camera(is_rendered=False, rate_hz=5.0),
        ),
        ({"camera": {"rate_hz": 5}}, Camera(rate_hz=5.0)),
        ({"camera": None, "camera_rate_hz": 5}, Camera(rate_hz=5.0)),
    ],
)
def test_the_parameters_of_a_group_have_the_names_that_stood_beside_it(provided, camera):
    assert load_parameters(Grouped, provided, where="x").camera == camera
    deep = load_parameters(Deep, {"first": provided, "several": [provided]}, where="x")
    assert deep == Deep(first=Grouped(camera=camera), several=(Grouped(camera=camera),))


def test_an_old_name_of_a_group_is_told_with_the_present_one():
    with pytest.warns(FutureWarning, match=r"x: 'camera_rate_hz' is called 'camera\.rate_hz' now"):
        load_parameters(Grouped, {"camera_rate_hz": 5}, where="x")
    with pytest.warns(FutureWarning, match=r"'first\.camera' is called 'first\.camera\.is_rend"):
        load_parameters(Deep, {"first": {"camera": True}}, where="x")
    assert old_names(Deep) == {
        "first.camera": "first.camera.is_rendered",
        "first.camera_rate_hz": "first.camera.rate_hz",
    }


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    ("provided", "message"),
    [
        (
            {"camera": {"rate_hz": 5}, "camera_rate_hz": 5},
            r"'camera_rate_hz' is the old name of 'camera\.rate_hz'; remove it",
        ),
        ({"camera_rate_hz": 0}, r"x: camera\.rate_hz: expected at least 0\.1 Hz, found 0"),
        ({"camera": 5}, r"x: camera\.is_rendered: expected true or false, found 5"),
        ({"camera": {"rate": 5}}, r"unknown key 'camera\.rate'; did you mean 'camera\.rate_hz'"),
    ],
)
def test_a_wrong_value_of_a_group_is_named_by_group_and_parameter(provided, message):
    with pytest.raises(ParameterError, match=message):
        load_parameters(Grouped, provided, where="x")


def test_nested_parameters_are_replaced_by_their_names():
    changed = replaced(Deep(), {"first.camera.rate_hz": 5.0, "several": (Grouped(),)})
    assert changed == Deep(first=Grouped(camera=Camera(rate_hz=5.0)), several=(Grouped(),))
    with pytest.raises(TypeError):
        replaced(Deep(), {"first.camera.rate": 5.0})


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"none.yaml: cannot be read"):
        load_parameters_file(Outer, tmp_path / "none.yaml")


def test_a_file_that_is_not_yaml_is_named(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("b: 2\na: [1,}")
    with pytest.raises(ParameterError, match=r"bad.yaml:2: not valid YAML"):
        load_parameters_file(Outer, path)


def test_nested_parameters_have_names_with_dots_and_the_defaults_of_their_owner():
    @dataclass(frozen=True, kw_only=True)
    class Owner:
        first: Inner = parameter(Inner(gain=7.0), text="first")
        second: Inner = field(default_factory=lambda: Inner(gain=8.0))
        third: Inner = parameter(text="third")
        limit: float = parameter(text="limit")

    found = {name: default for name, _, default in flat_parameters(Owner)}
    assert found == {
        "first.gain": 7.0, "second.gain": 8.0, "third.gain": 2.0, "limit": MISSING,
    }  # fmt: skip


def test_a_key_that_stands_twice_is_named_with_its_line(tmp_path):
    path = tmp_path / "twice.yaml"
    path.write_text("name: a\norigin: {x: 1}\nname: b\n")
    with pytest.raises(ParameterError, match=r"'name' is there twice.*line 3"):
        read_yaml(path)
    path.write_text("base: &base {x: 1, y: 2}\nother:\n  <<: *base\n  x: 3\n")
    assert read_yaml(path)["other"] == {"x": 3, "y": 2}
