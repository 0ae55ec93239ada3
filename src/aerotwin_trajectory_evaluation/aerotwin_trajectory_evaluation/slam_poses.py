# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of a run, named by one token: a topic, two frames of /tf, or a file.

``/slam/odom``, ``/tf:map.base_link`` (evo's notation) or ``truth.txt``. Also their start pose, and
the frames they were computed from. Used by reports, twins and studies.
"""

import dataclasses
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.bag import BagReader, PoseTopic
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.frames import invert_transform
from aerotwin_core.messages import stamp_ns
from aerotwin_core.time import NANOSECONDS_PER_SECOND
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.files import load_trajectory
from aerotwin_trajectory_evaluation.live import LOST_VARIANCE_M2

SAME_FRAME_NS = 1_000_000
"""Stamps that differ by less are of one frame: some drivers round them."""
_MIN_SHARE = 0.9
_BEGINS_ANYWHERE = "odom"  # REP-105: its origin is wherever the odometry began
_WITH_COVARIANCE = ("nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseWithCovarianceStamped")
_LITTLE, _BIG = struct.Struct("<iI"), struct.Struct(">iI")
_LITTLE_ENDIAN = 1
_ENCAPSULATION_BYTES = 4


def read_poses(bag: BagReader, source: str, *, duplicates: str = "keep") -> PoseTopic:
    """Return the poses of a source, without those that were reported as lost.

    Lost is a position variance above 1000 m^2, or one that is not a number; other omissions and
    repairs are listed in the result's `problems`. `source` is a topic of the bag,
    TOPIC:PARENT.CHILD or a file. `duplicates` is that of `load_trajectory` for a file; of a topic
    the first pose of each stamp is used. Raises UserError if there are no such poses (the message
    lists the available ones), or stamps are refused.
    """
    topic = source.partition(":")[0]
    if topic not in bag.topics:
        require_poses(bag, source)
        file = load_trajectory(source, duplicates=duplicates)
        return PoseTopic(
            trajectory=file.trajectory, covariances=file.covariances, problems=file.notes
        )
    found = bag.poses(source)
    if found.n_repeated and duplicates == "refuse":
        raise UserError(f"{source}: {found.n_repeated} poses repeat a stamp; take duplicates first")
    if bag.topics[topic] in _WITH_COVARIANCE:
        return select_poses(found, _is_tracked(bag, topic, found))
    return found


def select_poses(found: PoseTopic, retained: np.ndarray) -> PoseTopic:
    """Return the poses of a mask or index, with their covariances."""
    covariances = None if found.covariances is None else found.covariances[retained]
    return dataclasses.replace(
        found, trajectory=found.trajectory.select(retained), covariances=covariances
    )


def require_poses(bag: BagReader, source: str) -> None:
    """Check that a source exists, before a long replay.

    Raises UserError listing the available ones.
    """
    if source.partition(":")[0] not in bag.topics and not Path(source).exists():
        topics = listed(bag.trajectory_topics()) or "none"
        raise UserError(f"{source}: neither poses of the bag nor a file; {bag.path} holds {topics}")


def start_pose(
    truth: Trajectory,
    estimate: Trajectory,
    source: str = "the estimate",
    truth_source: str = "the truth",
) -> np.ndarray:
    """Return T_map_odom (4, 4) from the true pose at the first stamp of the estimate.

    Raises UserError if truth does not cover that stamp; the message uses the source names.
    """
    if len(truth) < 2 or len(estimate) == 0:
        raise UserError(f"{source} holds {len(estimate)} poses that were tracked")
    inside = (estimate.stamps_ns >= truth.stamps_ns[0]) & (
        estimate.stamps_ns <= truth.stamps_ns[-1]
    )
    if not inside.any():
        raise UserError(
            f"no pose of {source} lies within the time of {truth_source}; check their clocks"
        )
    first = int(np.argmax(inside))
    T_map_base = truth.interpolate(estimate.stamps_ns[first : first + 1]).transforms()[0]
    return T_map_base @ invert_transform(estimate.transforms()[first])


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Pose of the estimate's frame in the truth's, and how it is known, as text for a report.

    `is_fitted`: the estimate has been laid onto the truth, as its scale was unknown.
    """

    T_reference_estimate: np.ndarray
    text: str
    is_fitted: bool = False


def place_estimate(
    truth: PoseTopic,
    estimate: PoseTopic,
    source: str = "the estimate",
    truth_source: str = "the truth",
) -> Placement:
    """Return the placement of an estimate in the frame of the truth.

    An estimate whose headers name the truth's frame is already there and is scored unchanged: an
    offset is its error. Any other begins in its own frame, which the true pose at its first stamp
    places. So does one in `odom`, whatever the truth's frame is called: that name says nothing of
    where its origin is (REP-105). Raises UserError if truth does not cover the stamps of an
    estimate to place; it uses the source names.
    """
    frame, of_truth = (found.frame.lstrip("/") for found in (estimate, truth))
    if frame and frame == of_truth and frame.rpartition("/")[2] != _BEGINS_ANYWHERE:
        text = f"the estimate is in the frame of the truth, {frame}, and is judged as it stands"
        return Placement(T_reference_estimate=np.eye(4), text=text)
    return Placement(
        T_reference_estimate=start_pose(
            truth.trajectory, estimate.trajectory, source, truth_source
        ),
        text=f"the frame of the estimate ({frame or 'not named'}) is not known to be that of the "
        f"truth ({of_truth or 'not named'}): its first pose was put onto the truth, and nothing "
        "else was fitted before the scores as placed",
    )


def header_stamp_ns(cdr: bytes) -> int:
    """Return the stamp of a serialised message that begins with a header [ns].

    Raises ValueError if the message is too short.
    """
    if len(cdr) < _ENCAPSULATION_BYTES + _LITTLE.size:
        raise ValueError(f"a message with a header has 12 bytes at least, got {len(cdr)}")
    layout = _LITTLE if cdr[1] & _LITTLE_ENDIAN else _BIG
    seconds, nanoseconds = layout.unpack_from(cdr, _ENCAPSULATION_BYTES)
    return int(seconds) * NANOSECONDS_PER_SECOND + int(nanoseconds)


def read_frame_stamps(bag: BagReader, topic: str) -> np.ndarray:
    """Return the header stamps (n,) of a topic [ns]; messages too short for one are left out."""
    shortest = _ENCAPSULATION_BYTES + _LITTLE.size
    stamps = [header_stamp_ns(cdr) for _, _, cdr in bag.raw([topic]) if len(cdr) >= shortest]
    return np.array(stamps, dtype=np.int64)


def frames_of_estimate(
    candidates: Sequence[np.ndarray], estimate_stamps_ns: np.ndarray
) -> np.ndarray | None:
    """Return the stamps (n,) of the frames that an estimate was computed from.

    They are those of the sensor whose stamps match nine in ten of its poses; of several, the one
    with the fewest frames. None if no sensor matches, as for a smoothed or an inertial estimate.
    """
    fitting = [
        frames for frames in candidates if _share_of(estimate_stamps_ns, frames) >= _MIN_SHARE
    ]
    return min(fitting, key=len, default=None)


def _share_of(stamps: np.ndarray, frames: np.ndarray) -> float:
    """Return the share of stamps that are also in frames."""
    if len(stamps) == 0 or len(frames) == 0:
        return 0.0
    ordered = np.sort(frames)
    right = np.clip(np.searchsorted(ordered, stamps), 0, len(ordered) - 1)
    left = np.maximum(right - 1, 0)
    gap = np.minimum(np.abs(ordered[right] - stamps), np.abs(ordered[left] - stamps))
    return float(np.mean(gap < SAME_FRAME_NS))


def _is_tracked(bag: BagReader, topic: str, found: PoseTopic) -> np.ndarray:
    """Return whether each pose was tracked, (n,)."""
    if found.covariances is not None:
        return found.covariances[:, 0, 0] <= LOST_VARIANCE_M2
    if not found.problems:
        return np.ones(len(found.trajectory), dtype=bool)
    # Some covariances are not numbers, and none was returned: only those poses are lost.
    lost = [
        stamp_ns(message)
        for _, _, message in bag.messages([topic])
        if not message.pose.covariance[0] <= LOST_VARIANCE_M2
    ]
    return ~np.isin(found.trajectory.stamps_ns, lost)
