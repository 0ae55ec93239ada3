# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The SLAMs of a fleet: a table with a row for each vehicle, then the chapters of each."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from aerotwin_core.metric import NUMBER, Schema
from aerotwin_core.rms import rms
from aerotwin_core.section import Headline, Section, Table
from aerotwin_run_evaluation.report.run_report import run_sections
from aerotwin_run_evaluation.run_judgement import RunEvaluation

_SCORES = (
    ("ape_unaligned_rmse_m", "APE [m]"),
    ("ape_rmse_m", "APE aligned [m]"),
    ("drift_percent", "drift [%]"),
    ("coverage", "coverage"),
    ("map_surface_rms_m", "map to surface [m]"),
    ("cpu_cores_mean", "CPU [cores]"),
)
"""Numbers of a row and the heads of their columns."""


def fleet_slam_sections(
    names: Mapping[str, str], judged: Mapping[str, RunEvaluation]
) -> list[Section]:
    """Return the chapters on the SLAMs of vehicles; `names` of the SLAMs, both by vehicle."""
    if not judged:
        return []
    chapters = [section for each in judged.values() for section in run_sections(each)]
    return [_overview(names, judged), *chapters]


def with_warnings(flight: RunEvaluation, judged: Mapping[str, RunEvaluation]) -> RunEvaluation:
    """Return the evaluation of a flight with the warnings of its vehicles' SLAMs added."""
    added = [
        f"{vehicle}: {warning}"
        for vehicle, each in judged.items()
        for warning in each.warnings
        if warning not in flight.warnings
    ]
    return dataclasses.replace(flight, noted=(*flight.noted, *added))


def slam_scores(evaluation: RunEvaluation) -> dict[str, float | None]:
    """Return the numbers of a vehicle's row; None is not judged."""
    scores: dict[str, float | None] = dict.fromkeys(key for key, _ in _SCORES)
    slam = evaluation.slam
    if slam.estimates:
        found = slam.estimates[0].evaluation
        scores["ape_unaligned_rmse_m"] = rms(found.ape_unaligned.trans_m)
        scores["ape_rmse_m"] = rms(found.ape.trans_m)
        scores["drift_percent"] = found.drift_percent
        scores["coverage"] = found.coverage
    if slam.map is not None:
        distances = slam.map.distances
        scores["map_surface_rms_m"] = rms(distances[np.isfinite(distances)])
    if slam.cost is not None:
        scores["cpu_cores_mean"] = slam.cost.usage.metrics()["cpu_cores_mean"]
    return scores


def _overview(names: Mapping[str, str], judged: Mapping[str, RunEvaluation]) -> Section:
    scores = {vehicle: slam_scores(each) for vehicle, each in judged.items()}
    rows = {vehicle: {"slam": names[vehicle], **scores[vehicle]} for vehicle in judged}
    return Section(
        title="SLAM of each vehicle",
        name="slams",
        text=(
            "Every SLAM has the sensors of its own vehicle alone, and is waited for at their "
            "readings. The chapters below show each."
        ),
        headline=_headline(scores),
        tables=(_table(rows),),
        metrics={"vehicles": rows},
        schema=_schema(rows),
    )


def _headline(scores: Mapping[str, Mapping[str, float | None]]) -> tuple[Headline, ...]:
    errors = {
        vehicle: error
        for vehicle, row in scores.items()
        if (error := row["ape_unaligned_rmse_m"]) is not None
    }
    if not errors:
        return ()
    worst = max(errors, key=lambda vehicle: errors[vehicle])
    return (
        Headline(
            label="Largest APE, RMSE",
            value=f"{errors[worst]:.3f}",
            unit="m",
            meaning=f"of {worst}, the start pose known",
        ),
    )


def _schema(rows: Mapping[str, Mapping[str, Any]]) -> Schema:
    row = {
        "type": "object",
        "required": ["slam", *(key for key, _ in _SCORES)],
        "properties": {"slam": {"type": "string"}, **{key: NUMBER for key, _ in _SCORES}},
        "additionalProperties": False,
    }
    vehicles = {"type": "object", "properties": dict.fromkeys(rows, row)}
    return {"type": "object", "required": ["vehicles"], "properties": {"vehicles": vehicles}}


def _table(rows: Mapping[str, Mapping[str, Any]]) -> Table:
    return Table(
        title="SLAMs",
        columns=("vehicle", "SLAM", *(head for _, head in _SCORES)),
        rows=tuple(
            (vehicle, row["slam"], *(_shown(row[key]) for key, _ in _SCORES))
            for vehicle, row in rows.items()
        ),
        caption="Root mean squares; a dash is not judged.",
    )


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
