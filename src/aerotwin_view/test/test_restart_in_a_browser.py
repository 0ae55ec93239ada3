# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A page in a real browser that shows one flight after another."""

import re

import pytest
from playwright.sync_api import Browser
from watched_page import SIMULATED, WORDS, open_page_of, passes, simulated_s

from support.graph_observer import launched

PORT, LIVE_PORT = 18891, 18892

pytestmark = [pytest.mark.slow, pytest.mark.ros]


@pytest.mark.parametrize("has_own_page", [True, False], ids=["its page", "view --live"])
def test_the_page_shows_a_flight_that_is_started_anew(browser, view, tmp_path, has_own_page):
    """A page that came with the flight connects to the next one's; another has never left."""
    words = [*WORDS, f"runs_dir:={tmp_path}"]
    if has_own_page:
        words += ["view:=true", f"view_port:={PORT}"]
        _watch_two(browser, words, tmp_path, PORT, "ended")
    else:
        with view("--live", "--world", "none", "--port", LIVE_PORT):
            _watch_two(browser, words, tmp_path, LIVE_PORT, "the run ended at")


def _watch_two(browser: Browser, words: list[str], folder, port: int, end: str) -> None:
    """See two flights, one after the other, in one page that is never loaded again."""
    with launched("sitl_flight.launch.yaml", words, folder):
        page = open_page_of(browser, port)
        while simulated_s(page) < 8.0:
            page.wait_for_timeout(500.0)
    page.get_by_text(re.compile(end)).first.wait_for()
    with launched("sitl_flight.launch.yaml", words, folder):
        page.get_by_text(SIMULATED).wait_for()
        assert simulated_s(page) < 8.0
        passes(page)
        page.get_by_role("button", name="Pause").click()
        page.get_by_text(re.compile(r"[\d.]+ s, paused, 1 robot\b")).wait_for()
    page.close()
