# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Writer of the folder that is safe against crashes, and the replacement of a whole folder."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Self

from aerotwin_core.cli import write_text_atomically
from aerotwin_teach_repeat.route_graph.folder import (
    COLUMNS,
    EDGES,
    MANIFEST,
    POSES,
    SUBMAPS,
    TABLES,
    VERTICES,
    Manifest,
    edge_cells,
    read_folder,
    read_manifest,
    tum_line,
    vertex_cells,
)
from aerotwin_teach_repeat.route_graph.submap_files import FORMATS, SubmapRecord, write_submap
from aerotwin_teach_repeat.route_graph.types import (
    Edge,
    RouteGraphError,
    Submap,
    SubmapSource,
    Vertex,
)


class FolderWriter:
    """Writes the folder of a route graph incrementally; what was added is persistent.

    Add a submap before the vertex that holds it, and a vertex before its edges. Every line is
    flushed to the operating system at once and every submap is renamed into place: a killed process
    loses nothing that was added (a power cut may lose the last seconds).

    Parameters
    ----------
    folder : path
        New, or empty; or with `is_continued` a route graph to append to, finished or interrupted,
        which retains its own `frame`, `submap_format` and `about`.
    submap_format : {"npz", "ply"}
    about : mapping, optional
        JSON metadata of the teach.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        frame: str = "map",
        submap_format: str = "npz",
        about: Mapping[str, Any] | None = None,
        is_continued: bool = False,
    ) -> None:
        if submap_format not in FORMATS:
            raise ValueError(f"submap_format must be one of {FORMATS}, got {submap_format!r}")
        self.folder = Path(folder)
        self._submaps: set[int] = set()
        self._vertices: set[int] = set()
        self._manifest = Manifest(frame=frame, submap_format=submap_format, about=dict(about or {}))
        tables = self._saved_tables() if is_continued else self._empty_tables()
        self._write_manifest(Manifest(**{**vars(self._manifest), "is_finished": False}))
        self._files: dict[str, IO[bytes]] = {}
        with ExitStack() as stack:
            for name, content in tables.items():
                write_text_atomically(self.folder / name, content)
                self._files[name] = stack.enter_context((self.folder / name).open("ab"))
            self._stack = stack.pop_all()

    def add_submap(self, submap: Submap) -> None:
        """Write a submap."""
        if submap.vertex_id in self._submaps:
            raise RouteGraphError(f"submap {submap.vertex_id} is there already; ids must differ")
        self._note(write_submap(self.folder, submap, self._manifest.submap_format))

    def add_submaps(
        self, source: SubmapSource, ids: Iterable[int], on_submap: Callable[[], Any] | None = None
    ) -> None:
        """Write many submaps of a source on all cores; `on_submap` is called after each."""

        def write(vertex_id: int) -> SubmapRecord:
            return write_submap(self.folder, source.load(vertex_id), self._manifest.submap_format)

        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for record in pool.map(write, ids):
                self._note(record)
                if on_submap is not None:
                    on_submap()

    def add_vertex(self, vertex: Vertex) -> None:
        """Write a vertex, whose submap must exist."""
        if vertex.id in self._vertices:
            raise RouteGraphError(f"vertex {vertex.id} is there already; ids must differ")
        if vertex.submap_id not in self._submaps:
            raise RouteGraphError(
                f"vertex {vertex.id}: add its submap {vertex.submap_id} before it"
            )
        self._append(POSES, tum_line(vertex))
        self._append(VERTICES, ",".join(vertex_cells(vertex)) + "\n")
        self._vertices.add(vertex.id)

    def add_edge(self, edge: Edge) -> None:
        """Write an edge, whose vertices must exist."""
        for end in (edge.from_id, edge.to_id):
            if end not in self._vertices:
                raise RouteGraphError(
                    f"edge {edge.from_id} -> {edge.to_id}: add vertex {end} before it"
                )
        self._append(EDGES, ",".join(edge_cells(edge)) + "\n")

    def complete(self) -> None:
        """Close the tables and write their checksums."""
        for file in self._files.values():
            os.fsync(file.fileno())
        self.close()
        sums = {n: hashlib.sha256((self.folder / n).read_bytes()).hexdigest() for n in TABLES}
        finished = {**vars(self._manifest), "is_finished": True, "sha256": sums}
        self._write_manifest(Manifest(**finished))

    def close(self) -> None:
        """Close the files; without `complete` the graph remains marked as interrupted."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _note(self, record: SubmapRecord) -> None:
        self._append(SUBMAPS, ",".join(record.cells()) + "\n")
        self._submaps.add(record.vertex_id)

    def _append(self, name: str, line: str) -> None:
        self._files[name].write(line.encode())
        self._files[name].flush()

    def _write_manifest(self, manifest: Manifest) -> None:
        write_text_atomically(self.folder / MANIFEST, manifest.text())

    def _empty_tables(self) -> dict[str, str]:
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise RouteGraphError(
                f"{self.folder}: there is something already; name a new folder, or remove it"
            )
        return {POSES: "", **{name: (",".join(COLUMNS[name]) + "\n") for name in TABLES}}

    def _saved_tables(self) -> dict[str, str]:
        content = read_folder(self.folder)
        self._manifest = content.manifest
        self._submaps = set(content.submaps.ids)
        self._vertices = {vertex.id for vertex in content.vertices}
        lines = {
            VERTICES: [",".join(vertex_cells(vertex)) for vertex in content.vertices],
            EDGES: [",".join(edge_cells(edge)) for edge in content.edges],
            SUBMAPS: [",".join(record.cells()) for record in content.submaps.records],
        }
        tables = {name: "\n".join([",".join(COLUMNS[name]), *lines[name], ""]) for name in TABLES}
        return {POSES: "".join(map(tum_line, content.vertices)), **tables}


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that takes the place of a route graph's once it can be read back.

    The old folder remains until then; `RouteGraphError` if there is something else.
    """
    if folder.exists() and any(folder.iterdir() if folder.is_dir() else [folder]):
        read_manifest(folder)  # only a route graph may be replaced
    new = folder.with_name(f".{folder.name}.{os.getpid()}")
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    try:
        yield new
        read_folder(new)  # a folder that cannot be read back replaces nothing
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
