# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is said where a part is not installed."""

import importlib
from importlib.metadata import EntryPoint

import pytest

from aerotwin_core import extras
from aerotwin_core.cli import main


def verb_that_needs(module: str, folder, monkeypatch) -> EntryPoint:
    """Return a verb whose work imports a module."""
    name = f"verb_that_needs_{module.replace('.', '_')}"
    (folder / f"{name}.py").write_text(
        f"def configure(parser):\n    pass\n\ndef run(arguments):\n    import {module}\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    return EntryPoint("work", name, "aerotwin.commands")


def test_a_module_that_is_not_installed_is_one_line_with_the_way_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(extras.EXTRA_OF_MODULE, "absent_library", "maps")
    verb = verb_that_needs("absent_library", tmp_path, monkeypatch)
    assert main(["work"], verbs=[verb]) == 2
    assert capsys.readouterr().err == (
        "aerotwin work: needs absent_library, which is not installed; do: pip install "
        "'aerotwin[maps]' (in a workspace: make setup)\n"
    )


def test_a_module_that_lacks_one_of_its_own_is_an_error_of_the_program(tmp_path, monkeypatch):
    verb = verb_that_needs("json.absent", tmp_path, monkeypatch)
    with pytest.raises(ModuleNotFoundError):
        main(["work"], verbs=[verb])


def test_a_command_of_an_extra_that_is_not_installed_is_named(monkeypatch, capsys):
    known = EntryPoint("evaluate.map", "maps", extras.COMMANDS)
    monkeypatch.setattr(extras, "entry_points", lambda group: [known])
    assert main(["evaluate", "map", "a.ply", "b.ply"], verbs=[]) == 2
    assert capsys.readouterr().err == (
        "aerotwin evaluate map is not installed; do: pip install 'aerotwin[maps]' (in a "
        "workspace: make setup)\n"
    )


def test_a_command_that_does_not_exist_is_none_of_an_extra(monkeypatch, capsys):
    monkeypatch.setattr(extras, "entry_points", lambda group: [])
    assert main(["evaluate", "bogus"], verbs=[]) == 2
    assert "'evaluate bogus' is not a command" in capsys.readouterr().err
