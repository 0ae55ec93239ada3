# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight in a real browser: it plays, stops, jumps."""

import pytest
from playwright.sync_api import Page, expect

from support.motion_bag import LEVEL, write_motion

_PATIENCE_MS = 120_000.0
_LENGTH_S, _STEP_NS = 200, 100_000_000

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(browser, view, tmp_path_factory):
    """Open the page of a bag with two robots."""
    folder = tmp_path_factory.mktemp("run")
    paths = {
        f"/uav{k}/truth/odom": [
            ((0.1 * step, 3.0 * k, 2.0), LEVEL) for step in range(10 * _LENGTH_S)
        ]
        for k in range(2)
    }
    write_motion(folder, paths, step_ns=_STEP_NS)
    with view(folder, "--port", 18390) as address:
        page = browser.new_page(viewport={"width": 800, "height": 700})
        page.set_default_timeout(_PATIENCE_MS)
        page.goto(address)
        page.get_by_text("Show flown").wait_for()
        yield page
        page.close()


def _time_s(page: Page) -> float:
    return float(page.get_by_role("textbox").last.input_value())


def test_it_plays_until_it_is_stopped(page):
    page.wait_for_timeout(3000.0)
    before = _time_s(page)
    page.wait_for_timeout(3000.0)
    assert 0.0 < before < _time_s(page)
    page.get_by_role("checkbox", name="Play").click()
    page.wait_for_timeout(2000.0)
    stopped = _time_s(page)
    page.wait_for_timeout(2000.0)
    assert _time_s(page) == stopped


def test_a_time_can_be_typed(page):
    entry = page.get_by_role("textbox").last
    entry.fill("150")
    entry.press("Enter")
    page.wait_for_timeout(2000.0)
    assert _time_s(page) == pytest.approx(150.0, abs=0.01)


def test_a_robot_can_be_followed_and_paths_hidden(page):
    page.get_by_role("combobox", name="Follow").click()
    page.get_by_role("option", name="uav1").click()
    expect(page.get_by_role("combobox", name="Follow")).to_have_value("uav1")
    switch = page.get_by_role("checkbox", name="Show flown")
    switch.click()
    expect(switch).not_to_be_checked()
