# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of nodes, the nested ones by names with dots."""

import sys
from dataclasses import dataclass, field

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip("rclpy")

import rclpy  # noqa: E402

from aerotwin_core.errors import ParameterError  # noqa: E402
from aerotwin_core.parameters import group, parameter  # noqa: E402
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters  # noqa: E402


@dataclass(frozen=True, kw_only=True)
class Gain:
    gain: float = parameter(2.0, text="gain", unit="1/s", minimum=0.0)
    n: int = parameter(3, text="how many")


@dataclass(frozen=True, kw_only=True)
class Ranged:
    speed: float = parameter(1.0, text="speed", minimum=0.0, maximum=100.0, live=True)
    n: int = parameter(1, text="how many", minimum=1)
    cut: float | None = parameter(None, text="cut", maximum=2.5)
    mode: str = parameter("a", text="mode", choices=("a", "b"))
    free: float = parameter(0.0, text="free")


@dataclass(frozen=True, kw_only=True)
class Settings:
    name: str = parameter(text="name")
    inner: Gain = field(default_factory=lambda: Gain(n=5))


@dataclass(frozen=True, kw_only=True)
class Camera:
    is_rendered: bool = parameter(True, text="rendered")
    rate_hz: float = parameter(20.0, text="rate", unit="Hz", minimum=0.1)


@dataclass(frozen=True, kw_only=True)
class Grouped:
    camera: Camera = group(Camera, old_prefix="camera_", is_rendered="camera")
    limit_m: float = parameter(1.0, text="limit", old_name="bar_m")


def declared(*tokens: str, cls: type = Settings):
    """Return the parameters of a node, the text of each of its own, and what it logs."""
    arguments = [part for token in tokens for part in ("-p", token)]
    rclpy.init(args=["--ros-args", *arguments])
    try:
        node = ConfiguredNode("tuned")
        settings = declare_parameters(node, cls)
        names = [name for name in node.get_parameters_by_prefix("") if name != "use_sim_time"]
        texts = {name: node.describe_parameter(name).description for name in names}
        node.destroy_node()
        return settings, texts
    finally:
        rclpy.try_shutdown()


def test_nested_parameters_are_set_by_names_with_dots():
    settings, texts = declared("name:=a", "inner.gain:=4")
    assert settings == Settings(name="a", inner=Gain(gain=4.0, n=5))
    assert texts["inner.gain"] == "gain [1/s]"


def test_old_names_set_the_present_parameters_with_a_line_each(capfd):
    settings, texts = declared("camera:=false", "camera_rate_hz:=5", "bar_m:=2.0", cls=Grouped)
    assert settings == Grouped(camera=Camera(is_rendered=False, rate_hz=5.0), limit_m=2.0)
    shown = {"camera.is_rendered", "camera.rate_hz", "limit_m"}
    assert shown <= texts.keys()
    assert not {"camera", "camera_rate_hz", "bar_m"} & texts.keys()
    said = capfd.readouterr().err
    for old, new in (("camera", "camera.is_rendered"), ("camera_rate_hz", "camera.rate_hz")):
        assert f"'{old}' is called '{new}' now; the next version refuses it" in said


def test_the_present_name_of_a_launch_file_wins_over_the_old_one_of_a_parameter_file(capfd):
    settings, _ = declared(
        "camera_rate_hz:=5.0", "camera.rate_hz:=6.0", "camera:=true", "camera.is_rendered:=false",
        cls=Grouped,
    )  # fmt: skip
    assert settings.camera == Camera(is_rendered=False, rate_hz=6.0)
    said = capfd.readouterr().err
    assert "'camera_rate_hz' has no effect, as 'camera.rate_hz' is set, too" in said
    assert "'camera' has no effect, as 'camera.is_rendered' is set, too" in said


def test_a_group_and_the_old_name_that_is_spelt_like_it_do_not_exclude_each_other():
    settings, _ = declared("camera:=false", "camera.rate_hz:=5.0", cls=Grouped)
    assert settings.camera == Camera(is_rendered=False, rate_hz=5.0)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["camera_rate_hz:=0.0"], r"camera\.rate_hz: expected at least 0\.1 Hz, found 0\.0"),
        (["camera_rate:=5.0"], "unknown key 'camera_rate'"),
    ],
)
def test_an_old_name_with_a_wrong_value_is_refused(tokens, message):
    with pytest.raises(ParameterError, match=message):
        declared(*tokens, cls=Grouped)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (
            ["name:=a", "inner.gian:=4.0"],
            "unknown key 'inner.gian'; did you mean 'inner.gain'",
        ),
        (["name:=a", "inner.gain:=-1.0"], r"inner\.gain: expected at least 0.0 1/s, found -1.0"),
        (["name:=a", "inner:=1.0"], "inner: expected names with values, found 1.0"),
        (["name:=a", "name.first:=b"], "name: expected a text"),
        (["inner.n:=1"], "'name' is missing"),
        (["name:=a", "nam:=b"], "unknown key 'nam'; did you mean 'name'"),
    ],
)
def test_what_names_no_parameter_or_is_out_of_range_is_reported(tokens, message):
    with pytest.raises(ParameterError, match=message):
        declared(*tokens)


def test_ranges_and_choices_are_declared_for_the_tools_of_ros():
    rclpy.init()
    try:
        node = ConfiguredNode("ranged")
        declare_parameters(node, Ranged)
        found = {name: node.describe_parameter(name) for name in ("speed", "n", "cut", "mode")}
        refused = node.set_parameters([rclpy.Parameter("speed", value=101.0)])
        assert not node.describe_parameter("free").floating_point_range
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
    (speed,) = found["speed"].floating_point_range
    assert (speed.from_value, speed.to_value) == (0.0, 100.0)
    (n,) = found["n"].integer_range
    assert (n.from_value, n.to_value) == (1, 2**63 - 1)
    (cut,) = found["cut"].floating_point_range
    assert (cut.from_value, cut.to_value) == (-sys.float_info.max, 2.5)
    assert found["mode"].additional_constraints == "one of 'a', 'b'"
    assert not refused[0].successful
