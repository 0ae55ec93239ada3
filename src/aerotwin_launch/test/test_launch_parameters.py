# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of `type: str` reach a node as text, however they read."""

import pytest
import yaml

from aerotwin_launch import expand_launch_file

TEXTS = [
    "y", "n", "on", "Off", "true", "5", "-5", "0x10", "1e3", "1_000", ".5", ".inf", "nan", "null",
    "~", "2026-01-01", "12:30", "a: b", "[a", "{a}", "# a", "don't", '"a"', "a\\b", "*a", "!!x",
    "-", "wänd", "plain", "x " * 200,
]  # fmt: skip
LAUNCH = """launch:
  - arg: {name: a, default: none}
  - node:
      pkg: stub_pkg
      exec: recorder
      name: reader
      param:
        - {name: one, value: $(var a), type: str}
        - {name: several, value: [$(var a), "$(var a)b"], type: list_of_str}
        - {name: number, value: $(var number 1e3)}
"""


def inline_files(tmp_path, environment, text):
    path = tmp_path / "t.launch.yaml"
    path.write_text(LAUNCH)
    plan = expand_launch_file(path, {"a": text}, environment)
    for k, file in enumerate(plan.processes[0].parameter_files):
        written = tmp_path / f"{k}.yaml"
        written.write_text(file.text)
        yield written


@pytest.mark.parametrize("text", TEXTS)
def test_yaml_reads_a_text_as_it_was_given(tmp_path, launch_environment, text):
    files = inline_files(tmp_path, launch_environment, text)
    read = [next(iter(yaml.safe_load(file.read_text()).values())) for file in files]
    assert [one["ros__parameters"] for one in read[:2]] == [
        {"one": text}, {"several": [text, f"{text}b"]},
    ]  # fmt: skip


@pytest.mark.ros
def test_ros_reads_a_text_as_it_was_given_and_a_number_as_a_number(tmp_path, launch_environment):
    """The parser of rcl has rules of its own: y is a boolean, 1e3 a number unless quoted."""
    import rclpy
    from rclpy.context import Context
    from rclpy.node import Node

    for text in TEXTS:
        words = ["--ros-args", "-r", "__node:=reader"]
        for file in inline_files(tmp_path, launch_environment, text):
            words += ["--params-file", str(file)]
        context = Context()
        rclpy.init(args=words, context=context)
        node = Node("reader", context=context, automatically_declare_parameters_from_overrides=True)
        values = [node.get_parameter(name).value for name in ("one", "several", "number")]
        node.destroy_node()
        context.shutdown()
        assert values == [text, [text, f"{text}b"], 1000.0], text
