# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A page per package of its public Python names: those of `__all__`, of its folders, too."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from source_tree import module_trees, packages


def python_pages(source: Path) -> dict[str, str]:
    """Return the pages by the names of their packages; those without public names have none."""
    pages = {}
    for package in packages(source):
        described: set[str] = set()
        lines = []
        for module in public_modules(source, package):
            lines += section(module, described)
        if lines:
            pages[package] = "\n".join([package, "=" * len(package), "", *lines]) + "\n"
    return pages


def public_modules(source: Path, package: str) -> Iterator[ModuleType]:
    """Yield the package and those of its folders that say what is public in them."""
    for name, tree in module_trees(source, package):
        is_folder = (source / package / Path(*name.split("."))).is_dir()
        if is_folder and ".ros" not in name and "__all__" in assigned(tree):
            yield importlib.import_module(name)


def assigned(tree: ast.Module) -> set[str]:
    """Return the names that a module assigns, in its conditions, too."""
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def section(module: ModuleType, described: set[str]) -> list[str]:
    """Return the lines of one module; what stands elsewhere is only named."""
    own, foreign = [], []
    for public in module.__all__:
        value = getattr(module, public, None)
        if value is None or isinstance(value, ModuleType):
            continue
        home = getattr(value, "__module__", None) or module.__name__
        place = f"{home}.{getattr(value, '__name__', public)}"
        is_own = home.partition(".")[0] == module.__name__.partition(".")[0]
        if (is_own or not home.startswith("aerotwin_")) and place not in described:
            own.append(public)
            described.add(place)
        elif not is_own:
            foreign.append(f":py:obj:`~{home.partition('.')[0]}.{public}`")
    is_top = "." not in module.__name__
    if not own and not is_top:
        return []
    lines = [] if is_top else [module.__name__, "-" * len(module.__name__), ""]
    lines += [f".. automodule:: {module.__name__}"]
    lines += [f"   :members: {', '.join(own)}", ""] if own else [""]
    return [*lines, *([f"From other packages: {', '.join(foreign)}.", ""] if foreign else [])]


def escape_bars(
    _app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Let |e| in a docstring be an absolute value and not a substitution."""
    lines[:] = [line if "``" in line else line.replace("|", "\\|") for line in lines]
