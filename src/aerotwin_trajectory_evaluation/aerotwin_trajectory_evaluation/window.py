# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The time window that is scored: the part of a reference between two moments."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.time import stamp_of_text
from aerotwin_core.trajectory import Trajectory

_NS = 10**9


@dataclass(frozen=True, kw_only=True)
class TimeWindow:
    """A closed interval of time [ns]; None = from the beginning, to the end.

    Stamps are those of the files if `is_absolute`, else counted from the reference's first pose.

    Raises
    ------
    UserError
        If it ends before it starts.
    """

    start_ns: int | None = None
    end_ns: int | None = None
    is_absolute: bool = False

    def __post_init__(self) -> None:
        if self.start_ns is None or self.end_ns is None:
            return
        if self.start_ns > self.end_ns:
            raise UserError(
                "--t-start must be before --t-end, got "
                f"{self.start_ns / _NS:g} s and {self.end_ns / _NS:g} s"
            )

    @property
    def is_whole(self) -> bool:
        """Whether it excludes nothing."""
        return self.start_ns is None and self.end_ns is None

    def of_reference(self, reference: Trajectory) -> Trajectory:
        """Return the poses of the reference within the window.

        Raises
        ------
        UserError
            If fewer than two are left.
        """
        inside = reference.select(self._inside(reference, reference, 0))
        if len(inside) < 2:
            raise UserError(self._nothing(reference, len(inside)))
        return inside

    def of_estimate(
        self, reference: Trajectory, estimate: Trajectory, *, margin_s: float
    ) -> np.ndarray:
        """Return which poses of an estimate are in the window, or may be paired with its ends.

        `reference` is the whole one: times are counted from its first pose. A pose may lie
        `margin_s` from its pair [s].
        """
        return self._inside(reference, estimate, round(margin_s * _NS))

    def words(self, n_left: int, n_whole: int) -> str:
        """Describe the window, and how much of the reference it leaves."""
        start = "its beginning" if self.start_ns is None else f"{self.start_ns / _NS:.3f} s"
        end = "its end" if self.end_ns is None else f"{self.end_ns / _NS:.3f} s"
        since = "as stamps" if self.is_absolute else "since its first pose"
        left = "all" if n_left == n_whole else f"{n_left} of {n_whole}"
        return f"judged from {start} to {end} of the reference ({since}): {left} of its poses"

    def _inside(self, reference: Trajectory, which: Trajectory, margin_ns: int) -> np.ndarray:
        zero = 0 if self.is_absolute or not len(reference) else int(reference.stamps_ns[0])
        is_in = np.ones(len(which), dtype=bool)
        if self.start_ns is not None:
            is_in &= which.stamps_ns >= self.start_ns + zero - margin_ns
        if self.end_ns is not None:
            is_in &= which.stamps_ns <= self.end_ns + zero + margin_ns
        return np.flatnonzero(is_in)

    def _nothing(self, reference: Trajectory, n: int) -> str:
        first, last = (int(stamp) for stamp in reference.stamps_ns[[0, -1]])
        asked = [ns for ns in (self.start_ns, self.end_ns) if ns is not None]
        way_out = "choose times within"
        if not self.is_absolute and any(first <= ns <= last for ns in asked):
            way_out = "stamps as in the files need --t-absolute"
        elif self.is_absolute and all(ns <= last - first for ns in asked):
            way_out = "leave out --t-absolute to count from its first pose"
        return (
            f"--t-start, --t-end: {n} poses of the reference are left, two are needed; it lasts "
            f"from 0 to {(last - first) / _NS:.3f} s (stamps {first / _NS:.3f} to "
            f"{last / _NS:.3f} s); {way_out}"
        )


def nanoseconds(text: str) -> int:
    """Return seconds written as decimals as whole nanoseconds: a double would round a stamp.

    Examples
    --------
    >>> nanoseconds("1403715524.907143")
    1403715524907143000
    """
    try:
        return stamp_of_text(text)
    except ValueError as error:
        raise ValueError(f"expected seconds, got {text!r}") from error
