# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Materials of OBJ files: the diffuse colour Kd and its texture map_Kd; the rest is not used.

Reference: Wavefront, Object Files, appendix B1, and its MTL specification. As there, Kd multiplies
map_Kd; both count as sRGB-encoded, as in the viewers of their time.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.limits import file_size

MAX_FILE_BYTES = 2**26
_OPTION_TOKENS = {
    "-blendu": 1, "-blendv": 1, "-boost": 1, "-cc": 1, "-clamp": 1, "-imfchan": 1, "-bm": 1,
    "-texres": 1, "-type": 1, "-mm": 2, "-s": 3, "-o": 3, "-t": 3,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ObjMaterial:
    """One material.

    ``colour`` is Kd, in [0, 1]; ``texture`` the file of map_Kd, empty if there is none; ``scale``
    and ``offset`` apply to texture coordinates; ``is_clamped``: the texture does not repeat.
    """

    colour: tuple[float, float, float] = (1.0, 1.0, 1.0)
    texture: str = ""
    scale: tuple[float, float] = (1.0, 1.0)
    offset: tuple[float, float] = (0.0, 0.0)
    is_clamped: bool = False


def read_mtl(path: Path) -> dict[str, ObjMaterial]:
    """Return the materials of a file by name.

    Raises `UserError` if it cannot be read; names file and line.
    """
    found: dict[str, dict] = {}
    now: dict | None = None
    try:
        if file_size(path) > MAX_FILE_BYTES:
            raise UserError(f"{path}: more than {MAX_FILE_BYTES} bytes; not a material file")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    for number, line in enumerate(text.replace("\\\n", " ").splitlines(), 1):
        keyword, _, rest = line.split("#")[0].strip().partition(" ")
        try:
            if keyword == "newmtl":
                now = found.setdefault(rest.strip(), {})
            elif keyword == "Kd" and now is not None:
                now["colour"] = _colour(rest)
            elif keyword == "map_Kd" and now is not None:
                now.update(_map(rest))
        except ValueError as error:
            raise UserError(f"{path}: line {number}: {error}; export it again") from None
    return {name: ObjMaterial(**values) for name, values in found.items()}


def _colour(text: str) -> tuple[float, float, float]:
    tokens = text.split()
    if not tokens or tokens[0] in ("spectral", "xyz"):
        raise ValueError(f"Kd must be red, green and blue, got '{text}'")
    values = [float(token) for token in tokens[:3]]
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"Kd must be finite, got '{text}'")
    clipped = [min(max(value, 0.0), 1.0) for value in (values * 3 if len(values) == 1 else values)]
    if len(clipped) != 3:
        raise ValueError(f"Kd must be red, green and blue, got '{text}'")
    return clipped[0], clipped[1], clipped[2]


def _map(text: str) -> dict:
    """Return texture, scale, offset and clamping of a map statement: options, then a file name."""
    tokens = text.split()
    values: dict[str, object] = {}
    while tokens and tokens[0] in _OPTION_TOKENS:
        option = tokens.pop(0)
        most = _OPTION_TOKENS[option]
        taken: list[str] = []
        while tokens and len(taken) < most and (most != 3 or _is_number(tokens[0])):
            taken.append(tokens.pop(0))
        if option == "-clamp":
            values["is_clamped"] = taken == ["on"]
        elif option in ("-s", "-o"):
            default = 1.0 if option == "-s" else 0.0
            numbers = ([float(token) for token in taken] + [default, default])[:2]
            values["scale" if option == "-s" else "offset"] = (numbers[0], numbers[1])
    if not tokens:
        raise ValueError("map_Kd must name a file")
    return {**values, "texture": " ".join(tokens)}


def _is_number(token: str) -> bool:
    try:
        return math.isfinite(float(token))
    except ValueError:
        return False
