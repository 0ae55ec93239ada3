# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Section on a fleet: each vehicle's path and errors, and the closest approach."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core import plots
from aerotwin_core.charts import chart
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_core.trajectory import Trajectory
from aerotwin_run_evaluation.report.flight_section import PathErrors, path_errors, track_topics

MOST_NAMED = 20
"""Of a larger fleet not every vehicle has its row, its colour and its name in the chapter."""


@dataclass(frozen=True, kw_only=True)
class FleetMember:
    """One vehicle of a fleet after its flight."""

    # its namespace, what it is and how its flight ended, in words
    name: str
    kind: str  # as "multirotor iris, flown by embedded"
    outcome: str
    n_missed: int  # lockstep answers that did not arrive in time
    truth: Trajectory | None  # None when the bag does not contain it: the flight ended as it began
    errors: PathErrors | None  # along its planned path, None without one


def read_member(
    tracks: Mapping[str, Trajectory], name: str, *, kind: str, outcome: str, n_missed: int
) -> FleetMember:
    """Return a vehicle of a recorded fleet; `tracks` are those of `read_tracks`."""
    return FleetMember(
        name=name,
        kind=kind,
        outcome=outcome,
        n_missed=n_missed,
        truth=tracks.get(track_topics(name)[0]),
        errors=path_errors(tracks, name),
    )


@dataclass(frozen=True, kw_only=True)
class Approach:
    """The closest approach of a fleet: distance between centres of mass, and the two vehicles."""

    distance_m: float
    vehicles: tuple[str, str]


def closest_approach(tracks: Mapping[str, Trajectory]) -> Approach | None:
    """Return the closest approach at the stamps of all tracks, None if no two flew at once."""
    names = [name for name, track in tracks.items() if len(track) >= 2]
    if len(names) < 2:
        return None
    stamps = np.unique(np.concatenate([tracks[name].stamps_ns for name in names]))
    positions = np.full((len(stamps), len(names), 3), np.nan)
    for k, name in enumerate(names):
        track = tracks[name]
        flown = (stamps >= track.stamps_ns[0]) & (stamps <= track.stamps_ns[-1])
        positions[flown, k] = track.interpolate(stamps[flown]).p_ref_body
    closest = None
    for instant in positions:
        there = np.flatnonzero(np.isfinite(instant[:, 0]))
        if len(there) < 2:
            continue
        apart, found = cKDTree(instant[there]).query(instant[there], k=2)
        first = int(apart[:, 1].argmin())
        distance = float(apart[first, 1])
        if closest is None or distance < closest.distance_m:
            second = next(int(k) for k in found[first] if k != first)
            one, other = sorted(there[[first, second]])
            closest = Approach(distance_m=distance, vehicles=(names[one], names[other]))
    return closest


def _tracks(members: Sequence[FleetMember]) -> dict[str, Trajectory]:
    """Return the recorded tracks by vehicle."""
    return {member.name: member.truth for member in members if member.truth is not None}


def fleet_section(members: Sequence[FleetMember]) -> Section:
    """Return the section on the vehicles of a fleet."""
    tracks = _tracks(members)
    closest = closest_approach(tracks)
    metrics: dict[str, Any] = {"vehicles": {m.name: _member_metrics(m) for m in members}}
    headline = []
    if closest is not None:
        metrics["separation_min_m"] = closest.distance_m
        headline.append(
            Headline(
                label="Closest approach",
                value=f"{closest.distance_m:.2f}",
                unit="m",
                meaning=f"between the centres of mass of {' and '.join(closest.vehicles)}",
            )
        )
    return Section(
        title="The fleet",
        name="fleet",
        text=(
            "All vehicles are in one world and on one clock; each has its own start, sensors and "
            "controller."
        ),
        headline=tuple(headline),
        figures=(_plan_figure(tracks), _height_figure(tracks)) if tracks else (),
        tables=(_table(members),),
        metrics=metrics,
    )


def _member_metrics(member: FleetMember) -> dict[str, Any]:
    errors = {} if member.errors is None else member.errors.metrics()
    return {
        "kind": member.kind,
        "outcome": member.outcome,
        "steps_missed": member.n_missed,
        **errors,
    }


