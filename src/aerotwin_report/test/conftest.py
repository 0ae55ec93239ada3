# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A real browser for the tests of the page: headless Chromium, spoken to through two pipes."""

import base64
import fcntl
import io
import json
import os
import select
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from matplotlib.image import imread

from aerotwin_report import Section, write_report

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
)
_LIMIT_S = 30.0  # a page that needs longer hangs
_ABOVE_PIPES = 10
_LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4);"
    "os.execvp(sys.argv[3], sys.argv[3:])"
)


_PIXELS = """(() => {
  const canvas = document.querySelector(".space");
  const { width, height } = canvas;
  const picture = canvas.getContext("2d").getImageData(0, 0, width, height);
  const data = new Uint32Array(picture.data.buffer);
  let drawn = 0;
  const seen = new Set();
  for (const pixel of data) if (pixel >>> 24 !== 0) { drawn++; seen.add(pixel); }
  return { drawn, colours: seen.size, share: drawn / data.length };
})()"""


class Browser:
    """The DevTools protocol over file descriptors 3 and 4: messages of JSON, ended by a zero."""

    def __init__(self, program, folder):
        pipes = [self._high(pipe) for pipe in (os.pipe(), os.pipe())]
        (their_in, self._out), (self._in, their_out) = pipes
        flags = [*_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        launch = [sys.executable, "-c", _LAUNCH, str(their_in), str(their_out)]
        self._process = subprocess.Popen(
            [*launch, program, *flags, f"--user-data-dir={folder}"],
            pass_fds=(their_in, their_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        self._read, self._n, self.events = b"", 0, []

    @staticmethod
    def _high(pipe):
        """Return the ends of a pipe on numbers that the browser's own do not meet."""
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _ABOVE_PIPES) for end in pipe]
        for end in pipe:
            os.close(end)
        return ends

    def call(self, method, session=None, **parameters):
        self._n += 1
        message = {"id": self._n, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._n:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self._read:
            assert select.select([self._in], [], [], _LIMIT_S)[0], "the browser says nothing"
            data = os.read(self._in, 1 << 20)
            assert data, "the browser ended"
            self._read += data
        line, _, self._read = self._read.partition(b"\0")
        return json.loads(line)

    def close(self):
        try:
            self.call("Browser.close")
            self._process.wait(10.0)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._in)
            os.close(self._out)


class Tab:
    """One page, open at a size."""

    def __init__(self, browser, path, *, width=640, height=600, dark=False, touch=False, before=""):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=touch,
        )
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.media("screen", dark)
        self.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.call("Page.navigate", url=f"file://{path}")
        self.wait("document.readyState === 'complete'")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def media(self, kind, dark=False):
        value = "dark" if dark else "light"
        self.call(
            "Emulation.setEmulatedMedia",
            media=kind,
            features=[{"name": "prefers-color-scheme", "value": value}],
        )

    def js(self, expression):
        """Return the value of an expression; promises are waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition):
        end = time.monotonic() + _LIMIT_S
        while not self.js(condition):
            assert time.monotonic() < end, f"never came true: {condition}"
            time.sleep(0.05)

    def settle(self):
        """Wait until what was asked for is drawn."""
        self.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def live(self):
        """Bring the first scene into the window and wait until it is drawn."""
        self.js(
            "document.querySelector('.scene .stage')"
            ".scrollIntoView({block: 'center', behavior: 'instant'})"
        )
        self.wait("document.querySelector('.scene').classList.contains('live')")
        self.settle()
        return self

    def drawn(self):
        """Return how many pixels and colours the view shows, and the share of it."""
        return self.js(_PIXELS)

    def pixels(self):
        """Return the view's picture, (height, width, 4) of 0 to 255."""
        url = self.js("document.querySelector('.space').toDataURL()")
        picture = imread(io.BytesIO(base64.b64decode(url.partition(",")[2])))
        return np.rint(picture * 255.0).astype(np.uint8)

    def slide(self, name, value):
        """Move a slider of the view."""
        self.js(f"""(() => {{
          const labels = [...document.querySelectorAll(".slider")];
          const found = labels.find((e) => e.textContent.startsWith("{name}"));
          found.querySelector("input").value = {value};
          found.querySelector("input").dispatchEvent(new Event("input"));
        }})()""")
        self.settle()

    def errors(self):
        """Return what the console calls an error, a refusal by the policy included."""
        self.js("0")  # what was sent before has arrived then
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            entry = event["params"].get("entry", {})
            if event["method"] == "Runtime.exceptionThrown" or entry.get("level") == "error":
                found.append(event["params"])
            if event["method"] == "Runtime.consoleAPICalled" and (
                event["params"]["type"] in ("error", "assert")
            ):
                found.append(event["params"])
        return found

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is installed")
    started = Browser(program, tmp_path_factory.mktemp("browser"))
    yield started
    started.close()


@pytest.fixture
def open_page(browser):
    """Return a function that opens a file in the browser; its tabs are closed after the test."""
    tabs = []

    def opened(path, **options):
        tabs.append(Tab(browser, path, **options))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.close()


@pytest.fixture(scope="session")
def hills():
    """Return a function that gives n points of a landscape of 100 by 60 m."""

    def points(n):
        rng = np.random.default_rng(1000)
        x, y = rng.uniform(-50.0, 50.0, n), rng.uniform(-30.0, 30.0, n)
        return np.column_stack([x, y, 3.0 * np.sin(x / 9.0) + 2.0 * np.cos(y / 7.0)])

    return points


@pytest.fixture(scope="session")
def write_page():
    """Return a function that writes a report of scenes."""

    def write(folder, *scenes, **changes):
        section = Section(title="Map", name="map", scenes=scenes, **changes)
        return write_report(folder, title="Run", sections=[section], configuration={})

    return write
