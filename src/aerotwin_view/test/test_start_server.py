# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who may open the start page and order something by it, and what it serves."""

import json
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import requests

from aerotwin_core.errors import UserError
from aerotwin_view.door import Door
from aerotwin_view.start.past_runs import MOST_RUNS, past_runs
from aerotwin_view.start.server import MOST_BODY_BYTES, TOKEN_HEADER, StartServer
from aerotwin_worlds.loading import find_world

TIMEOUT_S = 20.0
NAME = "20261127-120000-flight"
SCRIPT = "<script>alert(1)</script>"
ORDERS = ("/line", "/map", "/play", "/start", "/stop")


def _run(folder: Path, name: str, **document: object) -> Path:
    run = folder / name
    run.mkdir(parents=True)
    (run / "metrics.json").write_text(json.dumps(document))
    (run / "report.html").write_text("<p>a report")
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    (folder / "secret.html").write_text("secret")
    runs = folder / "runs"
    tile = {"label": "Flight", "value": "2", "unit": "s", "status": "good", "meaning": SCRIPT}
    run = _run(
        runs, NAME, title="Flight in meadow", world={"name": "meadow"}, headline=[tile],
        verdicts={"slam": "It is near."}, warnings=["a"], created="2026-11-27T12:00:00+00:00",
    )  # fmt: skip
    (run / "bag").mkdir()
    arguments = {"world": "meadow", "seed": "3", "view": "true", "gone": "x", "speed": 1}
    (run / "launch.json").write_text(
        json.dumps({"launch_file": "sitl_flight", "arguments": arguments})
    )
    odd = _run(runs, "20261127-110000-odd", title=3, headline=["a", {}], verdicts=[], world="x")
    (odd / "launch.json").write_text(json.dumps({"launch_file": "../x", "arguments": {}}))
    (runs / "20261127-100000-given-up").mkdir()
    (runs / "20261127-100000-given-up" / "config.yaml").write_text("")
    leading_out = runs / "20261127-090000-out"
    leading_out.mkdir()
    (leading_out / "report.html").symlink_to(folder / "secret.html")
    _run(folder / "other", "inside")
    (runs / "linked").symlink_to(folder / "other" / "inside")
    (runs / "notes").mkdir()
    return runs


@pytest.fixture(scope="module")
def server(runs: Path) -> Iterator[StartServer]:
    server = StartServer("127.0.0.1", 18600, runs)
    yield server
    server.stop()


def _order(server: StartServer, path: str, body: object = None, **headers: str | None):
    place = server.address.rstrip("/")
    every = {"Origin": place, TOKEN_HEADER: server.token} | headers
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    kept = {name: text for name, text in every.items() if text is not None}
    return requests.post(place + path, data=data, headers=kept, timeout=TIMEOUT_S)


def _got(server: StartServer, path: str, **headers: str) -> requests.Response:
    return requests.get(server.address.rstrip("/") + path, headers=headers, timeout=TIMEOUT_S)


def _raw(server: StartServer, request: str) -> str:
    """Return the answer to a request that no client library would send."""
    with socket.create_connection(("127.0.0.1", server.server_port), TIMEOUT_S) as connection:
        connection.sendall(request.encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def test_the_page_is_on_loopback_and_loads_only_its_own_files(server):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", server.address)
    page = _got(server, "/")
    assert server.token in page.text
    linked = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
    assert set(linked) == {"data:,", "page.css", "page.js", "start_map.js", "past_runs.js"}
    files = ("/", "/page.css", "/page.js", "/start_map.js", "/past_runs.js")
    for path in (*files, "/form.json", "/state.json", "/runs.json"):
        answer = _got(server, path)
        assert answer.status_code == 200
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'; ")
        assert "unsafe" not in answer.headers["Content-Security-Policy"]


def test_worlds_have_the_pictures_that_exist(server, tmp_path, monkeypatch):
    (tmp_path / "bare.yaml").write_text(find_world("meadow").read_text("utf-8"))
    monkeypatch.setenv("AEROTWIN_WORLDS", str(tmp_path))
    listed = _got(server, "/form.json").json()["worlds"]
    worlds = {world["name"]: world["has_picture"] for world in listed}
    assert worlds["cliff"] and worlds["meadow"] and not worlds["bare"]
    picture = _got(server, "/pictures/cliff.jpg")
    assert picture.headers["Content-Type"] == "image/jpeg" and picture.content[:2] == b"\xff\xd8"
    for path in ("bare.jpg", "../cliff.jpg", "cliff", "..%2fpictures%2fcliff.jpg"):
        assert _got(server, f"/pictures/{path}").status_code == 404


@pytest.mark.parametrize("host", ["evil.example:18600", "evil.example", "", "127.0.0.1.evil", "["])
def test_a_name_that_a_stranger_points_here_is_refused(server, host):
    answer = _raw(server, f"GET /form.json HTTP/1.0\r\nHost: {host}\r\n\r\n")
    assert " 403 " in answer and "it is for another host" in answer
    assert server.token not in answer


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "null", "file://", "http://[", None]
)
def test_an_order_of_a_strangers_page_is_refused(server, order, origin):
    answer = _order(server, order, Origin=origin)
    assert answer.status_code == 403 and answer.json()["error"] == "it comes from another page"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("token", [None, "", "wrong", "ä"])
