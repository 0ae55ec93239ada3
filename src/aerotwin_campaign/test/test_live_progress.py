# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a campaign while it runs."""

import io

import pytest

from aerotwin_campaign.campaign_run import CampaignProgress
from aerotwin_campaign.live_progress import EVERY_S, LiveProgress, duration_text


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_log_gets_a_line_a_minute_with_the_rate_of_what_was_made_now():
    said = []
    state, clock = CampaignProgress(n_runs=10_000, n_done=400, n_failures=1), Clock()
    with LiveProgress(state, said.append, clock) as shown:
        shown.update()
        clock.now_s += EVERY_S - 1.0
        state.n_done += 50
        shown.update()
        assert said == []
        clock.now_s += 1.0
        state.n_done, state.n_failures = 500, 3
        shown.update()
        shown.update()
    # 100 runs in a minute, 9500 are left: 95 minutes.
    assert said == ["500 of 10000 runs done, 3 failed, 100 a minute, 1.6 h left"]


def test_nothing_is_said_of_a_rate_before_a_run_was_made():
    state, clock = CampaignProgress(n_runs=10, n_done=4), Clock()
    shown = LiveProgress(state, print, clock)
    clock.now_s += 5.0
    assert shown.text() == "4 of 10 runs done, 0 failed"


def test_a_terminal_gets_a_bar_whose_rate_leaves_out_what_was_done_before(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", terminal)
    state = CampaignProgress(n_runs=10_000, n_done=9_000)
    with LiveProgress(state, print, Clock()) as shown:
        state.n_done, state.n_failures = 9_001, 1
        shown.update()
        rate = shown._bar.format_dict
        assert (rate["n"], rate["initial"], rate["total"]) == (9_001, 9_000, 10_000)
        assert "1 failed" in str(shown._bar)


@pytest.mark.parametrize(
    ("duration_s", "expected"),
    [(0.4, "0 s"), (59.0, "59 s"), (90.0, "1.5 min"), (5400.0, "1.5 h"), (129_600.0, "1.5 d")],
)
def test_a_duration_is_said_in_its_unit(duration_s, expected):
    assert duration_text(duration_s) == expected
