# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A page of the view in a real browser, which shows a flight at the speed of real time."""

import re
import time

from playwright.sync_api import Browser, Page

WORDS = [
    "world:=meadow", "speed:=1.0", "mission:=none", "camera:=false", "slam:=none", "record:=none",
]  # fmt: skip
SMALL = {"width": 420, "height": 320}
"""Pixels: all pages are drawn here, without a graphics card."""
PATIENCE_S = 120.0
SIMULATED = re.compile(r"([\d.]+) s, [\d.]+ x real time, 1 robot\b")


def open_page_of(browser: Browser, port: int) -> Page:
    """Return a page that shows the flight, as soon as there is one."""
    page = browser.new_page(viewport=SMALL)
    page.set_default_timeout(1000.0 * PATIENCE_S)
    go_when_served(page, port)
    page.get_by_text(SIMULATED).wait_for()
    return page


def go_when_served(page: Page, port: int) -> None:
    """Open the page of a port as soon as it is there."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            page.goto(f"http://127.0.0.1:{port}/")
        except Exception:
            assert time.monotonic() < end, "no page is served"
            page.wait_for_timeout(500.0)
        else:
            return


def simulated_s(page: Page) -> float:
    """Return the time of the flight that a page shows [s]."""
    found = SIMULATED.search(page.get_by_text(SIMULATED).inner_text())
    assert found is not None
    return float(found[1])


def passes(page: Page) -> None:
    """Wait until the time that a page shows has passed by a second."""
    before_s = simulated_s(page)
    end = time.monotonic() + PATIENCE_S
    while simulated_s(page) < before_s + 1.0:
        assert time.monotonic() < end, "the page stands still"
        page.wait_for_timeout(200.0)
