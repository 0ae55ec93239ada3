# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Random transitions of full vehicles in wind, and of point masses: does one predict the other?

A run flies one mission twice, by the same pilots, link, wind and seed: with multirotors and their
autopilots, and with point masses. The vehicles take off, form a random pattern, and change to
further ones while their leader flies at 1 m/s.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from aerotwin_campaign import FinishedRun, OverallFigures, RunContext
from aerotwin_core import plots
from aerotwin_core.metric import Metric, MetricSet, mapping_schema
from aerotwin_core.parameters import load_parameters
from aerotwin_core.plots import render_svg
from aerotwin_core.rms import rms_length
from aerotwin_core.section import Figure, Section
from aerotwin_core.seeds import seed_sequence
from aerotwin_core.time import to_seconds
from aerotwin_formation import FormationMission, PatternOrder, PilotParameters
from aerotwin_formation.record import FormationRecord
from aerotwin_scenarios.flights.campaign_run import claimed_instances
from aerotwin_scenarios.formation_flight import PilotedFormation, formation_in
from aerotwin_worlds import load_world
from evidence.verification.formation import SPACING_SHARE, spaced_points

HEIGHT_M, ROUTE_M = 20.0, 130.0
PERIOD_S, SETTLED_S = 11.0, 3.0
"""From one order of a pattern to the next; from the end of the last transition to the end."""
LIMIT_S = 240.0
POINT_MASS_STEP_S = 0.05
FULL, POINT_MASS = "full", "point_mass"
KEPT = "flown.npz"
"""File of a run: what `_columns` returns for each kind of vehicle, and 2R as `least_m`."""


def _metric(path: str, meaning: str, better: str = "lower") -> Metric:
    return Metric(path, meaning, meaning, unit="m", better=better, title=meaning)


METRICS = MetricSet(
    title="Formation transitions of full vehicles",
    metrics=tuple(
        metric
        for kind, who in ((FULL, "full vehicles"), (POINT_MASS, "point masses"))
        for metric in (
            _metric(f"{kind}_closest_m", f"{who}: E of the closest two, by truth", "higher"),
            _metric(f"{kind}_lag_m", f"{who}: RMS lag in formation, by estimates"),
            _metric(f"{kind}_formation_error_m", f"{who}: RMS out of shape, by estimates"),
        )
    ),
    structure=mapping_schema(),
)


