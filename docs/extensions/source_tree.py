# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the generated pages have in common: the modules of the packages, and Markdown tables."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path


def packages(source: Path) -> list[str]:
    """Return the names of the packages below src/."""
    return sorted(path.parent.name for path in source.glob("*/package.xml"))


def module_trees(source: Path, package: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield dotted name and syntax tree of every module of a package."""
    folder = source / package
    for path in sorted((folder / package).rglob("*.py")):
        name = ".".join(path.relative_to(folder).with_suffix("").parts)
        yield name.removesuffix(".__init__"), ast.parse(path.read_text("utf-8"), str(path))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; cells are one line each."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines) + "\n"


def cell(text: str) -> str:
    """Return text that stays inside its cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: object) -> str:
    """Return text as code; nothing for nothing."""
    return f"`{text}`" if str(text) else ""


def plain(text: str) -> str:
    """Return prose whose characters are none of Markdown's, but for code in backticks."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        for character in "\\*_<[":
            parts[i] = parts[i].replace(character, f"\\{character}")
    return "`".join(parts)


def first_paragraph(docstring: str | None) -> str:
    """Return the first paragraph of a docstring."""
    return " ".join((docstring or "").strip().split("\n\n")[0].split())
