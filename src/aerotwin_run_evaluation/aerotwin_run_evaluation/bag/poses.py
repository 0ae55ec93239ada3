# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The evaluated part of a run, in header time."""

from collections.abc import Iterable
from itertools import islice

import numpy as np

from aerotwin_core.bag import BagReader, PoseTopic
from aerotwin_core.messages import stamp_ns
from aerotwin_core.trajectory import Trajectory
from aerotwin_run_evaluation.bag.roles import TF_MESSAGE
from aerotwin_trajectory_evaluation.slam_poses import select_poses

Span = tuple[int, int]
"""First and last stamp of the evaluated part [ns]."""
_N_COMPARED = 100


def within(found: PoseTopic, span: Span | None) -> PoseTopic:
    """Return the poses of a span, all if it is None."""
    if span is None:
        return found
    stamps = found.trajectory.stamps_ns
    return select_poses(found, (stamps >= span[0]) & (stamps <= span[1]))


def truth_within(truth: Trajectory, span: Span | None) -> Trajectory:
    """Return the truth of a span, with poses interpolated at its ends."""
    if span is None or len(truth) < 2:
        return truth
    first, last = np.clip(span, truth.stamps_ns[0], truth.stamps_ns[-1])
    stamps = truth.stamps_ns[(truth.stamps_ns >= first) & (truth.stamps_ns <= last)]
    return truth.interpolate(np.unique([first, *stamps, last]))


def on_header_clock(span: Span, topics: Iterable[tuple[BagReader, str]]) -> Span:
    """Convert a span of recording stamps [ns] to header time.

    The two clocks may be years apart (a robot without a battery for its clock). Their offset is
    the median over the first messages of the first topic that has stamps.

    `topics`: topics, or sources of `read_poses`, best first; absent ones are skipped.
    """
    for bag, source in topics:
        offsets = _clock_offsets(bag, source.partition(":")[0])
        if len(offsets):
            offset_ns = int(np.median(offsets))
            return span[0] + offset_ns, span[1] + offset_ns
    return span


def _clock_offsets(bag: BagReader, topic: str) -> np.ndarray:
    """Return header minus recording stamps of the first messages [ns]; none if all are 0."""
    if bag.counts.get(topic, 0) == 0:
        return np.array([], dtype=np.int64)
    pairs = []
    for _, recorded_ns, message in islice(bag.messages([topic]), _N_COMPARED):
        stamped = message.transforms[:1] if bag.topics[topic] == TF_MESSAGE else [message]
        pairs += [(stamp_ns(each), recorded_ns) for each in stamped if hasattr(each, "header")]
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0] - table[:, 1] if table[:, 0].any() else table[:0, 0]
