# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A view, and a real browser without a graphics card that shows its page."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from aerotwin_view import Page, open_page

sys.path.insert(0, str(Path(__file__).parent))  # for the samples that tests share
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
SOFTWARE_WEBGL = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser; until it is closed no other event loop can run in this thread."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE_WEBGL)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def view() -> Callable[..., object]:
    """Return a context that runs `aerotwin view` with arguments and gives the printed address."""

    @contextmanager
    def run(*arguments: object) -> Iterator[str]:
        command = [sys.executable, "-P", "-m", "aerotwin_core.cli", "view", *map(str, arguments)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            yield process.stdout.readline().split()[0]
            process.terminate()

    return run


@pytest.fixture
def page() -> Iterator[Page]:
    """Return a page that nobody watches: what is drawn on it can be read from its handles."""
    page, _ = open_page("a test", port=18590)
    yield page
    page.stop()


@pytest.fixture
def others() -> Iterator[object]:
    """Return nodes of others, in a ROS context of their own."""
    import rclpy
    from other_nodes import Others

    rclpy.init()
    made = Others()
    yield made
    made.close()
    rclpy.try_shutdown()
