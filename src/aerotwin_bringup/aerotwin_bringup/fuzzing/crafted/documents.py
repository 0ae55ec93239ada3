# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile YAML and JSON: aliases, depth, digits."""

from collections.abc import Callable
from pathlib import Path

Writer = Callable[[Path], list[Path]]

_LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 12)
)
_YAML = {
    "a billion aliases": _LAUGHS + "name: *a11\n",
    "alias that holds itself": "name: &a [*a]\n",
    "50,000 nested brackets": "name: " + "[" * 50_000,
    "50,000 nested mappings": "{name: " * 50_000,
    "integer of 5,000 digits": "name: " + "9" * 5_000,
    "hexadecimal of 5,000 digits": "name: 0x" + "f" * 5_000,
    "sexagesimal of 200,000 parts": "name: 1" + ":59" * 200_000,
    "13th month": "name: 2001-13-45",
    "key of 1 MB": "? " + "x" * 1_000_000 + "\n: 1",
    "a million values": "name: [" + "1," * 1_000_000 + "]",
    "text that clears the terminal": '"\\e]0;title\\a\\e[2J": 1',
}
_JSON = {
    "100,000 nested brackets": "[" * 100_000,
    "integer of 5,000 digits": '{"schema_version": ' + "9" * 5_000 + "}",
    "100,000 nested mappings": '{"a":' * 100_000,
}


def _writer(name: str, text: str) -> Writer:
    def write(folder: Path) -> list[Path]:
        (folder / name).write_text(text)
        return [folder / name]

    return write


def _metadata(text: str) -> Writer:
    """Return a writer of a bag whose metadata are a document and whose file is missing."""

    def write(folder: Path) -> list[Path]:
        (folder / "bag").mkdir()
        (folder / "bag" / "metadata.yaml").write_text(text)
        return [folder / "bag", folder / "bag" / "metadata.yaml"]

    return write


CRAFTED: dict[str, dict[str, Writer]] = {
    "protocol-yaml": {what: _writer("protocol.yaml", text) for what, text in _YAML.items()},
    "airframe-yaml": {what: _writer("airframe.yaml", text) for what, text in _YAML.items()},
    "bag-sqlite3": {f"metadata: {what}": _metadata(text) for what, text in _YAML.items()},
    "metrics-json": {what: _writer("metrics.json", text) for what, text in _JSON.items()},
    "dense-map": {f"manifest: {what}": _writer("manifest.json", t) for what, t in _JSON.items()},
}
