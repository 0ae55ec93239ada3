# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Conditions watched while a run lasts: of the present and the past alone."""

from collections.abc import Mapping
from functools import reduce

from aerotwin_temporal_logic import formula as f
from aerotwin_temporal_logic.robustness import ROUNDING_S

Value = float | bool | str
_NUMBERS = (f.Constant, f.SignalValue, f.Operation)
_NOW = (*_NUMBERS, f.Compare, f.Is, f.Holds, f.Happened, f.Not, f.And, f.Or)


class Trigger:
    """Says when a condition holds for the first time.

    Comparisons, words, booleans, events, `and`, `or`, `not`, `implies` and `N s after EVENT` are of
    the present; `for N s` has held for the last N seconds.

    Raises
    ------
    FormulaError
        If the condition needs the future, as `always`, `eventually`, `until`, `within` do.
    """

    def __init__(self, formula: f.Formula) -> None:
        self.formula = formula
        for part in formula.root.parts():
            is_held = isinstance(part, f.Always) and part.is_whole
            if not (is_held or isinstance(part, _NOW)):
                raise f.FormulaError(
                    f"'{formula.text}' needs the future of the run; a condition at which something "
                    "happens is of the present: comparisons, and, or, not, for N s, N s after EVENT"
                )
        self._instants_s: dict[str, float] = {}
        self._since_s: dict[f.FormulaNode, float] = {}

    def event_happened(self, name: str, time_s: float) -> None:
        """Note the first instant of an event."""
        self._instants_s.setdefault(name, time_s)

    def update(self, time_s: float, values: Mapping[str, Value]) -> bool:
        """Return whether the condition holds now; call it at every sample, in order.

        `values` has the signals of the formula; NaN is not known, and meets no comparison.
        """
        return self._holds(self.formula.root, time_s, values)

    def _holds(self, node: f.FormulaNode, time_s: float, values: Mapping[str, Value]) -> bool:
        match node:
            case f.Compare(operator, left, right):
                a, b = _number(left, values), _number(right, values)
                return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]
            case f.Is(signal, word):
                return values[signal.name] == word
            case f.Holds(signal):
                return bool(values[signal.name])
            case f.Happened(event, delay_s):
                since_s = self._instants_s.get(event)
                return since_s is not None and time_s >= since_s + delay_s - ROUNDING_S
            case f.Not(inner):
                return not self._holds(inner, time_s, values)
            case f.And(left, right):
                found = self._holds(left, time_s, values), self._holds(right, time_s, values)
                return all(found)  # both have a memory
            case f.Or(left, right):
                found = self._holds(left, time_s, values), self._holds(right, time_s, values)
                return any(found)
            case f.Always(inner, _, to_s):
                if not self._holds(inner, time_s, values):
                    self._since_s.pop(node, None)
                    return False
                return time_s >= self._since_s.setdefault(node, time_s) + to_s - ROUNDING_S
        raise TypeError(f"{type(node).__name__} is no condition of the present")


def _number(node: f.FormulaNode, values: Mapping[str, Value]) -> float:
    match node:
        case f.Constant(value):
            return value
        case f.SignalValue(signal):
            return float(values[signal.name])
        case f.Operation(name, operands):
            numbers = [_number(operand, values) for operand in operands]
            if name == "/":
                return numbers[0] / numbers[1] if numbers[1] else float("nan")
            if name in ("neg", "abs"):
                return -numbers[0] if name == "neg" else abs(numbers[0])
            if name in ("min", "max"):
                return float({"min": min, "max": max}[name](numbers))
            return reduce({"+": float.__add__, "-": float.__sub__, "*": float.__mul__}[name],
                          numbers)  # fmt: skip
    raise TypeError(f"{type(node).__name__} is no number")
