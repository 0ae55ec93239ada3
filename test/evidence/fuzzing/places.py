# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Worlds, and answers of tile servers: small sound samples and how they are read."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

Answer = tuple[Any, tuple[str, ...]]
AGAIN_FILE = "again.bin"
"""Beside an answer: what the server sends after it, again and again, until the client is gone."""
_PAUSE_S, _PATIENCE_S = 0.005, 1.0
_LIMIT_BYTES = 1 << 20


def _world(folder: Path) -> list[Path]:
    import cv2

    heights = np.add.outer(np.arange(12), np.arange(15)).astype(np.uint16) * 1000
    cv2.imwrite(str(folder / "heights.png"), heights)
    (folder / "world.yaml").write_text(
        "name: hill\nheight_map: {file: heights.png, size_m: [30, 24], height_range_m: [0, 9]}\n"
        "origin: {latitude_deg: 47.0, longitude_deg: 8.0, altitude_m: 500.0}\n"
        "attribution: nobody\nlicence: none\n"
    )
    return [folder / "world.yaml", folder / "heights.png"]


def _http_answer(folder: Path) -> list[Path]:
    body = json.dumps({"asset": {"version": "1.1"}, "root": {"geometricError": 0}}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    (folder / "tileset.json").write_bytes(head.encode() + body)
    return [folder / "tileset.json"]


WORLD, HTTP_ANSWER = (_world,), (_http_answer,)


def read_world(path: Path) -> Answer:
    """Read a world as `aerotwin world info` does."""
    from aerotwin_worlds import load_world, world_record

    world = load_world(path)
    vertices, triangles = world.surface()
    assert np.isfinite(vertices).all(), "vertices that are no numbers were passed"
    assert len(triangles) and triangles.min() >= 0 and triangles.max() < len(vertices)
    record = world_record(world)
    said = (*record.pop("notes"), *record.pop("missing"))
    return [record, vertices.tobytes(), triangles.tobytes()], said


def read_http_answer(path: Path) -> Answer:
    """Read what a server on loopback answers: the bytes of a file, then those of `AGAIN_FILE`."""
    from aerotwin_tiles.fetch import HttpSettings, open_source

    patience = HttpSettings(n_attempts=1, total_timeout_s=_PATIENCE_S, cache_limit_mb=0)
    with (
        _server(path) as port,
        closing(
            open_source(
                f"http://127.0.0.1:{port}/{path.name}",
                cache_dir=path.parent / "cache",
                settings=patience,
            )
        ) as source,
    ):
        return source.read(source.root_uri, max_bytes=_LIMIT_BYTES), ()


@contextmanager
def _server(path: Path) -> Iterator[int]:
    """Run a server that answers every connection with a file; yield its port."""
    again_file = path.parent / AGAIN_FILE
    data, again = path.read_bytes(), again_file.read_bytes() if again_file.is_file() else b""
    over = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(_PATIENCE_S)
            connection.recv(1 << 16)
            connection.sendall(data)
            while again and not over.wait(_PAUSE_S):
                connection.sendall(again)

    def accept() -> None:
        while not over.is_set():
            with suppress(OSError):
                connection, _ = listener.accept()
                serve(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            thread.join()
