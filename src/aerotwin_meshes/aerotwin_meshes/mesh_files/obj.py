# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Wavefront OBJ files: polygons with materials, textures and vertex colours.

Reference: Wavefront, Advanced Visualizer manual, appendix B1 (Object Files), and the common
extension "v x y z r g b". Points, lines, normals and smoothing groups are not used; of a material,
the diffuse colour Kd and its texture map_Kd are. As there, Kd multiplies map_Kd; both count as
sRGB-encoded, as in the viewers of their time.
"""

import itertools
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.file_inside import file_inside
from aerotwin_core.limits import file_size
from aerotwin_meshes.gltf.budget import LARGEST_BYTES, MemoryBudget
from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_meshes.mesh_files.limits import check_counts, read_file
from aerotwin_meshes.mesh_files.polygons import triangulated
from aerotwin_meshes.mesh_files.textures import GREY, coloured, plain, read_texture, textured

MAX_MATERIAL_BYTES = 2**26
_OPTION_TOKENS = {
    "-blendu": 1, "-blendv": 1, "-boost": 1, "-cc": 1, "-clamp": 1, "-imfchan": 1, "-bm": 1,
    "-texres": 1, "-type": 1, "-mm": 2, "-s": 3, "-o": 3, "-t": 3,
}  # fmt: skip
_FREE_FORM = {"curv", "curv2", "surf", "vp"}
_MAX_CORNERS = 10_000
_MAX_LINE_BYTES = 40 * _MAX_CORNERS


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


@dataclass
class _Faces:
    """Faces of one material: corner indices as (vertex, texture vertex), by number of corners."""

    corners: dict[int, list[int]] = field(default_factory=dict)

    def add(self, pairs: list[int]) -> None:
        self.corners.setdefault(len(pairs) // 2, []).extend(pairs)


@dataclass
class _Content:
    """The parsed lines of a file; indices count from 0, -1 means no texture vertex."""

    vertices: list[float] = field(default_factory=list)
    colours: list[float] = field(default_factory=list)
    texture_vertices: list[float] = field(default_factory=list)
    faces: dict[str, _Faces] = field(default_factory=dict)
    libraries: list[str] = field(default_factory=list)


def read_obj(path: Path) -> tuple[tuple[TexturedMesh, ...], tuple[str, ...]]:
    """Read an OBJ file: one mesh for each material, in the file's axes and unit.

    Also returned is a line for each material or texture that could not be loaded; grey replaces it.
    Raises `UserError` if it is not a usable OBJ file; names file, line and fault.
    """
    content = _parsed(path)
    vertices = np.array(content.vertices, np.float64).reshape(-1, 3)
    check_counts(path, len(vertices), sum(_triangle_count(f) for f in content.faces.values()))
    if not np.isfinite(vertices).all():
        raise UserError(f"{path}: a vertex is NaN or infinite; export it again")
    surfaces = _Surfaces(path, content)
    meshes = [surfaces.mesh(name, faces, vertices) for name, faces in content.faces.items()]
    return tuple(meshes), tuple(surfaces.missing)


def _triangle_count(faces: _Faces) -> int:
    return sum(len(flat) // (2 * k) * (k - 2) for k, flat in faces.corners.items())


def _parsed(path: Path) -> _Content:
    """Parse the lines of a file; a backslash at its end continues a line."""
    content, material = _Content(), ""
    data = read_file(path).replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
    for number, line in enumerate(data.splitlines(), 1):
        if len(line) > _MAX_LINE_BYTES:
            raise UserError(f"{path}: line {number} has more than {_MAX_LINE_BYTES} bytes; cut it")
        tokens = line.split()
        if not tokens:
            continue
        keyword = tokens[0]
        try:
            if keyword == b"v":
                _add_vertex(content, tokens)
            elif keyword == b"vt":
                content.texture_vertices += (float(tokens[1]), float((*tokens, b"0")[2]))
            elif keyword == b"f":
                _add_face(content, material, tokens)
            elif keyword == b"usemtl":
                material = _rest(line)
            elif keyword == b"mtllib":
                content.libraries.append(_rest(line))
            elif keyword.decode("latin-1") in _FREE_FORM:
                raise ValueError(f"'{keyword.decode()}' is free-form geometry, which is not read")
        except (ValueError, IndexError) as error:
            raise UserError(
                f"{path}: line {number}: '{line[:60].decode('utf-8', 'replace')}' cannot be read "
                f"({error}); export it again"
            ) from None
    return content


def _rest(line: bytes) -> str:
    """Return the text after the keyword; names may contain blanks."""
    return line.split(b"#")[0].strip().split(None, 1)[1].decode("utf-8", "replace")


def _add_vertex(content: _Content, tokens: list[bytes]) -> None:
    if len(tokens) < 4:
        raise ValueError("a vertex has three coordinates")
    content.vertices += (float(tokens[1]), float(tokens[2]), float(tokens[3]))
    if len(tokens) >= 7:
        content.colours += (float(tokens[4]), float(tokens[5]), float(tokens[6]))


def _add_face(content: _Content, material: str, tokens: list[bytes]) -> None:
    pairs: list[int] = []
    n_vertices, n_texture = len(content.vertices) // 3, len(content.texture_vertices) // 2
    for token in tokens[1:]:
        if token.startswith(b"#"):
            break
        vertex, _, rest = token.partition(b"/")
        texture = rest.partition(b"/")[0]
        pairs.append(_index(int(vertex), n_vertices))
        pairs.append(_index(int(texture), n_texture) if texture else -1)
    if not 6 <= len(pairs) <= 2 * _MAX_CORNERS:
        raise ValueError(f"a face has 3 to {_MAX_CORNERS} corners")
    content.faces.setdefault(material, _Faces()).add(pairs)


def _index(stated: int, count: int) -> int:
    """Return an index from 0; negative ones count back from the last element so far."""
    index = stated - 1 if stated > 0 else count + stated
    if stated == 0 or not 0 <= index < count:
        raise ValueError(f"index {stated} is beyond the {count} elements before it")
    return index


class _Surfaces:
    """Makes meshes of faces, and records missing materials and textures."""

    def __init__(self, path: Path, content: _Content) -> None:
        self.missing: list[str] = []
        self._path = path
        self._budget = MemoryBudget(largest_bytes=LARGEST_BYTES)
        self._textures: dict[str, np.ndarray] = {}
        self._colours = _vertex_colours(path, content)
        self._uv = np.array(content.texture_vertices, np.float64).reshape(-1, 2)
        if not np.isfinite(self._uv).all():
            raise UserError(f"{path}: a texture vertex is NaN or infinite; export it again")
        self._materials = self._read_libraries(content)

    def _read_libraries(self, content: _Content) -> dict[str, ObjMaterial]:
        materials: dict[str, ObjMaterial] = {}
        for name in dict.fromkeys(
            itertools.chain.from_iterable(map(_library_names, content.libraries))
        ):
            try:
                file = file_inside(self._path.parent, name, where=f"{self._path}: mtllib")
                materials.update(read_mtl(file))
            except UserError as error:
                self.missing.append(str(error))
        return materials

    def mesh(self, name: str, faces: _Faces, vertices: np.ndarray) -> TexturedMesh:
        corners, texture_corners = _triangles(faces, vertices)
        material = self._materials.get(name)
        title = name or self._path.stem
        texture = self._texture(material) if material is not None else None
        if texture is None and self._colours is not None:
            return coloured(vertices, corners, self._colours, name=title, budget=self._budget)
        if texture is None:
            if name and material is None:
                self.missing.append(
                    f"{self._path}: material '{name}' is in none of its libraries; it is grey"
                )
            colour = GREY if material is None else _bytes(material.colour)
            uv = np.zeros((*corners.shape, 2))
            return textured(
                vertices,
                corners,
                uv,
                plain(colour),
                repeats=False,
                name=title,
                is_assumed=material is None,
            )
        uv = self._placed_uv(material or ObjMaterial(), texture_corners)
        repeats = not (material or ObjMaterial()).is_clamped and bool(
            (uv < 0).any() or (uv > 1).any()
        )
        return textured(vertices, corners, uv, texture, repeats=repeats, name=title)

    def _placed_uv(self, material: ObjMaterial, texture_corners: np.ndarray) -> np.ndarray:
        """Return coordinates with v down; OBJ's origin is the lower left corner."""
        known = np.vstack([self._uv, [[0.0, 0.0]]])  # index -1: no coordinates
        uv = known[texture_corners] * material.scale + material.offset
        return np.stack([uv[..., 0], 1.0 - uv[..., 1]], axis=-1)

    def _texture(self, material: ObjMaterial) -> np.ndarray | None:
        """Return the texture tinted with Kd; None if there is none, or it cannot be loaded."""
        if not material.texture:
            return None
        if material.texture not in self._textures:
            try:
                self._textures[material.texture] = read_texture(
                    self._path.parent,
                    material.texture,
                    where=f"{self._path}: map_Kd",
                    budget=self._budget,
                )
            except UserError as error:
                self.missing.append(str(error))
                self._textures[material.texture] = plain(_bytes(material.colour))
        texture = self._textures[material.texture]
        if material.colour == (1.0, 1.0, 1.0):
            return texture
        return np.rint(texture * np.array(material.colour)).astype(np.uint8)