def test_an_order_without_the_token_of_the_page_is_refused(server, order, token):
    sent = None if token is None else token.encode()
    answer = _order(server, order, **{TOKEN_HEADER: sent})
    assert answer.status_code == 403 and "token" in answer.json()["error"]


def test_nothing_is_ordered_by_an_address(server):
    for order in ORDERS:
        assert _got(server, order).status_code == 404


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "body: expected JSON"),
        (b"[" * 200, "body: expected JSON"),
        (["a"], "request: expected an object with scenario and values"),
        ({"scenario": "sitl_flight"}, "request: expected an object"),
        ({"scenario": "../x", "values": {}}, "scenario: expected one of sitl_flight"),
        ({"scenario": "sitl_flight", "values": {"slm": "a"}}, "argument 'slm': expected one of"),
        ({"scenario": "sitl_flight", "values": {"slam": "a"}}, "'slam' must be one of"),
    ],
)
def test_what_cannot_be_started_is_refused_in_one_sentence(server, body, message):
    for order in ("/line", "/start"):
        answer = _order(server, order, body)
        assert answer.status_code == 400 and message in answer.json()["error"]
    assert _got(server, "/state.json").json() == {"phase": "none"}


def test_a_stop_without_a_run_and_an_unknown_order_are_refused(server):
    assert "stop: expected a run" in _order(server, "/stop").json()["error"]
    assert _order(server, "/delete").status_code == 400


def test_a_body_that_is_too_large_or_endless_is_refused(server):
    answer = _order(server, "/line", b"a" * (MOST_BODY_BYTES + 1))
    assert answer.status_code == 413 and "expected at most" in answer.json()["error"]
    head = f"Host: {urlsplit(server.address).netloc}\r\nOrigin: {server.address[:-1]}\r\n"
    head += f"{TOKEN_HEADER}: {server.token}\r\n"
    for length in ("", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n"):
        assert " 413 " in _raw(server, f"POST /line HTTP/1.0\r\n{head}{length}\r\n")


def test_the_line_is_that_of_a_shell(server, runs):
    body = {
        "scenario": "sitl_flight",
        "values": {"world": "meadow", "seed": "3", "slam": "", "speed": "0"},
    }
    line = f"aerotwin launch sitl_flight world:=meadow seed:=3 runs_dir:={runs} view:=true"
    answer = {"line": line, "changed": ["world", "seed"]}
    assert _order(server, "/line", body).json() == answer


def test_past_runs_are_described_by_their_own_files(server, runs):
    listed = _got(server, "/runs.json").json()["runs"]
    assert [run["name"] for run in listed] == [
        NAME, "20261127-110000-odd", "20261127-100000-given-up", "20261127-090000-out",
    ]  # fmt: skip
    first, odd, given_up, out = listed
    assert (first["world"], first["outcome"], first["n_warnings"]) == ("meadow", SCRIPT, 1)
    assert first["verdicts"] == ["It is near."] and first["has_report"]
    assert first["watch"] == f"aerotwin view {runs / NAME}"
    assert (odd["title"], odd["world"], odd["verdicts"]) == ("", "", [])
    assert not given_up["has_report"] and given_up["outcome"].startswith("no report")
    assert not out["has_report"]
    values = {"world": "meadow", "seed": "3"}
    assert first["launch"] == {"scenario": "sitl_flight", "values": values}
    assert odd["launch"] is given_up["launch"] is None


@pytest.mark.parametrize(
    "name", ["20261127-110000-odd", "linked", "../other/inside", "", ".", "..", "a" * 3000, 3, None]
)
def test_only_a_run_of_the_folder_with_a_bag_is_played(server, name):
    answer = _order(server, "/play", {"run": name})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("play: expected a run of the list with a bag")


def test_why_a_bag_cannot_be_played_is_said(server):
    error = _order(server, "/play", {"run": NAME}).json()["error"]
    assert error.startswith(f"play {NAME}: its view has ended: ") and "expected" in error


def test_a_run_whose_flight_failed_is_marked(tmp_path):
    for k, status in enumerate(("neutral", "bad")):
        _run(
            tmp_path, f"20261127-12000{k}-flight", headline=[{"status": status}, {"status": "bad"}]
        )
    assert [run["has_failed"] for run in past_runs(tmp_path)] == [True, False]


def test_at_most_fifty_runs_are_listed(tmp_path):
    server = StartServer("127.0.0.1", 18620, tmp_path)
    for k in range(MOST_RUNS + 5):
        _run(tmp_path, f"20261127-1200{k:02}-flight")
    listed = _got(server, "/runs.json").json()["runs"]
    server.stop()
    assert len(listed) == MOST_RUNS and listed[0]["name"].startswith(f"20261127-1200{k}")


def test_a_report_is_served_as_a_page_of_nobody(server):
    report = _got(server, f"/runs/{NAME}/report.html")
    assert report.text == "<p>a report"
    policy = report.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox ") and "allow-same-origin" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize(
    "path",
    [
        "/runs/../secret.html", "/runs/%2e%2e/secret.html", "/runs/..%2f../report.html",
        "/runs/../report.html", "/runs/./report.html", "/runs//report.html",
        f"/runs/{NAME}/metrics.json", f"/runs/{NAME}/../{NAME}/metrics.json",
        f"/runs/{NAME}%00/report.html", f"/runs/{'a' * 3000}/report.html",
        f"/runs/..%2fruns%2f{NAME}/report.html", "/runs/20261127-090000-out/report.html",
        "/runs/linked/report.html", "/runs/notes/report.html", "/page.html", "/page/page.js",
        "/../server.py", "/etc/passwd", "//etc/passwd", "http://[",
    ],
)  # fmt: skip
def test_nothing_but_reports_below_the_folder_is_served(server, path):
    head = f"Host: {urlsplit(server.address).netloc}"
    answer = _raw(server, f"GET {path} HTTP/1.0\r\n{head}\r\n\r\n")
    assert " 404 " in answer.partition("\r\n")[0] and "secret" not in answer


