# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The README holds every option, and its example flies."""

import re
from pathlib import Path

import pytest

from aerotwin_core.parameters import parameter_table_markdown
from aerotwin_flight_control import (
    FlightOptions,
    GeometricParameters,
    RelayOptions,
    WaypointOptions,
)

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
NESTED = re.compile(r"`(?:FlightOptions|GeometricParameters)\(.*\)`")


@pytest.mark.parametrize(
    "options", [WaypointOptions, RelayOptions, FlightOptions, GeometricParameters]
)
def test_the_readme_holds_the_table_of_every_option(options):
    assert NESTED.sub("below", parameter_table_markdown(options)) in README


def test_the_example_ends_where_it_says(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert float(capsys.readouterr().out) == pytest.approx(0.002, abs=0.001)
