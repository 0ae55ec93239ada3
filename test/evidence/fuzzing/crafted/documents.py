# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile YAML, JSON and tables: aliases, depth, digits, lines."""

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
    "200,000 nested brackets": "[" * 200_000,
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


_HEADS = {
    "tum": ("estimate.txt", ""),
    "kitti": ("poses.txt", ""),
    "euroc": ("data.csv", ""),
    "csv-trajectory": ("truth.csv", "time_s,x_m,y_m,z_m,qx,qy,qz,qw\n"),
    "gnss-csv": ("flight.csv", "time_us,lat_deg,lon_deg,alt_m\n"),
    "xyz": ("cloud.xyz", ""),
    "csv-cloud": ("cloud.csv", "x,y,z\n"),
}
"""Tables as text: name of the file and first line."""


def _long_lines(name: str, head: str) -> dict[str, Writer]:
    return {
        "a line of 60 MB": lambda folder: _writer(name, head + "1 " * 30_000_000)(folder),
        "a quotation mark before 5 MB": lambda folder: _writer(
            name, head + '"' + "1,2,3,4,5,6,7,8\n" * 300_000
        )(folder),
    }


CRAFTED: dict[str, dict[str, Writer]] = {
    "protocol-yaml": {what: _writer("protocol.yaml", text) for what, text in _YAML.items()},
    "airframe-yaml": {what: _writer("airframe.yaml", text) for what, text in _YAML.items()},
    "bag-sqlite3": {f"metadata: {what}": _metadata(text) for what, text in _YAML.items()},
    "metrics-json": {what: _writer("metrics.json", text) for what, text in _JSON.items()},
    "dense-map": {f"manifest: {what}": _writer("manifest.json", t) for what, t in _JSON.items()},
    "obj": {
        "a face of 30 million corners": lambda folder: _writer(
            "mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf " + "1 " * 30_000_000
        )(folder)
    },
    "ply": {
        "a list of 10 million numbers": lambda folder: _writer(
            "cloud.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty list int float x\nend_header\n"
            + "12345 " * 10_000_000,
        )(folder)
    },
    **{form: _long_lines(*head) for form, head in _HEADS.items()},
}
