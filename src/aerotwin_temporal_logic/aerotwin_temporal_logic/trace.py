# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The signals and events of a run, at fixed instants."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from aerotwin_temporal_logic.nodes import Instant, Span

SAME_INSTANT_S = 1e-6
"""Instants closer than this are the same: above what sums of decimals are off by, below a step."""


class NoInstantError(Exception):
    """An instant did not come in this run; the message says why. `at_s`: where it is seen, or None.

    Not an error of the user: `judge` makes it the reason of a verdict.
    """

    def __init__(self, reason: str, at_s: float | None = None) -> None:
        super().__init__(reason)
        self.at_s = at_s


@dataclass(frozen=True, eq=False)
class Trace:
    """What a run's signals were at n instants; each value holds until the next sample.

    Parameters
    ----------
    times_s : (n,) array
        Instants of the samples, increasing, from the start to the end of the run [s].
    values : mapping of str to (n,) array
        Signals: float (NaN where not known), bool or str.
    events : mapping of str to float or None
        First occurrence of each event [s]; None: it did not happen.

    Raises
    ------
    ValueError
        If there is no sample, a shape or type is another, instants do not increase, or an event's
        instant is not finite.
    """

    times_s: npt.NDArray[np.float64]
    values: Mapping[str, npt.NDArray[Any]]
    events: Mapping[str, float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        times_s = np.asarray(self.times_s, dtype=float)
        if times_s.ndim != 1 or not len(times_s):
            raise ValueError(f"times_s must be (n,) with n > 0, got {times_s.shape}")
        if not (np.isfinite(times_s).all() and (np.diff(times_s) > 0.0).all()):
            raise ValueError("times_s must be finite and increase")
        values = {name: np.asarray(array) for name, array in self.values.items()}
        for name, array in values.items():
            if array.shape != times_s.shape:
                raise ValueError(f"{name} must be {times_s.shape}, got {array.shape}")
        for name, time_s in self.events.items():
            if time_s is not None and not np.isfinite(time_s):
                raise ValueError(f"event {name} must be finite seconds or None, got {time_s}")
        object.__setattr__(self, "times_s", times_s)
        object.__setattr__(self, "values", values)

    @property
    def end_s(self) -> float:
        """The last instant."""
        return float(self.times_s[-1])

    def index_at(self, time_s: npt.ArrayLike) -> Any:
        """Return the index of the sample that is in force at an instant; the first before it."""
        after = np.searchsorted(self.times_s, np.asarray(time_s) + SAME_INSTANT_S, side="right")
        return np.maximum(after - 1, 0)

    def time_of(self, instant: Instant) -> float:
        """Return when an instant is [s], which may be after the end of the run.

        Raises `NoInstantError` if its event did not happen.
        """
        if instant.base == "end":
            return self.end_s
        if instant.base == "start":
            return float(self.times_s[0]) + instant.offset_s
        time_s = self.events.get(instant.base)
        if time_s is None:
            raise NoInstantError(f"{instant.base} never happened")
        return time_s + instant.offset_s

    def time_in_run(self, instant: Instant) -> float:
        """Return when an instant is [s].

        Raises `NoInstantError` also if the run ended before it.
        """
        time_s = self.time_of(instant)
        if time_s > self.end_s + SAME_INSTANT_S:
            raise self.ended_before(instant.text)
        return time_s

    def ended_before(self, what: str) -> NoInstantError:
        """Return the reason that the run ended too early."""
        return NoInstantError(f"the run ended at {seconds(self.end_s)}, before {what}", self.end_s)

    def bounds(self, span: Span) -> tuple[int, int, NoInstantError | None]:
        """Return the first and last index of a span, and why a part of it is missing, if one is.

        Raises `NoInstantError` if it has no beginning in this run, or no instant.
        """
        first_s = self.time_in_run(span.first)
        if span.last is None:
            return int(self.index_at(first_s)), len(self.times_s) - 1, None
        last_s = self.time_of(span.last)
        last_s_included = last_s - 2.0 * SAME_INSTANT_S if span.excludes_last else last_s
        if last_s_included < first_s:
            reason = f"{span.last.text}, at {seconds(last_s)}, was not after {span.first.text}"
            raise NoInstantError(reason, last_s)
        cut = self.ended_before(span.last.text) if last_s > self.end_s + SAME_INSTANT_S else None
        return int(self.index_at(first_s)), int(self.index_at(last_s_included)), cut


def seconds(time_s: float) -> str:
    """Return an instant or duration as text, to a hundredth.

    >>> seconds(23.4), seconds(20.0)
    ('23.4 s', '20 s')
    """
    return f"{time_s:.2f}".rstrip("0").rstrip(".") + " s"
