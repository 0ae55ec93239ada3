# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How far a campaign is while it runs: a bar on a terminal, elsewhere a line now and then."""

import time
from collections.abc import Callable
from typing import Any

from aerotwin_campaign.campaign_run import CampaignProgress
from aerotwin_core.cli import progress

EVERY_S = 60.0
"""Between two lines where there is no terminal, as in a log."""
_MINUTE_S, _HOUR_S, _DAY_S = 60.0, 3600.0, 86400.0


class LiveProgress:
    """Shows the progress of a campaign.

    Rate and time left are those of the runs made since it began: what was done before is no speed.

    Parameters
    ----------
    state : CampaignProgress
        As it is when the first run begins; it is read again at each update.
    say : callable
        Prints a line.
    clock : callable
        Returns the time [s].
    """

    def __init__(
        self,
        state: CampaignProgress,
        say: Callable[[str], Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._state, self._say, self._clock = state, say, clock
        self._n_before, self._begin_s = state.n_done, clock()
        self._said_s = self._begin_s
        self._bar = progress(state.n_runs, "runs", unit="run")
        self._bar.n = self._bar.initial = state.n_done

    def __enter__(self) -> "LiveProgress":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()

    def update(self, _: object = None) -> None:
        """Show what is done now; called after each run."""
        if not self._bar.disable:
            self._bar.set_postfix_str(f"{self._state.n_failures} failed", refresh=False)
            self._bar.update(self._state.n_done - self._bar.n)
        elif self._clock() - self._said_s >= EVERY_S:
            self._said_s = self._clock()
            self._say(self.text())

    def text(self) -> str:
        """Return done, failed, rate and time left in one line."""
        state, elapsed_s = self._state, self._clock() - self._begin_s
        n_made = state.n_done - self._n_before
        text = f"{state.n_done} of {state.n_runs} runs done, {state.n_failures} failed"
        if n_made == 0 or elapsed_s <= 0.0:
            return text
        per_minute = n_made * _MINUTE_S / elapsed_s
        left_s = state.n_left * elapsed_s / n_made
        return f"{text}, {per_minute:.3g} a minute, {duration_text(left_s)} left"


def duration_text(duration_s: float) -> str:
    """Return a duration [s] in the unit in which a person thinks of it."""
    for unit_s, unit in ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min")):
        if duration_s >= unit_s:
            return f"{duration_s / unit_s:.1f} {unit}"
    return f"{duration_s:.0f} s"