def fly_transitions(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Fly the transitions of a seed with full vehicles and point masses, and keep both.

    `document`: `n_vehicles`, `n_transitions`, `formation`, parameters of `PilotParameters`, and
    `simulator`, parameters of the simulator by name.
    """
    parameters = load_parameters(PilotParameters, document["formation"], where="formation")
    flown, metrics, n_flown = {}, {}, []
    with tempfile.TemporaryDirectory() as folder:
        mission = random_mission(document, parameters, context.seed, Path(folder))
        for kind in (FULL, POINT_MASS):
            changes = {**document["simulator"], "fleet.instances": document["n_vehicles"]}
            if kind == POINT_MASS:
                changes |= {"dynamics": POINT_MASS, "step_s": POINT_MASS_STEP_S}
            formation, n_transitions = _fly(mission, parameters, changes, context, Path(folder))
            flown[kind] = _columns(formation)
            metrics |= {f"{kind}_{name}": value for name, value in _figures_of(formation).items()}
            n_flown.append(n_transitions)
    least_m = 2.0 * parameters.separation.radius_m
    np.savez_compressed(
        context.folder / KEPT, full=flown[FULL], point_mass=flown[POINT_MASS], least_m=least_m
    )
    is_done = n_flown == [document["n_transitions"]] * 2
    return {
        "metrics": metrics,
        "is_success": is_done and metrics[f"{FULL}_closest_m"] > least_m,
        "outcome": "transitions flown: {} by full vehicles, {} by point masses".format(*n_flown),
    }


def random_mission(
    document: Mapping[str, Any], parameters: PilotParameters, seed: int, folder: Path
) -> FormationMission:
    """Return a mission through random patterns, whose files are written into a folder."""
    separation = parameters.separation
    spacing_m = SPACING_SHARE * np.sqrt(2.0) * separation.required_m
    rng = seed_sequence(seed, 0, "patterns")
    orders = []
    for k in range(document["n_transitions"] + 1):
        offsets = spaced_points(rng, document["n_vehicles"], spacing_m, separation.downwash_ratio)
        file = folder / f"random_{k}.yaml"
        file.write_text(yaml.safe_dump({"name": file.stem, "offsets_m": offsets[1:].tolist()}))
        time_s = SETTLED_S + (k - 1) * PERIOD_S if k else None
        orders.append(PatternOrder(pattern=str(file), time_s=time_s))
    return FormationMission(
        waypoints_m=((0.0, 0.0, HEIGHT_M), (ROUTE_M, 0.0, HEIGHT_M)),
        patterns=tuple(orders),
        lands=False,
    )


def _fly(
    mission: FormationMission,
    parameters: PilotParameters,
    changes: dict[str, Any],
    context: RunContext,
    folder: Path,
) -> tuple[PilotedFormation, int]:
    """Fly a mission; return what was recorded, and the number of transitions."""
    n, last = changes["fleet.instances"], Path(mission.patterns[-1].pattern).stem
    with claimed_instances(n, context.place.mavlink_instance) as first:
        changes["fleet.instance"] = first
        flight = formation_in(
            load_world("meadow"), folder, n, mission, parameters,
            seed=context.seed, changes=changes,
        )  # fmt: skip
        with flight as (simulation, formation):
            end_s = LIMIT_S
            while simulation.outcome is None and to_seconds(simulation.stamp_ns) < end_s:
                formation.advance()
                plan = formation.pilots[0].plan
                if plan is not None and plan.pattern == last:
                    end_s = min(end_s, to_seconds(plan.end_ns) + SETTLED_S)
    return formation, 0 if plan is None else plan.number


def _figures_of(formation: PilotedFormation) -> dict[str, float]:
    """Return the metrics of a flight, without the kind of its vehicles."""
    errors = formation.estimates.record().formation_errors()
    return {
        "closest_m": float(formation.truth.record().closest_m.min()),
        "lag_m": errors.lag_m,
        "formation_error_m": errors.formation_m,
    }


def _columns(formation: PilotedFormation) -> np.ndarray:
    """Return (k, 3): time since the first pattern was formed, RMS out of shape, E of the closest.

    The shape is that of the plan at each time, also while it changes, by estimates; E is by truth.
    """
    truth, estimates = formation.truth.record(), formation.estimates.record()
    shape = shape_errors(estimates)
    formed = estimates.in_transition[:-1] & ~estimates.in_transition[1:]
    begin_s = estimates.times_s[1:][formed][0] if formed.any() else estimates.times_s[-1]
    closest = np.interp(estimates.times_s, truth.times_s, truth.closest_m)
    return np.column_stack([estimates.times_s - begin_s, shape, closest])


def shape_errors(record: FormationRecord) -> np.ndarray:
    """Return the formation error of a record at each time (t,): RMS over the vehicles [m]."""
    errors = record.errors
    shape = errors - errors.mean(axis=1, keepdims=True)
    return np.array([rms_length(each) for each in shape])


@dataclass(frozen=True, kw_only=True)
class FlownPair:
    """A mission as flown by full vehicles and by point masses; arrays as of `_columns`."""

    seed: int
    full: np.ndarray
    point_mass: np.ndarray
    least_m: float
    metrics: Mapping[str, Any]


def figures(runs: Sequence[FinishedRun]) -> OverallFigures:
    """Draw both results of the first seed over time, and of all seeds against each other."""
    found = []
    for run in sorted(runs, key=lambda run: run.seed):
        if (file := run.file(KEPT)).is_file():
            with np.load(file) as kept:
                pair = {FULL: kept[FULL], POINT_MASS: kept[POINT_MASS]}
                least_m = float(kept["least_m"])
            found.append(FlownPair(seed=run.seed, least_m=least_m, metrics=run.metrics, **pair))
    return OverallFigures(values={}, sections=[_section(found)] if found else [])


def _section(found: Sequence[FlownPair]) -> Section:
    drawn = Figure(
        title="Full vehicles and point masses",
        caption=f"Seed {found[0].seed} over time: out of shape by estimates, the closest two by "
        "truth. At the right each seed is a dot, on the line where both agree.",
        svg=render_svg(picture(found), "formation-pair"),
        is_wide=True,
    )
    return Section(title="Point masses predict full vehicles", name="formation", figures=(drawn,))


def picture(found: Sequence[FlownPair]) -> Any:
    """Return a figure: out of shape and closest distance, over time and of all seeds."""
    rows = (
        (1, "out of shape [m RMS]", "formation_error_m"),
        (2, "E of the closest two [m]", "closest_m"),
    )
    figure = plots.new_figure(plots.WIDE_IN, 6.4)
    with plots.style():
        axes = figure.subplots(2, 2, width_ratios=(3, 1))
        for (ax, against), (column, label, name) in zip(axes, rows, strict=True):
            _draw_over_time(ax, found[0], column)
            ax.set(xlabel="time since the first pattern [s]", ylabel=label)
            _draw_against(against, found, name)
        for ax in axes[1]:
            ax.axhline(found[0].least_m, color=plots.BAD, lw=1.0, ls="--", label="2R")
        axes[1, 0].legend(ncols=3, loc="lower right")
    return figure


def _draw_over_time(ax: Any, pair: FlownPair, column: int) -> None:
    for flown, label, colour in (
        (pair.full, "full vehicles", plots.ESTIMATE),
        (pair.point_mass, "point masses", plots.ALIGNED),
    ):
        shown = flown[flown[:, 0] >= 0.0]
        ax.plot(shown[:, 0], shown[:, column], color=colour, label=label, lw=1.1)
    ax.set_xlim(0.0, max(pair.full[-1, 0], pair.point_mass[-1, 0]))
    ax.set_ylim(bottom=0.0)


def _draw_against(ax: Any, found: Sequence[FlownPair], name: str) -> None:
    values = np.array([[p.metrics[f"{k}_{name}"] for k in (POINT_MASS, FULL)] for p in found])
    most = 1.15 * values.max()
    ax.plot((0.0, most), (0.0, most), color=plots.TRUTH, lw=1.0)
    ax.plot(*values.T, "o", color=plots.ESTIMATE, ms=5)
    ax.set(xlim=(0.0, most), ylim=(0.0, most), xlabel="point masses [m]", ylabel="full [m]")
