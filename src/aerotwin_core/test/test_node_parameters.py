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
from aerotwin_core.parameters import parameter  # noqa: E402
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


def declared(*tokens: str):
    arguments = [part for token in tokens for part in ("-p", token)]
    rclpy.init(args=["--ros-args", *arguments])
    try:
        node = ConfiguredNode("tuned")
        settings = declare_parameters(node, Settings)
        text = node.describe_parameter("inner.gain").description
        node.destroy_node()
        return settings, text
    finally:
        rclpy.try_shutdown()


def test_nested_parameters_are_set_by_names_with_dots():
    settings, text = declared("name:=a", "inner.gain:=4")
    assert settings == Settings(name="a", inner=Gain(gain=4.0, n=5))
    assert text == "gain [1/s]"


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["name:=a", "inner.gian:=4.0"], "tuned: inner: unknown key 'gian'; did you mean 'gain'"),
        (["name:=a", "inner.gain:=-1.0"], "inner: gain: expected at least 0.0 1/s, found -1.0"),
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
