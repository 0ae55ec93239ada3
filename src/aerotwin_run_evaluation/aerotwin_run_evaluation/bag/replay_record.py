# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of a bag replay, as numbers and as a section of the report."""

from dataclasses import dataclass
from typing import Any

from aerotwin_core.metric import Metric, MetricSet, score_table
from aerotwin_core.section import Section, Table
from aerotwin_run_evaluation.bag.playing import PlayPlan

REPLAY_METRICS = MetricSet(
    title="Replay",
    structure={},
    metrics=(
        Metric("bag_s", "played", "time of the bag", unit="s", digits=1),
        Metric("wall_s", "wall time", "that this took", unit="s", digits=1),
        Metric("real_time_factor", "real-time factor", "bag by wall time", digits=2,
               aliases=("real_time_factor",)),
        Metric("n_frames", "frames", "went out", digits=0),
        Metric("n_answered", "answered", "outputs with the stamp of a frame", digits=0),
        Metric("n_unanswered", "without answer", "dropped or passed over", digits=0,
               aliases=("n_unanswered",)),
        Metric("n_lost", "outputs lost", "came faster than they were taken", digits=0),
        Metric("n_refused", "inputs refused", "by the middleware", digits=0),
        Metric("lag_s", "largest lag", "of a message behind its time", unit="s"),
    ),
)  # fmt: skip
"""Of the section `replay`: fields and properties of `ReplayRecord`."""


@dataclass(frozen=True, kw_only=True)
class ReplayRecord:
    """How a bag was played."""

    plan: PlayPlan
    is_lockstep: bool  # whether each frame waited for the previous answers, to the end
    rate: float  # requested factor of real time; 0 in lockstep
    span_ns: tuple[int, int]  # recording stamps of the played part
    wall_s: float  # wall time of the replay
    # published frames, and those with an output of the same stamp
    n_frames: int
    n_answered: int
    # outputs lost in the queue, and inputs that the middleware refused
    n_lost: int = 0
    n_refused: int = 0
    lag_s: float = 0.0  # largest delay of a message [s, wall]
    unknown: tuple[str, ...] = ()  # topics whose type this ROS installation lacks
    note: str = ""  # why the pace changed, if it did

    @property
    def bag_s(self) -> float:
        """Played time of the bag."""
        return max(0, self.span_ns[1] - self.span_ns[0]) * 1e-9

    @property
    def real_time_factor(self) -> float | None:
        """Played time divided by wall time; None when nothing was played."""
        return self.bag_s / self.wall_s if self.wall_s > 0.0 else None

    @property
    def n_unanswered(self) -> int:
        """Frames without an output of their stamp: dropped, lost, or not answered one by one."""
        return self.n_frames - self.n_answered

    def metrics(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "is_lockstep": self.is_lockstep,
            "rate": self.rate,
            **{each.path: getattr(self, each.path) for each in REPLAY_METRICS.metrics},
            "played": {topic.name: topic.source for topic in self.plan.topics},
            "held_back": dict(self.plan.held_back),
        }

    def warnings(self) -> list[str]:
        """Return caveats for the reader of the scores."""
        found = [self.note] if self.note else []
        if self.unknown:
            found.append(f"Not played, this ROS has no such type: {', '.join(self.unknown)}.")
        if self.n_frames and self.n_unanswered:
            found.append(
                f"{self.n_unanswered} of {self.n_frames} frames got no answer with their stamp."
            )
        if self.n_lost or self.n_refused:
            found.append(
                f"{self.n_lost} outputs were lost before they were recorded, {self.n_refused} "
                "inputs were not carried by the middleware."
            )
        return found


def replay_section(record: ReplayRecord) -> Section:
    """Return the section on the replay: topics, pace and answers."""
    how = (
        "in lockstep: a frame waited for the answers before it"
        if record.is_lockstep
        else f"at {record.rate:g} times real time: what the SLAM could not follow is lost"
    )
    topics = tuple(
        (topic.source, topic.name, topic.msgtype, "yes" if topic.qos.is_latched else "")
        for topic in record.plan.topics
    )
    held = tuple((name, why) for name, why in record.plan.held_back.items())
    tables = [
        score_table("Pace", REPLAY_METRICS.scores(record.metrics())),
        Table(title="Played", columns=("in the bag", "as", "type", "latched"), rows=topics),
    ]
    if held:
        tables.append(Table(title="Held back", columns=("in the bag", "why"), rows=held))
    return Section(
        title="Replay",
        name="replay",
        text=f"The bag was played {how}.",
        tables=tuple(tables),
        metrics=record.metrics(),
        warnings=tuple(record.warnings()),
    )
