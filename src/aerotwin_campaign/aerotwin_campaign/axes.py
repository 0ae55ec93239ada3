# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An axis of a campaign: the values that one place of the document takes.

An axis turns a number u of [0, 1) into its value, by the inverse of its distribution function; a
list is the uniform distribution over its entries. Sampling plans thus know nothing of axes, and
axes nothing of sampling.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import listed, shown

Plain = None | bool | int | float | str | list[Any] | dict[str, Any]
MOST_VALUES = 1_000_000
"""Of one axis with listed values."""
_SMALLEST_U = 2.0**-53
"""A sequence may hold 0, at which a normal distribution is -infinity."""
_STEP_ROUNDING = 1e-9
"""Share of a step by which the last value may be beyond the end of a range."""


@dataclass(frozen=True, kw_only=True)
class ListedAxis:
    """Values in an order: each has the same probability."""

    values: tuple[Plain, ...]

    def __len__(self) -> int:
        return len(self.values)

    def value(self, u: float) -> Plain:
        """Return the value at u in [0, 1)."""
        return self.values[min(int(u * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True, kw_only=True)
class NormalAxis:
    """A normal distribution."""

    mean: float
    std: float

    def value(self, u: float) -> float:
        """Return the quantile at u in [0, 1), which is finite at 0, too."""
        from scipy.special import ndtri  # the help of a command does not wait for SciPy

        inside = min(max(u, _SMALLEST_U), 1.0 - _SMALLEST_U)
        return self.mean + self.std * float(ndtri(inside))


@dataclass(frozen=True, kw_only=True)
class UniformAxis:
    """All numbers between two limits."""

    low: float
    high: float

    def value(self, u: float) -> float:
        """Return the quantile at u in [0, 1)."""
        return min(self.low + u * (self.high - self.low), self.high)


@dataclass(frozen=True, kw_only=True)
class LogUniformAxis:
    """Numbers between two positive limits whose logarithm is uniform."""

    low: float
    high: float

    def value(self, u: float) -> float:
        """Return the quantile at u in [0, 1)."""
        found = self.low * math.exp(u * math.log(self.high / self.low))
        return min(max(found, self.low), self.high)


@dataclass(frozen=True, kw_only=True)
class IntegersAxis:
    """Whole numbers between two limits, which are included."""

    low: int
    high: int

    def value(self, u: float) -> int:
        """Return the quantile at u in [0, 1)."""
        return min(self.low + int(u * (self.high - self.low + 1)), self.high)


Axis = ListedAxis | NormalAxis | UniformAxis | LogUniformAxis | IntegersAxis


def read_axis(value: Any, place: str) -> Axis:
    """Return the axis of an entry of a campaign file.

    An entry is a list; `{from, to, steps}` or `{from, to, step}`; or a distribution: `{normal:
    {mean, std}}`, `{uniform: {from, to}}`, `{log_uniform: {from, to}}`, `{integers: {from, to}}`,
    `{choice: [...]}`. `place` begins the messages.

    Raises `ParameterError` if it is none of them, or its numbers make no axis.
    """
    if isinstance(value, list):
        return _listed(value, place)
    if isinstance(value, Mapping) and "from" in value:
        return _range(value, place)
    if isinstance(value, Mapping) and len(value) == 1:
        (kind,) = value
        if kind == "choice":
            return _listed(value[kind], f"{place}.choice")
        if kind in _DISTRIBUTIONS:
            return _DISTRIBUTIONS[kind](value[kind], f"{place}.{kind}")
    raise ParameterError(
        f"{place}: expected a list, {{from, to, steps}}, {{from, to, step}} or one distribution of "
        f"{listed([*_DISTRIBUTIONS, 'choice'])}, found {shown(value)}"
    )


def _listed(value: Any, place: str) -> ListedAxis:
    if not isinstance(value, list) or not value:
        raise ParameterError(f"{place}: expected a list of values, found {shown(value)}")
    check_plain(value, place)
    seen: set[tuple[type, str]] = set()
    for number, each in enumerate(value):
        kind = type(each), repr(each)
        if kind in seen:
            raise ParameterError(f"{place}[{number}]: {shown(each)} is there twice; remove one")
        seen.add(kind)
    return ListedAxis(values=tuple(value))


def _range(value: Mapping[str, Any], place: str) -> ListedAxis:
    second = "step" if "step" in value else "steps"
    low, high, by = _numbers(value, ("from", "to", second), place)
    if second == "steps":
        if by != int(by) or not 1 <= by <= MOST_VALUES or (by == 1 and low != high):
            raise ParameterError(
                f"{place}.steps: expected a number of values, 2 to {MOST_VALUES}, found {by:g}"
            )
        return ListedAxis(values=tuple(np.linspace(low, high, int(by)).tolist()))
    if by == 0.0 or (high - low) / by < 0.0:
        raise ParameterError(f"{place}.step: {by:g} does not lead from {low:g} to {high:g}")
    n_steps = (high - low) / by + _STEP_ROUNDING
    if n_steps >= MOST_VALUES:
        raise ParameterError(f"{place}.step: {by:g} makes more than {MOST_VALUES} values")
    is_whole = all(isinstance(value[name], int) for name in ("from", "step"))
    numbers = (low + k * by for k in range(int(n_steps) + 1))
    return ListedAxis(values=tuple(int(x) if is_whole else x for x in numbers))


def _normal(value: Any, place: str) -> NormalAxis:
    mean, std = _numbers(value, ("mean", "std"), place)
    if std <= 0.0:
        raise ParameterError(f"{place}.std: expected more than 0, found {std:g}")
    return NormalAxis(mean=mean, std=std)


def _uniform(value: Any, place: str) -> UniformAxis:
    low, high = _ordered(value, place)
    return UniformAxis(low=low, high=high)


def _log_uniform(value: Any, place: str) -> LogUniformAxis:
    low, high = _ordered(value, place)
    if low <= 0.0:
        raise ParameterError(f"{place}.from: expected more than 0, found {low:g}")
    return LogUniformAxis(low=low, high=high)


def _integers(value: Any, place: str) -> IntegersAxis:
    low, high = _ordered(value, place)
    if low != int(low) or high != int(high) or max(abs(low), abs(high)) > 2**53:
        raise ParameterError(f"{place}: expected whole numbers, found {low:g} and {high:g}")
    return IntegersAxis(low=int(low), high=int(high))


_DISTRIBUTIONS: dict[str, Callable[[Any, str], Axis]] = {
    "normal": _normal,
    "uniform": _uniform,
    "log_uniform": _log_uniform,
    "integers": _integers,
}


def _ordered(value: Any, place: str) -> tuple[float, float]:
    low, high = _numbers(value, ("from", "to"), place)
    if not low < high:
        raise ParameterError(f"{place}: 'from' must be less than 'to', found {low:g} and {high:g}")
    return low, high


def _numbers(value: Any, names: Sequence[str], place: str) -> tuple[float, ...]:
    """Return the numbers of a mapping that has these names and no others."""
    if not isinstance(value, Mapping) or set(value) != set(names):
        raise ParameterError(f"{place}: expected {{{', '.join(names)}}}, found {shown(value)}")
    for name in names:
        number = value[name]
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not is_number or not math.isfinite(number) or abs(number) > 1e300:
            raise ParameterError(f"{place}.{name}: expected a number, found {shown(number)}")
    return tuple(float(value[name]) for name in names)


def check_plain(value: Any, place: str) -> None:
    """Refuse what JSON does not have: dates, infinite numbers, keys that are no text.

    Raises `ParameterError` with the path of the value below `place`.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise ParameterError(
                    f"{place}: expected texts as keys, found {shown(key)}; put it in quotes"
                )
            check_plain(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            check_plain(inner, f"{place}.{number}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"{place}: expected a finite number, found {value}")
    elif value is not None and not isinstance(value, bool | int | float | str):
        raise ParameterError(
            f"{place}: expected a number, text, list or mapping, found {shown(value)}; "
            "put a date or time in quotes"
        )
