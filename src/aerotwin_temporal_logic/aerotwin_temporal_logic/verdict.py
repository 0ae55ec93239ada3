# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a recorded run meets an expectation, by how much, and what decided it."""

from dataclasses import dataclass

import numpy as np

from aerotwin_temporal_logic import formula as f
from aerotwin_temporal_logic.robustness import (
    ROUNDING_S,
    Evaluation,
    EventNeverCame,
    Robustness,
    Trace,
)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on an expectation.

    Attributes
    ----------
    text : str
        The expectation.
    is_met : bool
        Whether the run meets it.
    robustness : float
        How far the deciding sample is from the limit: positive when met; plus or minus infinity
        where only words and booleans decide; NaN if nothing is known.
    unit : str
        Of the robustness, if all comparisons share one.
    at_s : float or None
        The instant that decided.
    time_margin_s : float or None
        Of an expectation with a deadline that is met: how much earlier it was.
    reason : str
        One sentence with the numbers.
    """

    text: str
    is_met: bool
    robustness: float
    unit: str = ""
    at_s: float | None = None
    time_margin_s: float | None = None
    reason: str = ""


def judge(formula: f.Formula, trace: Trace) -> Verdict:
    """Return the verdict on a run, which has at least one sample.

    Raises
    ------
    ValueError
        If the trace has no sample, or lacks a signal of the formula.
    """
    if len(trace.times_s) == 0:
        raise ValueError("a trace must have samples, got none")
    missing = sorted(formula.signals - trace.values.keys())
    if missing:
        raise ValueError(f"the trace must have the signals of the formula, {missing} are missing")
    evaluation = Evaluation(trace)
    try:
        found = evaluation.robustness(formula.root)
    except EventNeverCame as event:
        return Verdict(
            text=formula.text, is_met=False, robustness=np.nan, unit=formula.unit,
            reason=f"{event} never happened",
        )  # fmt: skip
    value, is_met = float(found.value[0]), bool(found.is_met[0])
    if np.isnan(value):
        return Verdict(
            text=formula.text, is_met=False, robustness=value, unit=formula.unit,
            reason="nothing of it is known in this run",
        )  # fmt: skip
    whole_s = _period_end_s(formula.root, trace)
    if is_met and whole_s > trace.times_s[-1] + ROUNDING_S:
        return Verdict(
            text=formula.text, is_met=False, robustness=np.nan, unit=formula.unit,
            reason=f"the run ended at {trace.times_s[-1]:.2f} s, before {whole_s:.2f} s",
        )  # fmt: skip
    at_s = float(trace.times_s[found.sample[0]])
    return Verdict(
        text=formula.text,
        is_met=is_met,
        robustness=value,
        unit=formula.unit,
        at_s=at_s,
        time_margin_s=_time_margin_s(formula.root, trace) if is_met else None,
        reason=_reason(evaluation, found, trace),
    )


def _reason(evaluation: Evaluation, found: Robustness, trace: Trace) -> str:
    """Say what the deciding condition was at the deciding sample."""
    leaf, k = evaluation.leaves[int(found.leaf[0])], int(found.sample[0])
    when = f"at {trace.times_s[k]:.2f} s"
    match leaf:
        case f.Compare(_, left, right, text):
            numbers = [float(evaluation.number(side)[k]) for side in (left, right)]
            sides = [f"{n:.4g}" for n, side in zip(numbers, (left, right), strict=True)
                     if not isinstance(side, f.Constant)]  # fmt: skip
            return f"{text}: {' and '.join(sides) or 'constant'} {when}"
        case f.Is(signal, _):
            return f"{signal.name} was {trace.values[signal.name][k]} {when}"
        case f.Holds(signal):
            return f"{signal.name} was {'true' if trace.values[signal.name][k] else 'false'} {when}"
        case f.Happened(event, _):
            instant_s = trace.events.get(event)
            return f"{event} " + (
                "never happened" if instant_s is None else f"happened at {instant_s:.2f} s"
            )
    raise TypeError(f"{type(leaf).__name__} is no condition")


def _time_margin_s(root: f.FormulaNode, trace: Trace) -> float | None:
    """Return how much earlier than its deadline an expectation held; None without a deadline."""
    root, begin_s = _beginning(root, trace)
    if not isinstance(root, f.Eventually) or not np.isfinite(root.to_s):
        return None
    is_met = Evaluation(trace).robustness(root.inner).is_met
    later = np.flatnonzero(is_met & (trace.times_s >= begin_s + root.from_s - 1e-9))
    return float(begin_s + root.to_s - trace.times_s[later[0]])


def _period_end_s(root: f.FormulaNode, trace: Trace) -> float:
    """Return when the period is over in which a condition must always hold; -inf without one."""
    root, begin_s = _beginning(root, trace)
    if isinstance(root, f.Always) and np.isfinite(root.to_s):
        return begin_s + root.to_s
    return -np.inf


def _beginning(root: f.FormulaNode, trace: Trace) -> tuple[f.FormulaNode, float]:
    """Return what is judged at an instant, and that: the start, or an event that came."""
    if not isinstance(root, f.After):
        return root, float(trace.times_s[0])
    instant_s = trace.events.get(root.event)
    assert instant_s is not None  # it was judged
    return root.inner, instant_s