def test_beyond_loopback_the_token_of_the_address_or_its_cookie_is_needed(tmp_path):
    server = StartServer("0.0.0.0", 18640, tmp_path)
    opened = server.address
    bare = opened.partition("?")[0]
    refused = requests.get(bare, timeout=TIMEOUT_S)
    assert refused.status_code == 403 and "Set-Cookie" not in refused.headers
    assert requests.get(f"{bare}?token=wrong", timeout=TIMEOUT_S).status_code == 403
    answer = requests.get(opened, timeout=TIMEOUT_S)
    cookie = answer.headers["Set-Cookie"]
    assert answer.ok and "HttpOnly" in cookie and "SameSite=Strict" in cookie
    headers = {"Origin": bare[:-1], TOKEN_HEADER: server.token}
    assert requests.post(f"{bare}stop", headers=headers, timeout=TIMEOUT_S).status_code == 403
    headers["Cookie"] = cookie.partition(";")[0]
    assert requests.post(f"{bare}stop", headers=headers, timeout=TIMEOUT_S).status_code == 400
    server.stop()


def test_who_listens_on_all_addresses_names_one_that_another_machine_can_open():
    addresses = {each.address for every in psutil.net_if_addrs().values() for each in every}
    outside = {each for each in addresses if not each.startswith("127.") and "." in each}
    if not outside:
        pytest.skip("no network")
    named = urlsplit(Door("0.0.0.0", cookie_name="a").address(8090)).hostname
    assert named in outside


def test_a_run_without_a_report_says_why(tmp_path):
    for name, record in (("a", "none"), ("b", "inertial")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.yaml").write_text("")
        launch = {"launch_file": "sitl_flight", "arguments": {"record": record}}
        (tmp_path / name / "launch.json").write_text(json.dumps(launch))
    outcomes = {run["name"]: run["outcome"] for run in past_runs(tmp_path)}
    assert "nothing was recorded" in outcomes["a"] and "still runs" in outcomes["b"]


def test_the_next_free_port_is_taken(server, tmp_path):
    another = StartServer("127.0.0.1", server.server_port, tmp_path)
    another.stop()
    assert another.server_port > server.server_port


def test_an_address_of_another_machine_is_refused_at_once(tmp_path):
    with pytest.raises(UserError, match=r"--host 192\.0\.2\.1: .* expected an address of this"):
        StartServer("192.0.2.1", 18600, tmp_path)


def test_a_pipe_in_place_of_a_file_delays_nothing(server, runs):
    run = runs / "20261127-080000-pipe"
    run.mkdir()
    (run / "config.yaml").write_text("")
    os.mkfifo(run / "report.html")
    os.mkfifo(run / "metrics.json")
    listed = _got(server, "/runs.json").json()["runs"]
    assert not listed[-1]["has_report"]
    assert _got(server, f"/runs/{run.name}/report.html").status_code == 404
