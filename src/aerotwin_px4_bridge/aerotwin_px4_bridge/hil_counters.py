# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Timeouts and counters of a HIL link."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class HilTimeouts:
    """Limits of the link's waits, in wall time.

    A step without an answer within `answer_s` counts as missed; after `consecutive_misses` in a row
    the autopilot is lost. `first_answer_s` runs from the first HIL_SENSOR to the first answer (PX4
    starts its modules in between), with `free_run_pause_s` between two steps until then.
    """

    answer_s: float = 1.0
    first_answer_s: float = 30.0
    free_run_pause_s: float = 0.002
    consecutive_misses: int = 3


@dataclass(slots=True)
class LinkCounters:
    """Counters of a link.

    `n_late`: answers to earlier steps; `n_refused`: frames with impossible values; `n_foreign`:
    frames of another system; `n_garbage_bytes`: bytes that belonged to no known frame; waits in
    wall time [s], from the sending of a step to its answer.
    """

    n_sent: int = 0
    n_answered: int = 0
    n_missed: int = 0
    n_late: int = 0
    n_refused: int = 0
    n_foreign: int = 0
    n_garbage_bytes: int = 0
    max_wait_s: float = 0.0
    total_wait_s: float = 0.0

    def what_came_instead(self) -> str:
        """Return everything received but answers, as text in brackets; empty for nothing."""
        parts = [
            f"{count} {text}"
            for count, text in (
                (self.n_late, "answers to other steps"),
                (self.n_refused, "answers that were not finite or out of range"),
                (self.n_foreign, "answers of another system id"),
                (self.n_garbage_bytes, "bytes of other messages or garbage"),
            )
            if count
        ]
        return f" (received in all: {', '.join(parts)})" if parts else ""