def _table(members: Sequence[FleetMember]) -> Table:
    rows = []
    shown = _standing_out(members)
    for member in shown:
        metrics = _member_metrics(member)
        values = [
            f"{metrics[key]['rms']:.3f}" if key in metrics else "–"
            for key in ("cross_track_m", "control_error_m", "estimation_error_m")
        ]
        row = member.name, member.kind, _presence(member), member.outcome
        rows.append((*row, *values, str(member.n_missed)))
    caption = (
        "When it was in the world, in simulated seconds. Errors along the path, RMS in metres; "
        "missed are lockstep answers."
    )
    if len(shown) < len(members):
        caption += (
            f" These {len(shown)} of {len(members)} vehicles stand out most by outcome, missed "
            "answers and cross-track; metrics.json lists all."
        )
    return Table(
        title="Vehicles",
        columns=(
            *("vehicle", "kind", "there [s]", "outcome"),
            *("cross-track", "control", "estimation", "missed"),
        ),
        rows=tuple(rows),
        caption=caption,
    )


def _presence(member: FleetMember) -> str:
    """Return from when to when a vehicle was in the world."""
    if member.truth is None:
        return "–"
    begin_s, end_s = member.truth.stamps_ns[[0, -1]] * 1e-9
    return f"{begin_s:.1f} – {end_s:.1f}"


def _standing_out(members: Sequence[FleetMember]) -> Sequence[FleetMember]:
    """Return all of a small fleet; of a large one those that a reader looks for first."""
    if len(members) <= MOST_NAMED:
        return members
    usual = Counter(member.outcome for member in members).most_common(1)[0][0]

    def rank(member: FleetMember) -> tuple[bool, int, float]:
        errors = _member_metrics(member).get("cross_track_m", {"rms": 0.0})
        return member.outcome == usual, -member.n_missed, -errors["rms"]

    return sorted(members, key=rank)[:MOST_NAMED]


def _plan_figure(tracks: Mapping[str, Trajectory]) -> Figure:
    def draw(axes) -> None:
        _draw_lines(axes, {name: track.p_ref_body[:, :2] for name, track in tracks.items()})
        starts = np.array([track.p_ref_body[0, :2] for track in tracks.values()])[::-1]
        is_small, colours = _are_named(tracks), _colours(tracks)[::-1]
        area = 16.0 if is_small else 6.0
        axes.scatter(*starts.T, s=area, c=colours, zorder=3, rasterized=not is_small)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set(xlabel="east [m]", ylabel="north [m]")

    return Figure(
        title="Where they flew",
        caption="True tracks from above; dots are the starts.",
        svg=chart("fleet-plan", draw, height_in=4.2),
    )


def _height_figure(tracks: Mapping[str, Trajectory]) -> Figure:
    def draw(axes) -> None:
        lines = {
            name: np.column_stack([track.stamps_ns * 1e-9, track.p_ref_body[:, 2]])
            for name, track in tracks.items()
        }
        _draw_lines(axes, lines)
        axes.set(xlabel="simulated time [s]", ylabel="height in map [m]")

    return Figure(
        title="Heights over time",
        caption="Take-off, flight and landing of each vehicle.",
        svg=chart("fleet-height", draw, height_in=4.2),
    )


def _draw_lines(axes, lines: Mapping[str, np.ndarray]) -> None:
    """Draw a line (n, 2) of each vehicle: each with its name and colour, or the first before all.

    Those of many are one picture, whose size does not grow with them.
    """
    are_named, colours = _are_named(lines), _colours(lines)
    for k, (name, line) in reversed(list(enumerate(lines.items()))):
        is_marked = are_named or k == 0
        axes.plot(
            *line.T,
            color=colours[k],
            label=name if is_marked else f"the other {len(lines) - 1}" if k == 1 else None,
            lw=1.3 if is_marked else 1.0,
            alpha=1.0 if is_marked else 0.5,
            rasterized=not is_marked,
        )
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.legend(handles[::-1], labels[::-1], loc="outside upper left", ncols=5)


def _are_named(vehicles: Collection[str]) -> bool:
    return len(vehicles) <= MOST_NAMED


def _colours(vehicles: Collection[str]) -> list[str]:
    """Return a colour of each vehicle; of many one for the first and one for the others."""
    if _are_named(vehicles):
        return plots.colours(len(vehicles))
    return [plots.ESTIMATE, *[plots.ALIGNED] * (len(vehicles) - 1)]
