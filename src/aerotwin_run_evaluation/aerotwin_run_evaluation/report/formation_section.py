# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Section on a formation: its errors by estimates and by truth, separation, its patterns."""

from dataclasses import asdict
from typing import Any

import numpy as np

from aerotwin_core import plots
from aerotwin_core.charts import chart
from aerotwin_core.metric import Metric, MetricSet, score_table
from aerotwin_core.section import Figure, Headline, Section
from aerotwin_formation import FormationErrors, FormationPlan
from aerotwin_formation.plan import LANDING
from aerotwin_formation.record import FormationRecord
from aerotwin_run_evaluation.report.formation_record import FlownFormation

MAX_LAG_M, MAX_FORMATION_M = 0.1, 0.15
"""Of estimates: what control may leave at 1 m/s."""
ROOM_FOR_NAMES = 1.15
_RMS = "root mean square over followers and times in formation, "
_ESTIMATED = "by the autopilots' estimates, what control leaves: "
_TRUE = "by truth, with the errors of all estimates: "
FORMATION_METRICS = MetricSet(
    title="Formation",
    structure={},
    metrics=(
        Metric("estimated.lag_m", "lag, estimated", _RMS + _ESTIMATED + "behind the place along "
               "the leader's velocity", unit="m", better="lower"),
        Metric("estimated.formation_m", "formation error, estimated", _RMS + _ESTIMATED + "from "
               "the shape, free of a shift of all", unit="m", better="lower"),
        Metric("estimated.place_m", "place error, estimated", _RMS + _ESTIMATED + "from the place "
               "relative to the leader", unit="m", better="lower"),
        Metric("true.lag_m", "lag, true", _RMS + _TRUE + "behind the place", unit="m",
               better="lower"),
        Metric("true.formation_m", "formation error, true", _RMS + _TRUE + "from the shape",
               unit="m", better="lower"),
        Metric("true.place_m", "place error, true", _RMS + _TRUE + "from the place", unit="m",
               better="lower"),
        Metric("closest_m", "closest two vehicles, E", "E of the two that came closest by truth, "
               "heights divided by the downwash ratio", unit="m", better="higher"),
    ),
)  # fmt: skip
"""Of the section `formation`."""


def formation_section(flown: FlownFormation) -> Section:
    """Return the section about a formation's flight."""
    separation = flown.separation
    numbers = {
        "estimated": _errors(flown.estimate.formation_errors()),
        "true": _errors(flown.truth.formation_errors()),
        "in_transition": {
            "estimated": _errors(flown.estimate.formation_errors(in_transition=True)),
            "true": _errors(flown.truth.formation_errors(in_transition=True)),
        },
        "closest_m": float(flown.truth.closest_m.min()),
        "twice_radius_m": 2.0 * separation.radius_m,
        "n_vehicles": len(flown.vehicles),
        "patterns": [plan.pattern for plan in flown.plans],
    }
    return Section(
        title="Formation",
        name="formation",
        text=(
            "Each vehicle knew of the others what it received. Errors are against the places of "
            "the leader's plan, while nothing changes: once by the estimates of all autopilots, "
            "which is what the formation controls, once by truth, which adds what their sensors "
            "leave. E is the distance with heights divided by "
            f"{separation.downwash_ratio:g}; vehicles of radius R = {separation.radius_m:g} m "
            "stay more than 2R apart."
        ),
        headline=_headline(numbers),
        figures=(
            _error_figure(flown),
            _separation_figure(flown),
            *(_pattern_figure(flown, k) for k in range(len(flown.plans))),
        ),
        tables=(score_table("Errors in formation", FORMATION_METRICS.scores(numbers)),),
        metrics=numbers,
        schema=FORMATION_METRICS.schema(),
    )


def _errors(errors: FormationErrors) -> dict[str, float]:
    return asdict(errors)


def _headline(numbers: dict[str, Any]) -> tuple[Headline, ...]:
    found = numbers["estimated"]
    closest, least = numbers["closest_m"], numbers["twice_radius_m"]
    rows = (
        ("Lag", found["lag_m"], "m RMS", "by estimates, along the leader's velocity", MAX_LAG_M),
        ("Out of shape", found["formation_m"], "m RMS", "by estimates", MAX_FORMATION_M),
    )
    tiles = [
        Headline(
            label=label,
            value=f"{value:.3f}",
            unit=unit,
            meaning=meaning,
            status="good" if value <= limit else "warn",
            better="lower",
        )
        for label, value, unit, meaning, limit in rows
    ]
    closest_tile = Headline(
        label="Closest two, E",
        value=f"{closest:.2f}",
        unit="m",
        meaning=f"heights count for downwash, by truth; 2R is {least:.2f} m",
        status="good" if closest > least else "bad",
        better="higher",
    )
    return (*tiles, closest_tile)


