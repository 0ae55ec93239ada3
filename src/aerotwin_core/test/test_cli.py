# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How the command `aerotwin` ends when the system refuses something."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from aerotwin_core import cli


@pytest.fixture
def verb(monkeypatch):
    """Return a function that makes `aerotwin break` call something."""

    def make(action):
        module = ModuleType("breaking_verb", "Break.")
        module.configure = lambda parser: None
        module.run = lambda args: action()
        monkeypatch.setitem(sys.modules, "breaking_verb", module)
        entry = EntryPoint(name="break", value="breaking_verb", group=cli.GROUP)
        monkeypatch.setattr(cli, "entry_points", lambda group: [entry])

    return make


def test_what_the_system_refuses_is_one_line_and_exit_code_2(verb, tmp_path, capsys):
    file = tmp_path / "there"
    file.write_text("")
    verb(lambda: file.mkdir(parents=True, exist_ok=True))
    assert cli.main(["break"]) == cli.EXIT_USAGE
    assert capsys.readouterr().err == f"aerotwin break: {file}: File exists\n"


def test_an_error_without_a_file_says_what_it_knows(verb, capsys):
    def refuse():
        raise OSError("no such device")

    verb(refuse)
    assert cli.main(["break"]) == cli.EXIT_USAGE
    assert capsys.readouterr().err == "aerotwin break: no such device\n"
