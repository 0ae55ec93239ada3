# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A page of parameters per package: every dataclass whose fields `parameter` made."""

import ast
import dataclasses
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aerotwin_core.parameters import flat_parameters
from source_tree import code, first_paragraph, module_trees, packages, plain, table

COLUMNS = ["parameter", "default", "unit", "range", "meaning"]


def parameter_pages(source: Path) -> dict[str, str]:
    """Return the pages by the names of their packages; those without parameters have none."""
    nodes = parameters_of_nodes(source)
    pages = {}
    for package in packages(source):
        classes = list(parameter_classes(source, package))
        if classes:
            # What a node declares stands first.
            classes.sort(key=lambda cls: (cls.__name__ not in nodes, cls.__name__))
            sections = [section(cls, nodes.get(cls.__name__)) for cls in classes]
            pages[package] = f"# {package}\n\n" + "\n".join(sections)
    return pages


def parameters_of_nodes(source: Path) -> dict[str, str]:
    """Return by the class of parameters the class of the node that declares it."""
    found = {}
    for package in packages(source):
        for _, tree in module_trees(source, package):
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    found.update(dict.fromkeys(declared_by(node), node.name))
    return found


def declared_by(node: ast.ClassDef) -> Iterator[str]:
    """Yield the classes that a node class hands to `declare_parameters`."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "declare_parameters":
            yield ast.unparse(call.args[1])


def parameter_classes(source: Path, package: str) -> Iterator[type]:
    """Yield the public dataclasses of a package that have described parameters."""
    for name, tree in module_trees(source, package):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                declares = any(
                    isinstance(item, ast.AnnAssign)
                    and isinstance(item.value, ast.Call)
                    and ast.unparse(item.value.func) == "parameter"
                    for item in node.body
                )
                # Also those whose parameters are all inherited.
                if declares or node.name.endswith("Parameters"):
                    cls = getattr(importlib.import_module(name), node.name)
                    if dataclasses.is_dataclass(cls):
                        yield cls


def section(cls: type, node: str | None) -> str:
    """Return heading, meaning and table of one class."""
    title = f"## {cls.__name__}\n\n"
    where = f"ROS parameters of `{node}`. " if node else ""
    text = f"{where}{plain(first_paragraph(cls.__doc__))} (`{cls.__module__}`)\n\n"
    return title + text + table(COLUMNS, [row(*one) for one in flat_parameters(cls)])


def row(name: str, field: dataclasses.Field[Any], default: Any) -> list[str]:
    """Return the cells of one parameter."""
    meta = field.metadata
    shown = "required" if default is dataclasses.MISSING else code(shown_default(default))
    return [code(name), shown, meta.get("unit", ""), allowed(meta), plain(meta.get("text", ""))]


def shown_default(default: Any) -> str:
    """Return a default as YAML would have it."""
    if default is None:
        return "null"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return f"[{', '.join(map(shown_default, default))}]"
    return str(default) if not isinstance(default, str) or default else '""'


def allowed(meta: Any) -> str:
    """Return choices or range of a parameter."""
    if meta.get("choices"):
        return ", ".join(map(code, map(shown_default, meta["choices"])))
    low, high = meta.get("minimum"), meta.get("maximum")
    if low is None and high is None:
        return ""
    if high is None:
        return f"≥ {low}"
    return f"≤ {high}" if low is None else f"{low} … {high}"
