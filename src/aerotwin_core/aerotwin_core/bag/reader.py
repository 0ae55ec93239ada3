# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Read rosbag2 folders, also those that a killed writer left without index."""

import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mcap.exceptions import McapError
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from rosbags.rosbag2 import Reader
from rosbags.rosbag2.errors import ReaderError

from aerotwin_core.errors import UserError
from aerotwin_core.messages import TYPESTORE, stamp_ns
from aerotwin_core.trajectory import Trajectory

_MCAP_MAGIC = b"\x89MCAP0\r\n"
RawMessage = tuple[str, int, bytes]


class BagReader:
    """A bag folder opened for reading.

    Attributes
    ----------
    path : Path
    topics : dict
        Message type by topic name.
    counts : dict
        Number of messages by topic name.
    start_ns, end_ns : int
        First and last stamp [ns]; both 0 for an empty bag.
    is_complete : bool
        False if the writer was killed; everything up to its last flush is read.

    Raises
    ------
    UserError
        If the path is not a bag.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not (self.path / "metadata.yaml").is_file():
            raise UserError(
                f"{self.path}: not a bag (a folder with metadata.yaml is expected); check the path"
            )
        self.topics: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.start_ns = self.end_ns = 0
        self._unfinished = [f for f in sorted(self.path.glob("*.mcap")) if not _is_finished(f)]
        self.is_complete = not self._unfinished
        if self.is_complete:
            self._scan_index()
        else:
            self._scan_messages()

    def _scan_index(self) -> None:
        try:
            with Reader(self.path) as reader:
                for connection in reader.connections:
                    self.topics[connection.topic] = connection.msgtype
                    count = self.counts.get(connection.topic, 0) + connection.msgcount
                    self.counts[connection.topic] = count
                if reader.message_count:
                    self.start_ns, self.end_ns = reader.start_time, reader.end_time - 1
        except (ReaderError, OSError, KeyError, ValueError) as error:
            raise UserError(f"{self.path}: the bag cannot be opened ({error})") from error

    def _scan_messages(self) -> None:
        first, last = None, 0
        for topic, stamp, _ in self.raw():
            self.counts[topic] = self.counts.get(topic, 0) + 1
            first, last = stamp if first is None else min(first, stamp), max(last, stamp)
        self.start_ns, self.end_ns = first or 0, last

    def raw(self, topics: Collection[str] | None = None) -> Iterator[RawMessage]:
        """Yield (topic, stamp_ns, cdr) in order of recording; all topics if None."""
        return self._raw_indexed(topics) if self.is_complete else self._raw_recovered(topics)

    def messages(self, topics: Collection[str] | None = None) -> Iterator[tuple[str, int, Any]]:
        """Yield (topic, stamp_ns, message); messages are rosbags objects of the Jazzy types."""
        for topic, stamp, cdr in self.raw(topics):
            yield topic, stamp, TYPESTORE.deserialize_cdr(cdr, self.topics[topic])

    def trajectory(self, topic: str) -> Trajectory:
        """Return the poses of an Odometry, PoseStamped or TransformStamped topic by header stamp.

        Repeated stamps keep their first pose.

        Raises
        ------
        UserError
            If the topic is not in the bag or carries no poses.
        """
        if topic not in self.topics:
            listed = ", ".join(sorted(self.topics)) or "none"
            raise UserError(f"{self.path}: no topic {topic}; the bag holds {listed}")
        rows: dict[int, list[float]] = {}
        for _, _, message in self.messages([topic]):
            rows.setdefault(stamp_ns(message), _pose_row(message, topic))
        stamps = np.array(sorted(rows), dtype=np.int64)
        table = np.array([rows[int(stamp)] for stamp in stamps]).reshape(-1, 7)
        return Trajectory(stamps, table[:, :3], table[:, 3:])

    def _raw_indexed(self, topics: Collection[str] | None) -> Iterator[RawMessage]:
        with Reader(self.path) as reader:
            wanted = [c for c in reader.connections if topics is None or c.topic in topics]
            if not wanted:
                return
            for connection, stamp, cdr in reader.messages(wanted):
                yield connection.topic, stamp, bytes(cdr)

    def _raw_recovered(self, topics: Collection[str] | None) -> Iterator[RawMessage]:
        for file in sorted(self.path.glob("*.mcap")):
            yield from self._stream_file(file, topics)

    def _stream_file(self, path: Path, topics: Collection[str] | None) -> Iterator[RawMessage]:
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        with path.open("rb") as stream:
            records = StreamReader(stream, validate_crcs=True).records
            while True:
                try:
                    record = next(records, None)
                except (McapError, ValueError, EOFError, struct.error):
                    return  # the torn end of a killed recording
                if record is None:
                    return
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    channels[record.id] = record
                    self.topics[record.topic] = schemas[record.schema_id].name
                    self.counts.setdefault(record.topic, 0)
                elif isinstance(record, Message):
                    topic = channels[record.channel_id].topic
                    if topics is None or topic in topics:
                        yield topic, record.log_time, bytes(record.data)


def _is_finished(path: Path) -> bool:
    size = path.stat().st_size
    if size < 2 * len(_MCAP_MAGIC):
        return False
    with path.open("rb") as stream:
        stream.seek(size - len(_MCAP_MAGIC))
        return stream.read() == _MCAP_MAGIC


def _pose_row(message: Any, topic: str) -> list[float]:
    pose = getattr(message, "pose", None)
    pose = getattr(pose, "pose", pose)
    if pose is not None:
        p, q = pose.position, pose.orientation
    elif hasattr(message, "transform"):
        p, q = message.transform.translation, message.transform.rotation
    else:
        raise UserError(f"topic {topic}: {type(message).__name__} carries no pose")
    return [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
