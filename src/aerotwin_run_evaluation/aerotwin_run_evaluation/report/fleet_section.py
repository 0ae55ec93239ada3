# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Section on a fleet: each vehicle's path and errors, and the separations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from aerotwin_core import plots
from aerotwin_core.bag import BagReader
from aerotwin_core.charts import chart
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_core.trajectory import Trajectory
from aerotwin_run_evaluation.report.flight_section import PathErrors, path_errors


@dataclass(frozen=True, kw_only=True)
class FleetMember:
    """One vehicle of a fleet after its flight."""

    # its namespace, and how its flight ended, in one line
    name: str
    outcome: str
    n_missed: int  # lockstep answers that did not arrive in time
    truth: Trajectory | None  # None when the bag does not contain it: the flight ended as it began
    errors: PathErrors | None  # along its planned path, None without one


def read_member(bag: BagReader, name: str, *, outcome: str, n_missed: int) -> FleetMember:
    """Return a vehicle of a recorded fleet."""
    topic = f"/{name}/truth/odom"
    has_truth = bag.counts.get(topic, 0) >= 2
    return FleetMember(
        name=name,
        outcome=outcome,
        n_missed=n_missed,
        truth=bag.trajectory(topic) if has_truth else None,
        errors=path_errors(bag, name) if has_truth else None,
    )


def separations(members: Sequence[FleetMember]) -> dict[tuple[str, str], np.ndarray]:
    """Return each pair's distance [m] between centres of mass, at the first vehicle's stamps."""
    found = {}
    for (name, one), (other_name, other) in combinations(_tracks(members).items(), 2):
        begin = max(one.stamps_ns[0], other.stamps_ns[0])
        end = min(one.stamps_ns[-1], other.stamps_ns[-1])
        inside = (one.stamps_ns >= begin) & (one.stamps_ns <= end)
        if inside.any():
            there = other.interpolate(one.stamps_ns[inside]).p_ref_body
            apart = np.linalg.norm(one.p_ref_body[inside] - there, axis=1)
            found[name, other_name] = apart
    return found


def _tracks(members: Sequence[FleetMember]) -> dict[str, Trajectory]:
    """Return the recorded tracks by vehicle."""
    return {member.name: member.truth for member in members if member.truth is not None}


def fleet_section(members: Sequence[FleetMember]) -> Section:
    """Return the section on the vehicles of a fleet."""
    apart, tracks = separations(members), _tracks(members)
    metrics: dict[str, Any] = {"vehicles": {m.name: _member_metrics(m) for m in members}}
    headline = []
    if apart:
        pair, closest = min(((p, float(d.min())) for p, d in apart.items()), key=lambda x: x[1])
        metrics["separation_min_m"] = closest
        headline.append(
            Headline(
                label="Closest approach",
                value=f"{closest:.2f}",
                unit="m",
                meaning=f"between the centres of mass of {pair[0]} and {pair[1]}",
            )
        )
    return Section(
        title="The fleet",
        name="fleet",
        text=(
            "All vehicles fly in one world frame and on one clock; each has its own autopilot or "
            "controller, sensors, ports and home."
        ),
        headline=tuple(headline),
        figures=(_plan_figure(tracks), _height_figure(tracks)) if tracks else (),
        tables=(_table(members),),
        metrics=metrics,
    )


def _member_metrics(member: FleetMember) -> dict[str, Any]:
    errors = {} if member.errors is None else member.errors.metrics()
    return {"outcome": member.outcome, "steps_missed": member.n_missed, **errors}


def _table(members: Sequence[FleetMember]) -> Table:
    rows = []
    for member in members:
        metrics = _member_metrics(member)
        values = [
            f"{metrics[key]['rms']:.3f}" if key in metrics else "–"
            for key in ("cross_track_m", "control_error_m", "estimation_error_m")
        ]
        rows.append((member.name, member.outcome, *values, str(member.n_missed)))
    return Table(
        title="Vehicles",
        columns=("vehicle", "outcome", "cross-track", "control", "estimation", "missed"),
        rows=tuple(rows),
        caption="Errors along the path, RMS in metres; missed are lockstep answers.",
    )


def _plan_figure(tracks: Mapping[str, Trajectory]) -> Figure:
    def draw(axes, track: Trajectory, **style: Any) -> None:
        east, north, _ = track.p_ref_body.T
        axes.plot(east, north, **style)
        axes.plot(east[0], north[0], "o", color=style["color"], ms=4)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set(xlabel="east [m]", ylabel="north [m]")

    return Figure(
        title="Where they flew",
        caption="True tracks from above; dots are the starts.",
        svg=_drawn("fleet-plan", tracks, draw),
    )


def _height_figure(tracks: Mapping[str, Trajectory]) -> Figure:
    def draw(axes, track: Trajectory, **style: Any) -> None:
        axes.plot(track.stamps_ns * 1e-9, track.p_ref_body[:, 2], **style)
        axes.set(xlabel="simulated time [s]", ylabel="height in map [m]")

    return Figure(
        title="Heights over time",
        caption="Take-off, flight and landing of each vehicle.",
        svg=_drawn("fleet-height", tracks, draw),
    )


def _drawn(name: str, tracks: Mapping[str, Trajectory], draw: Callable[..., None]) -> str:
    """Return a chart of all tracks, each in its colour."""

    def draw_all(axes) -> None:
        for (vehicle, track), colour in zip(
            tracks.items(), plots.colours(len(tracks)), strict=True
        ):
            draw(axes, track, color=colour, label=vehicle, lw=1.3)
        axes.figure.legend(loc="outside upper left", ncols=5)

    return chart(name, draw_all, height_in=4.2)
