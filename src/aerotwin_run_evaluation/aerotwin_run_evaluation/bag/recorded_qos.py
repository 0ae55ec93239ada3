# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The quality of service with which the topics of a bag were published when it was recorded."""

from dataclasses import dataclass
from pathlib import Path

from rosbags.rosbag2 import Reader
from rosbags.rosbag2.errors import ReaderError

_LATCHED = "TRANSIENT_LOCAL"
LARGEST_DEPTH = 10_000


@dataclass(frozen=True, kw_only=True)
class RecordedQos:
    """What is played back of it.

    Reliability is not: a reliable publisher meets best-effort subscribers and reliable ones, and
    loses nothing.

    Attributes
    ----------
    is_latched : bool
        Transient local: late subscribers still get it.
    depth : int
        Messages kept; 0 = not recorded.
    """

    is_latched: bool = False
    depth: int = 0


def read_recorded_qos(path: Path) -> dict[str, RecordedQos]:
    """Return the recorded QoS by topic; topics without any, and bags without index, are left out.

    Several publishers of one topic are met by the most that one of them offered.
    """
    found: dict[str, RecordedQos] = {}
    try:
        with Reader(path) as reader:
            for connection in reader.connections:
                profiles = list(getattr(connection.ext, "offered_qos_profiles", None) or ())
                if not profiles:
                    continue
                known = found.get(connection.topic, RecordedQos())
                found[connection.topic] = RecordedQos(
                    is_latched=known.is_latched
                    or any(profile.durability.name == _LATCHED for profile in profiles),
                    depth=min(LARGEST_DEPTH, max(known.depth, *(int(p.depth) for p in profiles))),
                )
    except (ReaderError, OSError, KeyError, ValueError, AssertionError):
        return {}  # a damaged bag: its readable messages are played with the usual QoS
    return found
