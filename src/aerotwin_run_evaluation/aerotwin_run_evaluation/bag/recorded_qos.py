# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""QoS of the topics of a bag at recording time."""

from dataclasses import dataclass
from pathlib import Path

from rosbags.rosbag2 import Reader
from rosbags.rosbag2.errors import ReaderError

_LATCHED = "TRANSIENT_LOCAL"
LARGEST_DEPTH = 10_000


@dataclass(frozen=True, kw_only=True)
class RecordedQos:
    """Recorded QoS that the replay uses: transient local, and depth (0 = not recorded).

    Reliability is not used: a reliable publisher matches best-effort and reliable subscribers, and
    loses nothing.
    """

    is_latched: bool = False
    depth: int = 0


def read_recorded_qos(path: Path) -> dict[str, RecordedQos]:
    """Return the recorded QoS by topic; topics without any, and bags without index, are left out.

    For several publishers of one topic, the strongest offer counts.
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
