# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from aerotwin_core.parameters import parameter_table_markdown

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.ros
def test_the_readme_holds_the_table_of_every_parameter():
    from aerotwin_simulator.ros.flight_parameters import FlightParameters

    assert parameter_table_markdown(FlightParameters) in README.read_text(encoding="utf-8")
