# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A condition that is watched while a run goes on."""

from collections.abc import Mapping

import numpy as np

from aerotwin_temporal_logic.formula import Formula
from aerotwin_temporal_logic.nodes import (
    AllOf,
    Always,
    AnyOf,
    AtInstant,
    Eventually,
    FormulaNode,
    HasHappened,
    Instant,
    Lasting,
    Not,
    OnlyAfter,
    Until,
    Within,
)  # fmt: skip
from aerotwin_temporal_logic.robustness import atom_rows
from aerotwin_temporal_logic.trace import SAME_INSTANT_S

_ABOUT_THE_FUTURE = Always | Eventually | Until | Within | AtInstant
_WAY_OUT = (
    "a trigger knows only what has been: write the condition alone, or with 'for D s' or 'after "
    "EVENT'"
)


class Trigger:
    """True from the first instant at which a condition has held.

    The condition is made of comparisons, booleans, texts and events with and, or, not, implies;
    `F for D s` says that F has held for the last D s, `F after EVENT` that F holds and the event
    has happened, `D s after EVENT` that so much time has passed since. Seconds without an event
    count from the first update. A NaN never speaks for the condition.

    Raises `FormulaError` if the formula speaks of the future: always, never, eventually, until,
    within, at.
    """

    def __init__(self, formula: Formula) -> None:
        for node in formula.root.walk():
            if isinstance(node, _ABOUT_THE_FUTURE):
                raise formula.error(f"'{node.text}' needs the future; {_WAY_OUT}", node)
            instant = getattr(node, "instant", None)
            if instant and instant.base == "end":
                raise formula.error(f"the end of the run is in the future; {_WAY_OUT}", node)
        self.formula = formula
        self._happened_s: dict[str, float] = {}
        self._since_s: dict[int, float] = {}
        """From when on the body of a `for`, by its id, has held."""
        self._last_s = -np.inf
        self._has_held = False

    def event_happened(self, name: str, time_s: float) -> None:
        """Note that an event happened; of one that happens again, the first time counts."""
        if name in self.formula.events:
            self._happened_s.setdefault(name, time_s)

    def update(self, time_s: float, values: Mapping[str, float | bool | str]) -> bool:
        """Return whether the condition has held by an instant, from the values at that instant.

        Parameters
        ----------
        time_s : float
            The instant [s], later than that of the update before.
        values : mapping of str to float, bool or str
            At least the signals of the formula.

        Raises
        ------
        ValueError
            If time does not increase, or a signal is missing or of another kind.
        """
        if not time_s > self._last_s:
            raise ValueError(f"time_s must be later than {self._last_s}, got {time_s}")
        self._happened_s.setdefault("start", time_s)
        self._last_s = time_s
        self._has_held = self._has_held or self._is_true(self.formula.root, values, -np.inf)
        return self._has_held

    def _is_true(
        self, node: FormulaNode, values: Mapping[str, float | bool | str], unknown: float
    ) -> bool:
        match node:
            case Not(body=body):
                return not self._is_true(body, values, -unknown)
            case AllOf(parts=parts) | AnyOf(parts=parts):
                # All of them, always: a `for` among them must see each instant.
                truths = [self._is_true(part, values, unknown) for part in parts]
                return all(truths) if isinstance(node, AllOf) else any(truths)
            case OnlyAfter(body=body, instant=instant):
                return self._is_true(body, values, unknown) and self._has_come(instant)
            case Lasting(body=body, duration_s=duration_s):
                if not self._is_true(body, values, unknown):
                    self._since_s.pop(id(node), None)
                    return False
                since_s = self._since_s.setdefault(id(node), self._last_s)
                return self._last_s - since_s >= duration_s - SAME_INSTANT_S
            case HasHappened(instant=instant):
                return self._has_come(instant)
        return bool(atom_rows(node, values, None, unknown)[1] > 0.0)

    def _has_come(self, instant: Instant) -> bool:
        happened_s = self._happened_s.get(instant.base)
        if happened_s is None:
            return False
        return self._last_s >= happened_s + instant.offset_s - SAME_INSTANT_S
