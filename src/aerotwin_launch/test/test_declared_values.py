# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What arguments are by default, what they follow from, and which parameters they set."""

import pytest

from aerotwin_launch.declared_values import (
    default_values,
    followed_arguments,
    parameter_arguments,
)
from aerotwin_launch.schema import load_actions

FILE = """
launch:
  - arg: {name: route}
  - arg: {name: slam, default: fast}
  - arg: {name: settings, default: "$(dirname)/$(var slam).yaml"}
  - arg: {name: host, default: "$(env NO_SUCH_HOST)"}
  - arg: {name: step_s, default: "$(eval \\"'1' if '$(var slam)' == 'fast' else '2'\\")"}
  - group:
      - node:
          pkg: a
          exec: b
          param:
            - {from: $(var settings)}
            - {name: slam.kind, value: $(var slam), type: str}
            - {name: rate_hz, value: 2.0}
            - {name: step_ns, value: "$(eval '$(var step_s) * 1e9')"}
            - {name: log, value: $(var slam).log}
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.launch.yaml"
    path.write_text(FILE)
    return path


def test_defaults_are_evaluated_and_those_without_a_value_are_left_out(path):
    values = default_values(load_actions(path), path, {})
    assert values == {"slam": "fast", "settings": f"{path.parent}/fast.yaml", "step_s": "1"}


def test_a_default_follows_from_the_arguments_in_it(path):
    followed = followed_arguments(load_actions(path))
    assert followed == {"slam": (), "settings": ("slam",), "host": (), "step_s": ("slam",)}


def test_a_parameter_is_that_of_the_argument_which_alone_is_its_value(path):
    assert parameter_arguments(load_actions(path)) == {"slam.kind": "slam"}
