# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The README's tables are the program's."""

from pathlib import Path

import pytest

from aerotwin_comparison import study_command, twin_command
from aerotwin_comparison.study import StudyProtocol
from aerotwin_comparison.twin import TwinProtocol
from aerotwin_core.parameters import parameter_table_markdown

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("protocol", [TwinProtocol, StudyProtocol])
def test_the_tables_of_choices_are_the_parameters(protocol):
    assert parameter_table_markdown(protocol) in README


@pytest.mark.parametrize("command", [twin_command, study_command])
def test_short_names_of_conditions_stand_in_the_readme(command):
    assert all(f"`{name}`" in README for name in command.ALIASES)
