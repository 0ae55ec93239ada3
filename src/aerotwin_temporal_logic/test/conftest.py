# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Signals, events and random formulas that the tests of this package share."""

from dataclasses import dataclass

import numpy as np
import pytest

from aerotwin_temporal_logic import Signal, Trace

KINDS = {
    "distance_to_world_m": ("number", "m"),
    "height_m": ("number", "m"),
    "setpoint_height_m": ("number", "m"),
    "position_error_m": ("number", "m"),
    "speed_m_s": ("number", "m/s"),
    "tilt_deg": ("number", "deg"),
    "yaw_rate_deg_s": ("number", "deg/s"),
    "landed": ("boolean", ""),
    "armed": ("boolean", ""),
    "mode": ("text", ""),
}


@pytest.fixture(scope="session")
def signals():
    return {name: Signal(name, kind, unit, "") for name, (kind, unit) in KINDS.items()}


@pytest.fixture(scope="session")
def events():
    return ["gnss_lost", "gust", "collision"]


EVENTS_S = {"e": 3.0, "f": 6.0}
"""Of random formulas."""


@dataclass(frozen=True)
class Drawn:
    """A random formula in our words and in those of rtamt, where it has such."""

    text: str
    peer: str


class RandomFormulas:
    """Draws formulas over the numbers x, y and the booleans p, q, sampled at 0, 1 .. n-1 s.

    rtamt reads a boolean as +-inf >= 0, and room_D, the same, as "D more seconds in the run".
    Without arithmetic, a margin of a comparison is a change of x, and rtamt is not asked.
    """

    def __init__(self, rng: np.random.Generator, n: int, *, has_arithmetic: bool = True) -> None:
        self._rng, self._n, self._has_arithmetic = rng, n, has_arithmetic

    def trace(self) -> Trace:
        n = self._n
        numbers = self._rng.integers(-6, 7, (2, n)) / 2.0
        bits = self._rng.random((2, n)) < 0.5
        values = {"x": numbers[0], "y": numbers[1], "p": bits[0], "q": bits[1]}
        return Trace(np.arange(float(n)), values, EVENTS_S)

    def pick(self, *choices):
        return choices[self._rng.integers(len(choices))]

    def atom(self) -> Drawn:
        if not self._has_arithmetic:
            return Drawn(self.pick("x < 1", "x >= 0.25", "x > 2", "x <= 1.5", "p"), "")
        relation, limit = self.pick("<", "<=", ">", ">="), int(self._rng.integers(-4, 5)) / 4
        if self._rng.random() < 0.3:
            name = self.pick("p", "q")
            return Drawn(name, f"({name} >= 0)")
        left = self.pick("x", "y", "abs(x)", "(x + y)", "(x - 2.0 * y)", "abs(x - y)")
        right = self.pick(f"{limit}", "y", "x", f"({limit} - x)")
        text = f"{left} {relation} {right}" if limit >= 0 else f"{left} {relation} x + y"
        peer = f"({left} {relation} {right})" if limit >= 0 else f"({left} {relation} (x + y))"
        return Drawn(text, peer)

    def formula(self, depth: int) -> Drawn:
        if depth == 0:
            return self.atom()
        a, b = self.formula(depth - 1), self.formula(depth - 1)
        seconds = int(self._rng.integers(1, self._n))
        return self.pick(
            Drawn(f"({a.text}) and ({b.text})", f"({a.peer} and {b.peer})"),
            Drawn(f"({a.text}) or ({b.text})", f"({a.peer} or {b.peer})"),
            Drawn(f"({a.text}) implies ({b.text})", f"({a.peer} implies {b.peer})"),
            Drawn(f"not ({a.text})", f"(not {a.peer})"),
            Drawn(f"always ({a.text})", f"(always {a.peer})"),
            Drawn(f"never ({a.text})", f"(always (not {a.peer}))"),
            Drawn(f"eventually ({a.text})", f"(eventually {a.peer})"),
            Drawn(f"({a.text}) within {seconds} s", f"(eventually[0:{seconds}] {a.peer})"),
            Drawn(
                f"({a.text}) for {seconds} s",
                f"((always[0:{seconds}] {a.peer}) and (room_{seconds} >= 0))",
            ),
            Drawn(
                f"({a.text}) until ({b.text})",
                f"(({a.peer} until {b.peer}) and (not {b.peer}))",
            ),
        )

    def expectation(self, depth: int) -> Drawn:
        """Return a formula that says when, some over spans, for the first sample."""
        a, b, end = self.formula(depth), self.formula(depth), self._n - 1
        return self.pick(
            Drawn(f"always ({a.text})", f"(always {a.peer})"),
            Drawn(
                f"({a.text}) until ({b.text})", f"(({a.peer} until {b.peer}) and (not {b.peer}))"
            ),
            Drawn(f"always ({a.text}) after e", f"(always[3:{end}] {a.peer})"),
            Drawn(f"never ({a.text}) before f", f"(always[0:5] (not {a.peer}))"),
            Drawn(f"eventually ({a.text}) from 2 s to 2 s after f", f"(eventually[2:8] {a.peer})"),
            Drawn(f"({a.text}) within 3 s of e", f"(eventually[3:6] {a.peer})"),
            Drawn(f"never ({a.text}) within 2 s of f", f"(not (eventually[6:8] {a.peer}))"),
            Drawn(f"({a.text}) at end", f"(always[{end}:{end}] {a.peer})"),
            Drawn(f"({a.text}) at 1 s after e", f"(always[4:4] {a.peer})"),
            Drawn(
                f"always ({a.text}) after 2 s until ({b.text})",
                f"(always[2:2] (({a.peer} until {b.peer}) and (not {b.peer})))",
            ),
        )


@pytest.fixture(scope="session")
def random_formulas():
    return RandomFormulas


@pytest.fixture(scope="session")
def drawn_signals():
    """The signals of `RandomFormulas`."""
    kinds = {"x": "number", "y": "number", "p": "boolean", "q": "boolean"}
    return {name: Signal(name, kind, "", "") for name, kind in kinds.items()}
