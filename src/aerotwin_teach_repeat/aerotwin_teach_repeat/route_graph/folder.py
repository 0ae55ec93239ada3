# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a route graph: contents of its files, and how they are validated when read.

| file | holds |
|---|---|
| `manifest.json` | format, version, frame, is it finished, SHA-256 of the tables, `about` |
| `vertices.csv` | id, stamp, T_map_vertex, id of the submap in use, T_submap_vertex |
| `edges.csv` | two ids, kind, T_from_to |
| `submaps.csv` | id, number of points, bytes and SHA-256 of every submap file |
| `submaps/0000012.npz` | points and normals in the vertex's frame; or PLY (`submap_files`) |
| `poses.tum` | T_map_vertex for other tools; not read |

Poses are written as x y z [m] and a quaternion qx qy qz qw, with all digits of a double. The tables
are append-only: a line is written once its data exist, so that a graph whose writer was killed
holds everything that was finished. Its manifest says so, and the incomplete last line is dropped.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.documents import read_json
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, pose_from_transform, transform_from_pose
from aerotwin_core.limits import file_size
from aerotwin_teach_repeat.route_graph.submap_files import FolderSubmaps, SubmapRecord
from aerotwin_teach_repeat.route_graph.types import Edge, RouteGraphError, Vertex

FORMAT, VERSION = "aerotwin route graph", 1
MANIFEST = "manifest.json"
VERTICES, EDGES, SUBMAPS, POSES = "vertices.csv", "edges.csv", "submaps.csv", "poses.tum"
TABLES = (VERTICES, EDGES, SUBMAPS)
MAX_TABLE_BYTES = 1 << 30
"""Larger tables are refused: a vertex takes 400 bytes, a gigabyte holds two million of them."""
_POSE = ("x_m", "y_m", "z_m", "qx", "qy", "qz", "qw")
COLUMNS = {
    VERTICES: ("id", "stamp_ns", *_POSE, "submap_id", *(f"submap_{name}" for name in _POSE)),
    EDGES: ("from_id", "to_id", "kind", *_POSE),
    SUBMAPS: ("vertex_id", "n_points", "n_bytes", "sha256"),
}
_SHORTEST_QUATERNION = 1e-6


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Content of `manifest.json`.

    `submap_format` is "npz" or "ply". `is_finished` is False while the graph is written, and for
    good if the writer was killed; once finished, `sha256` holds the checksums of the tables.
    """

    frame: str = "map"
    submap_format: str = "npz"
    is_finished: bool = False
    sha256: dict[str, str] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """Return the content of the file."""
        content = {"format": FORMAT, "version": VERSION, **vars(self)}
        return json.dumps(content, indent=2, allow_nan=False) + "\n"


@dataclass(frozen=True, kw_only=True)
class FolderContent:
    """Content of a folder: vertices, edges, submaps to load, and problems found."""

    manifest: Manifest
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    submaps: FolderSubmaps
    problems: tuple[str, ...]


def read_folder(folder: Path) -> FolderContent:
    """Return the content; `RouteGraphError` if it is no route graph or a table is damaged."""
    manifest = read_manifest(folder)
    records = {r.vertex_id: r for r in _rows(folder, SUBMAPS, manifest, SubmapRecord.from_cells)}
    vertices = _rows(folder, VERTICES, manifest, _vertex)
    edges = _rows(folder, EDGES, manifest, _edge)
    problems = []
    if not manifest.is_finished:
        vertices, edges, left_out = _without_loose_ends(vertices, edges, set(records))
        problems.append(
            f"{folder}: its teach was cut off; {len(vertices)} vertices and {len(edges)} edges "
            f"were finished{left_out}"
        )
    return FolderContent(
        manifest=manifest,
        vertices=tuple(vertices),
        edges=tuple(edges),
        submaps=FolderSubmaps(folder, manifest.submap_format, records),
        problems=tuple(problems),
    )


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a route graph; `RouteGraphError` if there is none or it is damaged."""
    path = folder / MANIFEST
    try:
        content = read_json(path)
    except OSError as error:
        raise RouteGraphError(
            f"{folder}: no route graph there ({MANIFEST}: {error.strerror}); name the folder that "
            "`aerotwin teach` wrote"
        ) from None
    except ValueError as error:
        raise RouteGraphError(f"{path}: not valid JSON ({error}); the file is damaged") from None
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise RouteGraphError(f"{path}: its 'format' must be '{FORMAT}'; this is something else")
    version = content.pop("version", None)
    if version != VERSION:
        raise RouteGraphError(
            f"{path}: version must be {VERSION}, got {version!r}; it was written by another release"
        )
    return _checked_manifest(content, path)


