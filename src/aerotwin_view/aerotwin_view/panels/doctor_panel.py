# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The button that asks the doctor about what runs, and what it found."""

import threading
from collections.abc import Callable, Sequence

from aerotwin_core.foreign_text import printable
from aerotwin_doctor import Check
from aerotwin_doctor.check import OK
from aerotwin_view.page import Page

LONGEST_S = 15.0
"""A check takes no longer: six seconds of listening, and loading what it needs."""
_MOST_LINES, _MOST_LETTERS = 30, 400


class DoctorPanel:
    """A button; its check takes seconds and runs in a thread, one at a time.

    `check` returns the findings, and is called by that thread.
    """

    def __init__(self, page: Page, check: Callable[[], Sequence[Check]]) -> None:
        self._check = check
        self._is_busy = threading.Lock()
        with page.gui.add_folder("Doctor", expand_by_default=False):
            button = page.gui.add_button(
                "Check", hint="listens for some seconds to the autopilot's link and /diagnostics"
            )
            self._text = page.add_text("not asked yet")
        button.on_click(lambda _: self._begin())

    def close(self) -> None:
        """Wait for the check that runs, at most `LONGEST_S`; none begins any more.

        A check talks to ROS, which must not end before it.
        """
        self._is_busy.acquire(timeout=LONGEST_S)

    def _begin(self) -> None:
        if self._is_busy.acquire(blocking=False):
            self._text.set("listens ...")
            threading.Thread(target=self._run, name="doctor", daemon=True).start()

    def _run(self) -> None:
        try:
            self._text.set(findings_text(self._check()))
        except Exception as error:  # whatever it is, the page says it: nobody else would
            self._text.set(printable(f"the doctor failed: {error!r}", _MOST_LETTERS))
        finally:
            self._is_busy.release()


def findings_text(checks: Sequence[Check]) -> str:
    """Return what is not in order, a paragraph each, and how many checks there were."""
    found = [each for each in checks if each.status != OK]
    head = f"{len(checks)} looked at, {len(found) or 'nothing'} to report"
    lines = [printable(each.line(), _MOST_LETTERS) for each in found[:_MOST_LINES]]
    return "\n\n".join([head, *lines])
