# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Public names of the packages that import them on first use: all are there, none is hidden."""

import ast
import importlib
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
PACKAGES = {
    ".".join(file.parent.relative_to(SRC).parts[1:]): file
    for file in SRC.glob("*/aerotwin_*/**/__init__.py")
    if "lazy_exports(__name__)" in file.read_text()
}


def _imported_while_checked(file: Path) -> dict[str, str]:
    """Return the module of each name that is imported in an if."""
    return {
        alias.asname or alias.name: str(statement.module)
        for block in ast.parse(file.read_text()).body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


def test_packages_are_found():
    assert {"aerotwin_core", "aerotwin_worlds"} < PACKAGES.keys()


@pytest.mark.parametrize("name", sorted(PACKAGES))
def test_public_names_can_be_imported_and_no_module_hides_them(name):
    package, folder = importlib.import_module(name), PACKAGES[name].parent
    modules = _imported_while_checked(PACKAGES[name])
    assert set(modules) == set(package.__all__)
    for public, module in modules.items():
        assert getattr(package, public) is not None
        is_module = (folder / f"{public}.py").exists() or (folder / public).is_dir()
        assert is_module == (module == name), f"{name}.{public}: importing the module hides it"


@pytest.mark.parametrize(
    "name",
    sorted(
        ".".join(file.parent.relative_to(SRC).parts[1:])
        for file in SRC.glob("*/aerotwin_*/**/__init__.py")
        if "ros" not in file.parts and "__all__" in file.read_text()
    ),
)
def test_every_name_in_all_exists(name):
    namespace: dict[str, object] = {}
    exec(f"from {name} import *", namespace)  # imports the modules among the names, too
    assert set(importlib.import_module(name).__all__) <= set(namespace)
