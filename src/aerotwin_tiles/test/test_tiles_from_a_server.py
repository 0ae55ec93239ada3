# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A real tileset from a local server that misbehaves: the rest loads, what is missing is named."""

import argparse
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np
import pytest

from aerotwin_tiles import TilesDescription, load_tiles, tiles_command
from aerotwin_tiles.fetch import HttpSettings

TERRAIN = "worlds/lunar_pit_landform"
MISSING = (404, None, b"no")
QUICK = HttpSettings(n_attempts=2, backoff_s=0.0, max_wait_s=0.1, read_timeout_s=5.0)


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Broken answers end connections: that is wanted here."""


@pytest.fixture
def serve(shared_data, monkeypatch, tmp_path):
    """Serve the terrain; return its address, the requests by path, and the wrong answers."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    folder = shared_data(TERRAIN)
    requests, wrong, lock = Counter(), {}, threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            name = urlsplit(self.path).path.lstrip("/")
            with lock:
                requests[name] += 1
            path = folder / name
            status, length, body = (200, None, path.read_bytes()) if path.is_file() else MISSING
            if name in wrong:
                status, length, body = wrong[name](body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.close_connection = length is not None
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = QuietServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", requests, wrong
    server.shutdown()
    server.server_close()
    thread.join()


def load(url, tmp_path, **options):
    description = TilesDescription(
        tileset=url, cache_dir=str(tmp_path / "cache"), http=QUICK, **options
    )
    return load_tiles(description, tmp_path, None)


def test_a_terrain_from_a_server_is_the_one_from_the_folder(serve, shared_data, tmp_path):
    url, requests, _ = serve
    loaded = load(f"{url}/tileset-external.json", tmp_path, max_error_m=8.0)
    folder = shared_data(TERRAIN)
    same = load_tiles(
        TilesDescription(tileset="tileset-external.json", max_error_m=8.0), folder, None
    )
    assert [mesh.name for mesh in loaded.meshes] == [mesh.name for mesh in same.meshes]
    for ours, theirs in zip(loaded.meshes, same.meshes, strict=True):
        np.testing.assert_array_equal(ours.vertices_map, theirs.vertices_map)
    assert set(requests.values()) == {1}
    assert len(requests) == len(loaded.meshes) + 2  # and the two documents


def test_what_a_server_does_wrong_is_named_and_the_rest_loads(serve, tmp_path):
    url, requests, wrong = serve
    wrong["1000.b3dm"] = lambda body: MISSING
    wrong["2230.b3dm"] = lambda body: (500, None, b"")
    wrong["3000.b3dm"] = lambda body: (200, len(body) + 50, body)  # hangs up too early
    wrong["0000.b3dm"] = lambda body: (200, None, body[: len(body) // 2])  # a wrong length
    wrong["0100.b3dm"] = lambda body: (200, None, b"<html>sorry</html>")
    loaded = load(f"{url}/tileset.json", tmp_path, max_error_m=0.0)
    names = [mesh.name.partition(".")[0] for mesh in loaded.meshes]
    broken = sorted(name.partition(".")[0] for name in wrong)
    for name in broken:
        parent = name[:-1]
        assert parent in names
        assert not [other for other in names if other != parent and other.startswith(parent)]
    assert len(loaded.missing) == len(broken)
    for name in broken:
        (line,) = [line for line in loaded.missing if f"{name}.b3dm" in line]
        assert line.endswith("stands in")
    assert requests["1000.b3dm"] == 1  # not there: not asked for again
    assert requests["2230.b3dm"] == requests["3000.b3dm"] == QUICK.n_attempts


def test_a_key_and_a_session_are_in_no_message_and_no_file(serve, tmp_path, capsys):
    url, _, _ = serve
    secret = (
        f"{url}/tileset-external-broken.json?key=SECRETKEY&session=SECRETSESSION&v=2"
        "&access_token=SECRETTOKEN&ApiKey=SECRETAPI&X-Amz-Signature=SECRETSIGN"
    ).replace("://", "://me:SECRETWORD@")
    loaded = load(secret, tmp_path, max_error_m=20.0)
    reported = [*loaded.missing, *loaded.notes, *(mesh.name for mesh in loaded.meshes)]
    assert len(loaded.missing) == 1 and "SECRET" not in "".join(reported)
    parser = argparse.ArgumentParser()
    tiles_command.configure(parser)
    out = ("-o", str(tmp_path / "world"), "--origin-deg", "47", "8", "500", "--no-read")
    assert tiles_command.run(parser.parse_args([secret, *out])) == 0
    printed = capsys.readouterr()
    written = (tmp_path / "world" / "world.yaml").read_text()
    assert "SECRET" not in written and ".json?v=2" in written
    for name in ("user and password", "key", "session", "access_token", "ApiKey"):
        assert name in printed.err
    assert "SECRET" not in printed.out + printed.err