def _shape_errors(record: FormationRecord) -> np.ndarray:
    """Return the formation error of the vehicle farthest out of shape at each time (t,) [m]."""
    errors = record.errors
    shape = errors - errors.mean(axis=1, keepdims=True)
    return np.linalg.norm(shape, axis=2).max(axis=1)


def _error_figure(flown: FlownFormation) -> Figure:
    def draw(axes) -> None:
        for record, label, colour in (
            (flown.truth, "true", plots.TRUTH),
            (flown.estimate, "estimated", plots.ESTIMATE),
        ):
            axes.plot(record.times_s, _shape_errors(record), color=colour, label=label, lw=1.1)
        _mark_plans(axes, flown)
        axes.set(xlabel="simulated time [s]", ylabel="farthest out of shape [m]")
        axes.set_ylim(0.0, ROOM_FOR_NAMES * axes.get_ylim()[1])
        axes.figure.legend(loc="outside upper left", ncols=3)

    return Figure(
        title="Formation error over time",
        caption="Of the vehicle that is farthest out of shape; grey are transitions.",
        svg=chart("formation-error", draw, width_in=plots.WIDE_IN, height_in=4.0),
        is_wide=True,
    )


def _separation_figure(flown: FlownFormation) -> Figure:
    record, least = flown.truth, 2.0 * flown.separation.radius_m

    def draw(axes) -> None:
        axes.plot(record.times_s, record.closest_m, color=plots.ESTIMATE, lw=1.2, label="closest")
        axes.axhline(least, color=plots.BAD, lw=1.0, ls="--", label="2R")
        _mark_plans(axes, flown)
        axes.set(xlabel="simulated time [s]", ylabel="E of the closest two [m]")
        axes.set_ylim(0.0, ROOM_FOR_NAMES * axes.get_ylim()[1])
        axes.figure.legend(loc="outside upper left", ncols=2)

    return Figure(
        title="Closest two vehicles over time",
        caption="By truth; grey are transitions.",
        svg=chart("formation-closest", draw, width_in=plots.WIDE_IN, height_in=3.4),
        is_wide=True,
    )


def _mark_plans(axes, flown: FlownFormation) -> None:
    for plan in flown.plans:
        begin, end = plan.start_ns * 1e-9, plan.end_ns * 1e-9
        axes.axvspan(begin, end, color="0.5", alpha=0.2, lw=0)
        axes.text(
            end, 0.97, f" {plan.pattern}", va="top", transform=axes.get_xaxis_transform(), size=9
        )


def _instant(flown: FlownFormation, k: int) -> int:
    """Return the index of the middle of the time in a pattern."""
    plan = flown.plans[k]
    times = flown.truth.times_s
    last = flown.plans[k + 1].start_ns * 1e-9 if k + 1 < len(flown.plans) else times[-1]
    if plan.pattern == LANDING:
        last = plan.end_ns * 1e-9
    middle = 0.5 * (plan.end_ns * 1e-9 + last)
    return int(np.clip(np.searchsorted(times, middle), 0, len(times) - 1))


def _pattern_figure(flown: FlownFormation, k: int) -> Figure:
    plan, i = flown.plans[k], _instant(flown, k)
    there = flown.truth.positions[i] - flown.truth.positions[i, 0]

    def draw(axes) -> None:
        figure = axes.figure
        axes.remove()
        for panel, (y, ylabel) in enumerate(((1, "north [m]"), (2, "up [m]"))):
            view = figure.add_subplot(1, 2, panel + 1)
            _draw_view(view, plan, there, y)
            view.set(xlabel="east of the leader [m]", ylabel=ylabel)

    return Figure(
        title=f"{plan.pattern.capitalize()}, t = {flown.truth.times_s[i]:.1f} s",
        caption=(
            "From above and from the south: rings are the places, dots the vehicles by truth, "
            "relative to the leader, the star."
        ),
        svg=chart(f"formation-pattern-{k}", draw, width_in=plots.WIDE_IN, height_in=4.2),
        is_wide=True,
    )


def _draw_view(axes, plan: FormationPlan, there: np.ndarray, y: int) -> None:
    """Draw places and vehicles against east and one other axis."""
    goals = plan.goals
    axes.plot(goals[1:, 0], goals[1:, y], "o", mfc="none", color=plots.TRUTH, ms=11)
    axes.plot(there[1:, 0], there[1:, y], "o", color=plots.ESTIMATE, ms=5)
    axes.plot(0.0, 0.0, "*", color=plots.ACCENT, ms=12)
    reach_m = float(max(np.abs(goals).max(), np.abs(there).max())) + 1.0
    axes.set_aspect("equal", adjustable="box")
    axes.set(xlim=(-reach_m, reach_m), ylim=(-reach_m, reach_m))
