# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Random transitions of a formation of point masses in wind, over a lossy link: who comes close?

A run is one flight: n vehicles hover in a random pattern, change to another one while their leader
flies at 1 m/s, and keep it. Patterns are random points whose spacing is above what
`plan_transition` demands.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aerotwin_campaign import RunContext
from aerotwin_core.frames import FloatArray
from aerotwin_core.metric import Metric, MetricSet, mapping_schema
from aerotwin_core.parameters import load_parameters
from aerotwin_core.seeds import seed_sequence
from aerotwin_formation import (
    FormationFlight,
    FormationFlightParameters,
    FormationPattern,
    PatternChange,
    constant_route,
)

HEIGHT_M = 30.0
CHANGE_S = 4.0
"""Before it the first pattern is announced and the leader is under way."""
SPACING_SHARE = 1.02
"""Of the spacing above which no two can come closer than 2R and the margin: sqrt(2) times that."""
ROOM_PER_VEHICLE_M3 = 40.0
SETTLED_S = 3.0
LIMIT_S = 60.0


def _metric(path: str, meaning: str, better: str = "lower") -> Metric:
    return Metric(path, meaning, meaning, unit="m", better=better, title=meaning)


METRICS = MetricSet(
    title="Formation transitions",
    metrics=(
        _metric("closest_m", "E of the closest two vehicles, the height halved", "higher"),
        _metric("lag_m", "RMS distance behind the places in the new pattern"),
        _metric("formation_error_m", "RMS distance from the shape of the new pattern"),
    ),
    structure=mapping_schema(),
)


def fly_transition(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Fly the transition of a seed; E of the closest two, and errors once it is in formation.

    `document`: `n_vehicles`, and `flight`, parameters of `FormationFlightParameters`.
    """
    parameters = load_parameters(FormationFlightParameters, document["flight"], where="flight")
    separation = parameters.separation
    spacing_m = SPACING_SHARE * np.sqrt(2.0) * separation.required_m
    rng = seed_sequence(context.seed, 0, "patterns")
    first, second = (
        FormationPattern(
            name=name,
            offsets=spaced_points(
                rng, document["n_vehicles"], spacing_m, separation.downwash_ratio
            ),
        )
        for name in ("first", "second")
    )
    flight = FormationFlight(
        parameters,
        first.offsets + np.array([0.0, 0.0, HEIGHT_M]),
        constant_route([1.0, 0.0, 0.0]),
        [PatternChange(time_s=0.5, pattern=first), PatternChange(time_s=CHANGE_S, pattern=second)],
        context.seed,
    )
    end_s = LIMIT_S
    while flight.time_ns * 1e-9 < end_s:
        flight.command_period()
        plan = flight.received.plan_of(0)
        if plan is not None and plan.pattern == second.name:
            end_s = min(end_s, plan.end_ns * 1e-9 + 2.0 * SETTLED_S)
    record = flight.recorder.record()
    is_done = end_s < LIMIT_S
    errors = record.formation_errors(end_s - SETTLED_S)
    closest_m = float(record.closest_m.min())
    return {
        "metrics": {
            "closest_m": closest_m,
            "lag_m": errors.lag_m,
            "formation_error_m": errors.formation_m,
        },
        "is_success": is_done and closest_m > 2.0 * separation.radius_m,
        "outcome": "the pattern is flown" if is_done else "the pattern was never changed",
    }


def spaced_points(
    rng: np.random.Generator, n: int, spacing_m: float, height_ratio: float
) -> FloatArray:
    """Return points (n, 3) in a cube, the first in its middle, none closer in E."""
    side_m = (n * ROOM_PER_VEHICLE_M3 * spacing_m**3 / 8.0) ** (1.0 / 3.0)
    points = np.zeros((n, 3))
    count = 1
    while count < n:
        point = rng.uniform(-0.5 * side_m, 0.5 * side_m, 3)
        if np.min(np.sum((points[:count] - point) ** 2, axis=1)) > spacing_m**2:
            points[count] = point
            count += 1
    return points * [1.0, 1.0, height_ratio]
