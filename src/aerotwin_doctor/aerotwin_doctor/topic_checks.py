# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Interpretation of the statuses on /diagnostics: levels, and counters of the HIL link."""

from collections.abc import Mapping, Sequence
from typing import Any

from aerotwin_doctor.check import Check, fail, ok, warn

WARN_LEVEL, ERROR_LEVEL = 1, 2
"""diagnostic_msgs/DiagnosticStatus; 3 is STALE."""
_STEPS = ("steps_sent", "n_steps")
_SHOWN = (*_STEPS, "steps_missed", "answers_late", "answers_refused", "longest_wait_ms")


def topic_checks(statuses: Mapping[str, Sequence[Any]]) -> list[Check]:
    """Return one check for each name that reported; the last status counts."""
    return [_status_check(name, history) for name, history in sorted(statuses.items())]


def _status_check(name: str, history: Sequence[Any]) -> Check:
    last = history[-1]
    level = last.level[0] if isinstance(last.level, bytes) else int(last.level)
    values = {item.key: item.value for item in last.values}
    shown = ", ".join(f"{key} {values[key]}" for key in _SHOWN if key in values)
    text = f"{last.message} ({shown})" if shown else last.message
    where = f"topics.{name}"
    if level >= ERROR_LEVEL:
        return fail(where, text, "see the log of that node")
    if _stands_still(history):
        return warn(where, f"{text}; the counter of steps stands still", "paused, or hanging?")
    if level == WARN_LEVEL:
        return warn(
            where,
            text,
            "missed steps: the autopilot was too slow for its wait; pin it, free the processor",
        )
    return ok(where, text)


def _stands_still(history: Sequence[Any]) -> bool:
    if len(history) < 2:
        return False
    counts = [
        {item.value for item in status.values if item.key in _STEPS} for status in history[-2:]
    ]
    return bool(counts[0]) and counts[0] == counts[1]
