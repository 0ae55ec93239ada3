# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A formation's flight from its bag: by truth, and by the autopilots' estimates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.time import to_seconds
from aerotwin_core.trajectory import Trajectory
from aerotwin_formation import FormationPlan, SeparationParameters, plan_from_text
from aerotwin_formation.record import FormationRecord, FormationRecorder
from aerotwin_run_evaluation.report.flight_section import track_topics

PLAN = "/formation/plan"
PERIOD_NS = 50_000_000


@dataclass(frozen=True, kw_only=True)
class FlownFormation:
    """A formation's flight, its vehicles in order, the leader first.

    Attributes
    ----------
    truth, estimate : FormationRecord
        At the same times.
    plans : tuple of FormationPlan
        As announced.
    separation : SeparationParameters
        Metric and size that closest distances are judged by, as announced.
    """

    vehicles: tuple[str, ...]
    truth: FormationRecord
    estimate: FormationRecord
    plans: tuple[FormationPlan, ...]
    separation: SeparationParameters


def read_formation(
    bag: BagReader, tracks: Mapping[str, Trajectory], vehicles: Sequence[str]
) -> FlownFormation | None:
    """Return the formation of a recorded fleet, None if it flew none.

    `tracks` are those of the vehicles by topic, see `read_tracks`.

    Raises
    ------
    ValueError
        If what was announced is no plan of so many vehicles.
    """
    names = [track_topics(vehicle)[:2] for vehicle in vehicles]
    has_tracks = all(name in tracks for pair in names for name in pair)
    if len(vehicles) < 2 or not bag.counts.get(PLAN) or not has_tracks:
        return None
    texts = [message.data for _, _, message in bag.messages([PLAN])]
    plans, separations = zip(*(plan_from_text(text, len(vehicles)) for text in texts), strict=True)
    separation = separations[-1]
    kinds = [[tracks[name] for name in found] for found in zip(*names, strict=True)]
    every = [track for found in kinds for track in found]
    begin = max(int(track.stamps_ns[0]) for track in every)
    end = min(int(track.stamps_ns[-1]) for track in every)
    stamps = np.arange(begin, end, PERIOD_NS)
    if len(stamps) < 2:
        return None
    truth, estimate = (recorded(found, stamps, plans, separation) for found in kinds)
    return FlownFormation(
        vehicles=tuple(vehicles), truth=truth, estimate=estimate, plans=plans, separation=separation
    )


def recorded(
    tracks: Sequence[Trajectory],
    stamps_ns: np.ndarray,
    plans: Sequence[FormationPlan],
    separation: SeparationParameters,
) -> FormationRecord:
    """Return the record of vehicles on tracks, the leader's first, at equally spaced stamps.

    A plan counts from the start of its transition on.
    """
    positions = np.stack([track.interpolate(stamps_ns).p_ref_body for track in tracks], axis=1)
    velocities = np.gradient(positions, to_seconds(int(stamps_ns[1] - stamps_ns[0])), axis=0)
    recorder = FormationRecorder(separation)
    for stamp_ns, position, velocity in zip(stamps_ns.tolist(), positions, velocities, strict=True):
        plan = next((p for p in reversed(plans) if p.start_ns <= stamp_ns), None)
        recorder.add(stamp_ns, position, velocity, plan, recorder.closest_m(position))
    return recorder.record()
