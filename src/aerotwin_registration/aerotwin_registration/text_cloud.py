# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clouds as text: one point a line, blanks or commas, with or without a header line."""

import io
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import whole_number
from aerotwin_core.text_lines import text_lines

_COMMENTS = ("#", "//", ";", "%")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.IGNORECASE)
_INTENSITY = ("intensity", "scalar_intensity", "reflectivity", "reflectance", "i")
_MAX_COLUMNS = 1000


def read_text_cloud(path: Path) -> dict[str, np.ndarray]:
    """Return the columns x, y, z (and intensity) of a text file.

    With a header line the columns are selected by name, in any order; without, the first three,
    and a fourth of exactly four as intensity. A first line with the number of points (PTS) is
    skipped.

    Raises UserError if a line is not numeric, or lines differ in length.
    """
    try:
        lines = _lines(text_lines(path))
        names, rows = _split_names(lines)
        return _columns(names, rows)
    except (ValueError, MemoryError, OverflowError) as error:
        raise UserError(f"{path}: not a table of x y z: {error}") from None


def _lines(lines: Iterable[str]) -> list[str]:
    """Return the lines that are not empty; a comment that names columns becomes the header."""
    found = []
    for line in lines:
        line = line.strip()
        if line.startswith(_COMMENTS):
            names = _names_of(line.lstrip("#/;% "))
            if names and not found:
                found.append(line.lstrip("#/;% "))
        elif line:
            found.append(line)
    if not found:
        raise ValueError("it holds no line")
    return found


def _names_of(line: str) -> list[str]:
    """Return the names in a line if x, y and z are among them, else nothing."""
    names = [token.strip(" \"'").lower() for token in _cells(line)]
    return names if {"x", "y", "z"} <= set(names) else []


def _cells(line: str) -> list[str]:
    if ";" in line:
        return line.split(";")
    return line.split(",") if "," in line else line.split()


def _split_names(lines: list[str]) -> tuple[list[str], list[str]]:
    names = _names_of(lines[0])
    cells = _cells(lines[0])
    if names:
        lines = lines[1:]
    elif not all(_NUMBER.fullmatch(cell.strip()) for cell in cells if cell.strip()):
        lines = lines[1:] if not _is_decimal_comma(lines[0]) else lines
    elif len(cells) == 1 and whole_number(cells[0]) == len(lines) - 1:
        lines = lines[1:]  # PTS
    if not lines:
        raise ValueError("no line with a point follows its first")
    return names, lines


def _is_decimal_comma(line: str) -> bool:
    return ";" in line and all(_NUMBER.fullmatch(c.strip().replace(",", ".")) for c in _cells(line))


def _columns(names: list[str], lines: list[str]) -> dict[str, np.ndarray]:
    delimiter = ";" if ";" in lines[0] else "," if "," in lines[0] else None
    n_cells = len(_cells(lines[0]))
    if n_cells > _MAX_COLUMNS:
        raise ValueError(f"{n_cells} columns are more than {_MAX_COLUMNS}")
    if delimiter == "," and n_cells < 3:
        delimiter = None
    text = "\n".join(lines)
    if delimiter == ";" and "," in text:
        text = text.replace(",", ".")
    if delimiter == ",":
        n_cells -= lines[0].endswith(",")
        text = text.replace(",\n", "\n").removesuffix(",")
    if delimiter is None and "," in lines[0]:
        raise ValueError("commas and blanks are mixed")
    table = np.loadtxt(io.StringIO(text), delimiter=delimiter, ndmin=2, comments=None)
    if table.shape[1] < 3:
        raise ValueError(f"{table.shape[1]} columns, three at least are needed")
    if names and len(names) < table.shape[1]:
        raise ValueError(f"{len(names)} names stand over {table.shape[1]} columns")
    places = {axis: names.index(axis) if names else k for k, axis in enumerate("xyz")}
    intensity = next((names.index(name) for name in _INTENSITY if name in names), None)
    if intensity is not None:
        places["intensity"] = intensity
    elif not names and table.shape[1] == 4:
        places["intensity"] = 3
    if max(places.values()) >= table.shape[1]:
        raise ValueError(f"its names are more than its {table.shape[1]} columns")
    return {name: table[:, k] for name, k in places.items()}
