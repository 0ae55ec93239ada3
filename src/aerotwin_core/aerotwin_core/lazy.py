# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Public names of a package that are imported on their first use (PEP 562).

A package's `__init__` lists its names once, where mypy and editors look for them, and nothing is
imported before a name is used: the help of a command does not wait for SciPy and compilers.

    if TYPE_CHECKING:
        from aerotwin_worlds.world import World, world_record
    else:
        __getattr__, __dir__, __all__ = lazy_exports(__name__)
"""

import ast
import importlib
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package with names under TYPE_CHECKING.

    No public name may equal that of one of the package's modules: importing it would hide the name.
    """
    places = _places_of_names(package)

    def import_name(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, name_there = places[name]
        if module == package:
            return importlib.import_module(f"{package}.{name_there}")
        value = getattr(importlib.import_module(module), name_there)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return import_name, names, sorted(places)


def _places_of_names(package: str) -> dict[str, tuple[str, str]]:
    """Return module and name in it of each name imported under `if TYPE_CHECKING`."""
    spec = find_spec(package)
    source = getattr(spec and spec.loader, "get_source", lambda _: None)(package)
    if source is None:
        raise ImportError(f"the source of {package} is missing: install it with its .py files")
    return dict(_checked_imports(ast.parse(source)))


def _checked_imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for block in tree.body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for statement in block.body:
                if isinstance(statement, ast.ImportFrom) and statement.module:
                    for alias in statement.names:
                        yield alias.asname or alias.name, (statement.module, alias.name)