def _vertex_colours(path: Path, content: _Content) -> np.ndarray | None:
    """Return colours where every vertex has one, in [0, 1], or as bytes if any is above 1."""
    colours = np.array(content.colours, np.float64).reshape(-1, 3)
    if not len(colours) or len(content.colours) != len(content.vertices):
        return None
    if not np.isfinite(colours).all():
        raise UserError(f"{path}: a vertex colour is NaN or infinite; export it again")
    scale = 1.0 if colours.max() > 1.0 else 255.0
    return np.rint(colours * scale).clip(0, 255).astype(np.uint8)


def _library_names(statement: str) -> list[str]:
    """A statement names one library, blanks included, or several between blanks, each .mtl."""
    tokens = statement.split()
    return tokens if all(token.lower().endswith(".mtl") for token in tokens) else [statement]


def _bytes(colour: tuple[float, float, float]) -> tuple[int, int, int]:
    r, g, b = (round(255 * value) for value in colour)
    return r, g, b


def _triangles(faces: _Faces, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vertex and texture vertex of each triangle corner, both (m, 3)."""
    found = []
    for k, flat in faces.corners.items():
        pairs = np.array(flat, np.int64).reshape(-1, k, 2)
        corners, polygon = triangulated(pairs[..., 0], vertices)
        found.append(pairs[polygon[:, None], corners])
    pairs = np.concatenate(found)
    return pairs[..., 0], pairs[..., 1]


def read_mtl(path: Path) -> dict[str, ObjMaterial]:
    """Return the materials of a file by name.

    Raises `UserError` if it cannot be read; names file and line.
    """
    found: dict[str, dict] = {}
    now: dict | None = None
    try:
        if file_size(path) > MAX_MATERIAL_BYTES:
            raise UserError(f"{path}: more than {MAX_MATERIAL_BYTES} bytes; not a material file")
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