def _checked_manifest(content: dict[str, Any], path: Path) -> Manifest:
    kinds = {"frame": str, "submap_format": str, "is_finished": bool, "sha256": dict, "about": dict}
    for name, kind in kinds.items():
        if not isinstance(content.get(name), kind):
            raise RouteGraphError(f"{path}: '{name}' must be a {kind.__name__}; it is damaged")
    if content["submap_format"] not in ("npz", "ply"):
        raise RouteGraphError(
            f"{path}: submap_format must be npz or ply, got {content['submap_format']!r}"
        )
    return Manifest(**{name: content[name] for name in kinds})


def pose_cells(T: FloatArray) -> list[str]:
    """Return x y z qx qy qz qw, with all digits."""
    p, q = pose_from_transform(T)
    return [repr(float(value)) for value in (*p, *q)]


def vertex_cells(vertex: Vertex) -> list[str]:
    """Return the CSV cells of a vertex."""
    poses = (pose_cells(vertex.T_map_vertex), pose_cells(vertex.T_submap_vertex))
    return [str(vertex.id), str(vertex.stamp_ns), *poses[0], str(vertex.submap_id), *poses[1]]


def edge_cells(edge: Edge) -> list[str]:
    """Return the CSV cells of an edge."""
    return [str(edge.from_id), str(edge.to_id), edge.kind, *pose_cells(edge.T_from_to)]


def tum_line(vertex: Vertex) -> str:
    """Return a vertex as a line of a TUM trajectory: seconds x y z qx qy qz qw."""
    seconds, rest = divmod(vertex.stamp_ns, 1_000_000_000)
    return f"{seconds}.{rest:09d} {' '.join(pose_cells(vertex.T_map_vertex))}\n"


def _vertex(tokens: Sequence[str]) -> Vertex:
    return Vertex(
        id=int(tokens[0]),
        stamp_ns=int(tokens[1]),
        T_map_vertex=_transform(tokens[2:9]),
        submap_id=int(tokens[9]),
        T_submap_vertex=_transform(tokens[10:17]),
    )


def _edge(tokens: Sequence[str]) -> Edge:
    from_id, to_id = int(tokens[0]), int(tokens[1])
    T_from_to = _transform(tokens[3:10])
    return Edge(from_id=from_id, to_id=to_id, kind=tokens[2], T_from_to=T_from_to)  # type: ignore[arg-type]


def _transform(tokens: Sequence[str]) -> FloatArray:
    values = np.array([float(token) for token in tokens])
    if not np.isfinite(values).all():
        raise ValueError("a pose holds NaN or infinity")
    if abs(np.linalg.norm(values[3:]) - 1.0) > _SHORTEST_QUATERNION:
        raise ValueError(f"a quaternion must have length 1, got {np.linalg.norm(values[3:]):.6g}")
    return transform_from_pose(values[:3], values[3:])


def _rows(folder: Path, name: str, manifest: Manifest, row: Callable[[list[str]], Any]) -> list:
    path = folder / name
    lines = _lines(path, manifest)
    if not lines or tuple(lines[0].split(",")) != COLUMNS[name]:
        raise RouteGraphError(f"{path}: its first line must be {','.join(COLUMNS[name])}")
    found = []
    for number, line in enumerate(lines[1:], start=2):
        tokens = line.split(",")
        try:
            if len(tokens) != len(COLUMNS[name]):
                raise ValueError(f"{len(COLUMNS[name])} cells expected, {len(tokens)} are there")
            found.append(row(tokens))
        except (ValueError, UserError) as error:
            raise RouteGraphError(f"{path}:{number}: {error}; the file is damaged") from None
    return found


def _lines(path: Path, manifest: Manifest) -> list[str]:
    """Return the complete lines of a table whose checksum is valid."""
    try:
        if file_size(path) > MAX_TABLE_BYTES:
            raise RouteGraphError(f"{path}: more than {MAX_TABLE_BYTES} bytes; it is damaged")
        data = path.read_bytes()
    except OSError as error:
        raise RouteGraphError(f"{path}: cannot be read ({error.strerror})") from None
    if manifest.is_finished:
        found = hashlib.sha256(data).hexdigest()
        if found != manifest.sha256.get(path.name):
            raise RouteGraphError(
                f"{path}: its SHA-256 is not that of the manifest: it was changed or is damaged; "
                "take it from a copy, or teach again"
            )
    return data[: data.rfind(b"\n") + 1].decode("utf-8", "replace").splitlines()


def _without_loose_ends(
    vertices: list[Vertex], edges: list[Edge], held: set[int]
) -> tuple[list[Vertex], list[Edge], str]:
    """Return vertices and edges without those that refer to something unfinished, and a note."""
    complete = [vertex for vertex in vertices if vertex.submap_id in held]
    ids = {vertex.id for vertex in complete}
    complete = [vertex for vertex in complete if vertex.submap_id in ids]
    ids = {vertex.id for vertex in complete}
    whole = [edge for edge in edges if edge.from_id in ids and edge.to_id in ids]
    n = len(vertices) - len(complete) + len(edges) - len(whole)
    note = f", {n} lines that refer to something unfinished are left out" if n else ""
    return complete, whole, note
