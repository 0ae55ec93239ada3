# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The start page in a real browser: a run is chosen, started, stopped and read about."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from aerotwin_view.start.guarded_child import MARK

PORT = 18390
_PATIENCE_MS = 120_000.0
SHORT = {"slam": "none", "world": "meadow"}
_OWN = "AEROTWIN_TEST_FOLDER"
"""In the environment of what a test started: others may start runs beside it."""
MOST_TABS = 120
"""More than the page has controls with all arguments open."""

pytestmark = [pytest.mark.slow, pytest.mark.ros]


def _start(folder: Path) -> subprocess.Popen:
    """Start `aerotwin view` in a folder."""
    command = [sys.executable, "-P", "-m", "aerotwin_core.cli", "view", "--port", str(PORT)]
    own = os.environ | {_OWN: str(folder)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=own)


@contextmanager
def _started(folder: Path) -> Iterator[tuple[subprocess.Popen, str]]:
    """Run `aerotwin view` in a folder; yield the process and the address that it prints."""
    with _start(folder) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=_PATIENCE_MS / 1000.0)
    assert process.returncode == 130
    assert _left_behind(folder) == []


def _left_behind(folder: Path) -> list[str]:
    """Return the processes that the page of a folder started, found by their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            is_own = MARK in environment and environment.get(_OWN) == str(folder)
            if is_own and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


@pytest.fixture(scope="module", autouse=True)
def _patience() -> Iterator[None]:
    """Wait for programs to start and end, not only for a page to change."""
    expect.set_options(timeout=_PATIENCE_MS)
    yield
    expect.set_options(timeout=5000.0)


@contextmanager
def _opened(browser: Browser, folder: Path) -> Iterator[Page]:
    """Open the page of a server in a folder; at its end it had no problem and asked nobody else."""
    with _started(folder) as (_, address):
        page = browser.new_page(viewport={"width": 1300, "height": 900})
        page.set_default_timeout(_PATIENCE_MS)
        problems, requested = [], []
        page.on("request", lambda request: requested.append(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.goto(address)
        expect(page.locator("#line")).to_have_text("aerotwin launch sitl_flight view:=true")
        yield page
        page.close()
    hosts = {urlsplit(url).hostname for url in requested if url.startswith("http")}
    assert hosts == {"127.0.0.1"}
    # A refusal is told by the browser, too, which is no problem of the page.
    assert [text for text in problems if "status of 400" not in text] == []


@pytest.fixture
def page(browser, tmp_path: Path) -> Iterator[Page]:
    """Return a page whose runs are in the folder of the test."""
    with _opened(browser, tmp_path) as page:
        yield page


@pytest.fixture
def ended_page(page) -> Page:
    """Return a page with a run that has ended."""
    page.locator("[value=meadow]").check()
    page.locator("#field-slam").select_option("none")
    page.locator("#field-camera").uncheck()
    page.locator("#field-duration_s").fill("2")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#state")).to_have_text("Ended: 2 s are over.")
    return page


def _tab_to(page: Page, element: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(MOST_TABS):
        if page.evaluate("document.activeElement.id || document.activeElement.value") == element:
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no number of tabs leads to {element}")


def _type(page: Page, field: str, text: str) -> None:
    _tab_to(page, f"field-{field}")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type(text)


def test_every_control_has_a_name(page):
    page.get_by_text("More arguments").click()
    shown = [page.locator("body").inner_text()]
    shown += page.locator("input").evaluate_all("es => es.map(e => e.placeholder + e.value)")
    assert not [text for text in shown if "$(" in text]
    for control in page.locator("input:visible, select:visible, button:visible").all():
        handle = control.element_handle()
        name = handle.evaluate(
            "e => e.getAttribute('aria-label') || [...(e.labels || [])].map(l => l.innerText)"
            ".join() || e.innerText"
        )
        assert name.strip(), handle.evaluate("e => e.outerHTML")
    page.get_by_text("More arguments").click()


def test_a_run_is_chosen_and_started_by_keys_alone_and_its_report_is_read(page, tmp_path):
    page.locator("#scenario").focus()
    _tab_to(page, "cliff")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#line")).to_have_text(
        "aerotwin launch sitl_flight world:=meadow view:=true"
    )
    _tab_to(page, "field-camera")
    page.keyboard.press("Space")
    _tab_to(page, "field-slam")
    page.keyboard.type("none")
    _type(page, "duration_s", "2")
    line = "aerotwin launch sitl_flight world:=meadow slam:=none camera:=false duration_s:=2 "
    line += "view:=true"
    expect(page.locator("#line")).to_have_text(line)
    _tab_to(page, "start")
    page.keyboard.press("Enter")
    expect(page.locator("#start")).to_be_disabled()
    expect(page.locator("#state")).to_have_text("Ended: 2 s are over.")
    expect(page.locator("#run-line")).to_have_text(line)
    expect(page.locator("#output")).to_contain_text("2 s are over")
    (run,) = (tmp_path / "runs").iterdir()
    report = page.locator("#report").get_attribute("href")
    assert report == f"runs/{run.name}/report.html"
    answer = page.request.get(page.url + report)
    assert answer.status == 200 and answer.body() == (run / "report.html").read_bytes()
    listed = page.locator("#runs > li")
    expect(listed).to_have_count(1)
    expect(listed).to_contain_text(run.name)
    expect(listed).to_contain_text("2 s are over")
    expect(listed).to_contain_text(f"aerotwin view runs/{run.name}")
    page.locator("#scenario").select_option("relay")
    page.get_by_role("button", name=f"Fill the form with {run.name}").click()
    expect(page.locator("#scenario")).to_have_value("sitl_flight")
    expect(page.locator("#line")).to_have_text(line)


def test_a_past_run_is_played_in_a_view_that_ends_with_the_page(ended_page):
    button = ended_page.get_by_role("button", name=re.compile("^Play "))
    with ended_page.context.expect_page() as opened:
        button.click()
    view = opened.value
    view.locator("canvas").first.wait_for()
    expect(view.get_by_text("Paths", exact=True)).to_be_visible()
    assert view.evaluate("window.opener") is None
    expect(button).to_have_text("Play")
    with ended_page.context.expect_page() as opened_again:
        button.click()
    expect(opened_again.value).to_have_url(view.url)


def test_the_report_opens_and_runs_its_own_scripts(ended_page):
    with ended_page.context.expect_page() as opened:
        ended_page.locator("#report").click()
    report = opened.value
    expect(report.locator("h1")).to_contain_text("meadow")
    report.get_by_role("button", name=re.compile("dark|light", re.IGNORECASE)).first.click()
    assert report.evaluate("self.origin") == "null"
    report.close()


def test_a_run_shows_its_view_and_is_stopped(page):
    page.locator("[value=meadow]").check()
    page.locator("#field-slam").select_option("none")
    page.locator("#field-camera").uncheck()
    page.locator("#field-speed").fill("1.0")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#state")).to_contain_text("Running")
    view = page.locator("#view").get_attribute("href")
    assert urlsplit(view).hostname == "127.0.0.1"
    assert page.request.get(view).status == 200
    token = page.locator("meta[name=aerotwin-token]").get_attribute("content")
    refused = page.request.post(
        page.url + "start",
        headers={"X-Aerotwin-Token": token, "Origin": page.url.rstrip("/")},
        data={"scenario": "sitl_flight", "values": SHORT},
    )
    assert refused.status == 409 and "one run at a time" in refused.json()["error"]
    expect(page.locator("#output")).to_contain_text("x real time")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#state")).to_have_text("Stopped.")
    expect(page.locator("#runs > li")).to_have_count(1)
    expect(page.get_by_role("button", name="Start")).to_be_focused()


def _refusal(page: Page, field: str) -> Locator:
    """Start, which is refused at a field; return its text there."""
    page.get_by_role("button", name="Start").click()
    control = page.locator(f"#field-{field}")
    expect(control).to_be_focused()
    expect(control).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#error")).to_have_text(f"Not started: see {field}.")
    assert page.locator("#run").is_hidden()
    text = page.locator("#refusal")
    assert text.get_attribute("id") in control.get_attribute("aria-describedby").split()
    return text


def test_a_misspelt_world_is_said_at_its_field(page):
    page.locator("#field-world").fill("medow")
    expect(_refusal(page, "world")).to_contain_text("world 'medow'")
    page.locator("#field-world").fill("meadow")
    expect(page.locator("#refusal")).to_have_count(0)
    expect(page.locator("[aria-invalid]")).to_have_count(0)


def test_a_file_that_does_not_exist_is_said_at_its_field_wherever_it_is(page):
    page.get_by_text("More arguments").click()
    page.locator("#field-mission").fill("nowhere.yaml")
    page.get_by_text("More arguments").click()
    expect(_refusal(page, "mission")).to_contain_text("found no file 'nowhere.yaml'")
    expect(page.locator("#field-mission")).to_be_visible()


def test_the_page_fits_a_phone_in_light_and_dark(page):
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": 360, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        expect(page.locator("#start")).to_be_in_viewport()


def test_what_differs_from_its_default_is_marked_and_another_zero_is_not(page):
    marked = page.locator(".changed")
    page.locator("#field-speed").fill("0")
    page.locator("#field-seed").fill("7")
    expect(page.locator("#line")).to_have_text("aerotwin launch sitl_flight seed:=7 view:=true")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("seed")
    page.locator("#field-seed").fill("00")
    expect(marked).to_have_count(0)


def test_what_was_filled_in_survives_a_reload(page):
    page.locator("#field-seed").fill("7")
    expect(page.locator("#line")).to_contain_text("seed:=7")
    page.reload()
    expect(page.locator("#line")).to_have_text("aerotwin launch sitl_flight seed:=7 view:=true")
    expect(page.locator("#field-seed")).to_have_value("7")


def test_ctrl_c_ends_the_page_and_its_run(browser, tmp_path):
    with _started(tmp_path) as (_, address):
        page = browser.new_page()
        page.goto(address)
        page.locator("[value=meadow]").check()
        page.locator("#field-slam").select_option("none")
        page.locator("#field-speed").fill("1.0")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#output")).to_contain_text("x real time")
        assert len(_left_behind(tmp_path)) > 2
        page.close()
    (run,) = (tmp_path / "runs").iterdir()
    assert (run / "report.html").is_file()


def test_a_killed_page_leaves_no_run_behind(browser, tmp_path):
    process = _start(tmp_path)
    assert process.stdout is not None
    page = browser.new_page()
    page.goto(process.stdout.readline().split()[0])
    page.locator("[value=meadow]").check()
    page.locator("#field-speed").fill("1.0")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#output")).to_contain_text("process started")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    end = time.monotonic() + _PATIENCE_MS / 1000.0
    while _left_behind(tmp_path):
        assert time.monotonic() < end, _left_behind(tmp_path)
        time.sleep(0.2)
    page.close()
