# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A route is taught by driving a ground robot by the keys of a page, with its camera's picture."""

import re

import numpy as np
import pytest

from support.graph_observer import launched

PORT = 18590
_PATIENCE_MS = 120_000.0
_REPEAT_MS = 100.0
_N_PRESSES = 60
SLACK_M = 0.5

pytestmark = [pytest.mark.slow, pytest.mark.ros]


def test_a_driven_path_becomes_a_route(browser, tmp_path):
    from aerotwin_teach_repeat.teaching import load_route, read_driven

    words = [
        "world:=meadow", f"route:={tmp_path / 'drive.tum'}", "camera:=true", "view:=true",
        f"view_port:={PORT}",
    ]  # fmt: skip
    with launched("teach_drive.launch.yaml", words, tmp_path) as (process, log):
        page = browser.new_page(viewport={"width": 1100, "height": 900}, accept_downloads=True)
        page.set_default_timeout(_PATIENCE_MS)
        for _ in range(120):
            if "view: http" in log.read_text():
                break
            page.wait_for_timeout(500.0)
        page.goto(f"http://127.0.0.1:{PORT}/")
        page.get_by_text(re.compile(r"x real time, 1 robot\b")).wait_for()
        page.get_by_role("combobox", name="Camera").click()
        page.get_by_role("option", name="/driver/image_raw").click()
        page.locator("img[src^='blob:']").wait_for()
        page.get_by_text("Teach by driving").click()
        page.get_by_role("button", name="Record", exact=True).click()
        page.get_by_text("recording: drive").wait_for()
        page.mouse.move(300, 300)
        for _ in range(_N_PRESSES):
            page.keyboard.press("i")
            page.wait_for_timeout(_REPEAT_MS)
        page.get_by_text(re.compile(r"recording: [\d.]+ m")).wait_for()
        page.screenshot(path=tmp_path / "drive.png")
        page.get_by_role("button", name="Stop recording").click()
        page.get_by_text(re.compile(r"recorded: [\d.]+ m")).wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save driven path (TUM)").click()
        download.value.save_as(tmp_path / "saved.tum")
        page.get_by_role("button", name="Make it way-points to edit").click()
        page.get_by_text(re.compile(r"^Place \d+ ")).first.wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as route (YAML)").click()
        download.value.save_as(tmp_path / "route.yaml")
        page.close()
        assert process.poll() is None, log.read_text()
    saved = read_driven(tmp_path / "saved.tum").p_ref_body
    exact = read_driven(tmp_path / "drive.tum").p_ref_body
    assert np.linalg.norm(saved[-1] - saved[0]) > 1.0
    assert np.linalg.norm(saved[-1] - exact[-1]) < SLACK_M
    route = load_route(tmp_path / "route.yaml").waypoints
    assert route[0] == pytest.approx(saved[0, :2], abs=0.01)
    assert route[-1] == pytest.approx(saved[-1, :2], abs=0.01)
