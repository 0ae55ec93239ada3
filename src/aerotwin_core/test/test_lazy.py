# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Public names that are imported on their first use."""

import importlib
import subprocess
import sys

import pytest

PACKAGE = """
from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from {name} import table
    from {name}.deep.far import Thing, thing_of as make
    from aerotwin_core.errors import UserError
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
"""
FAR = """
class Thing:
    pass


def thing_of():
    return Thing()
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a package with lazy names, just imported."""
    name = f"lazy_{tmp_path.name}"
    folder = tmp_path / name
    (folder / "deep").mkdir(parents=True)
    (folder / "__init__.py").write_text(PACKAGE.format(name=name))
    (folder / "table.py").write_text("ROWS = 3\n")
    (folder / "deep" / "__init__.py").write_text("")
    (folder / "deep" / "far.py").write_text(FAR)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(name)
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


def test_a_name_is_imported_on_its_first_use_and_cached(package):
    far = f"{package.__name__}.deep.far"
    assert far not in sys.modules
    thing = package.Thing
    assert sys.modules[far].Thing is thing
    assert vars(package)["Thing"] is thing


def test_names_under_another_name_of_other_packages_and_modules_are_exported(package):
    assert isinstance(package.make(), package.Thing)
    assert package.UserError.__module__ == "aerotwin_core.errors"
    assert package.table.ROWS == 3


def test_all_names_are_listed_and_a_star_imports_them(package):
    assert package.__all__ == ["Thing", "UserError", "make", "table"]
    assert set(package.__all__) <= set(dir(package))
    names = {}
    exec(f"from {package.__name__} import *", names)
    assert names["Thing"] is package.Thing and names["table"].ROWS == 3


def test_an_unknown_name_is_an_attribute_error_and_an_import_error(package):
    with pytest.raises(AttributeError, match="has no attribute 'thing_of'"):
        _ = package.thing_of
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        exec(f"from {package.__name__} import Nothing")
    assert not hasattr(package, "__wrapped__")


def test_a_package_without_its_source_says_so(package, tmp_path):
    name = package.__name__
    compiled = f"import compileall; compileall.compile_dir({str(tmp_path)!r}, legacy=True, quiet=2)"
    subprocess.run([sys.executable, "-c", compiled], check=True)
    for file in (tmp_path / name).rglob("*.py"):
        file.unlink()
    used = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {name}; {name}.Thing"
    child = subprocess.run([sys.executable, "-c", used], capture_output=True, text=True)
    assert f"ImportError: the source of {name} is missing" in child.stderr
