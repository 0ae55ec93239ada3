# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Read rosbag2 recordings of any version: intact messages are returned, damage is reported."""

import heapq
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.bag.compression import SUFFIXES, decompress_file
from aerotwin_core.bag.mcap_file import McapFile
from aerotwin_core.bag.message_types import MessageError, MessageTypes
from aerotwin_core.bag.metadata import BagFiles, find_files
from aerotwin_core.bag.pose_layout import LAYOUTS, read_pose_row
from aerotwin_core.bag.poses import (
    PATH_TYPE,
    POSE_TYPES,
    TF_TYPE,
    PoseRows,
    PoseTopic,
    collect_poses,
    rows_of_message,
)
from aerotwin_core.bag.sqlite_file import SqliteFile
from aerotwin_core.bag.storage import RawMessage, StorageFile
from aerotwin_core.bag.transforms import TransformTree
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.trajectory import Trajectory

_MOST_PROBLEMS = 100


class BagReader:
    """A bag opened for reading: a rosbag2 folder, or one `.mcap` or `.db3` file.

    MCAP and SQLite of Humble to Kilted, split, compressed by file, chunk or message, with or
    without metadata.yaml. The bag's folder is never written to.

    Attributes
    ----------
    topics, counts : dict
        Message type, and number of messages according to the index, by topic name.
    start_ns, end_ns : int
        First and last recording stamp [ns]; both 0 for an empty bag.

    Raises
    ------
    UserError
        If the path is not a bag, or nothing of it can be read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        found = find_files(self.path)
        self._folder: Path | None = None
        self._problems = list(found.problems)
        self._files: list[StorageFile] = []
        for file in found.files:
            try:
                self._files.append(self._open(file))
            except UserError as error:
                self._problems.append(str(error))
        if not self._files:
            raise UserError("; ".join(self._problems))
        self._is_all_there = not self._problems
        self.topics: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        definitions: dict[str, tuple[str, str]] = {}
        for storage in self._files:
            self._merge(storage, definitions)
        spans = [storage.span_ns for storage in self._files if storage.span_ns is not None]
        self.start_ns = min((first for first, _ in spans), default=0)
        self.end_ns = max((last for _, last in spans), default=0)
        self._types = MessageTypes(definitions, found.distro)
        self._check_count(found)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is unreadable or invalid: one line each, with the name of the file.

        A damaged chunk behind an intact index is found when its messages are read: look again after
        reading, or call `check` first.
        """
        lines = [*self._problems, *(line for file in self._files for line in file.problems)]
        lines += [f"{self.path}: {line}" for line in self._types.problems]
        lines = list(dict.fromkeys(lines))
        if len(lines) > _MOST_PROBLEMS:
            n_more = len(lines) - _MOST_PROBLEMS
            lines[_MOST_PROBLEMS:] = [f"{self.path}: and {n_more} more problems"]
        return tuple(lines)

    @property
    def is_complete(self) -> bool:
        """False if the writer was killed or a file is missing; the rest is still read."""
        return self._is_all_there and all(file.is_finished for file in self._files)

    def check(self) -> tuple[str, ...]:
        """Read every message once and return all problems."""
        for _ in self.raw():
            pass
        return self.problems

    def raw(self, topics: Collection[str] | None = None) -> Iterator[RawMessage]:
        """Yield (topic, stamp_ns, cdr) in order of recording stamps; all topics if None.

        Those of one stamp come in no particular order.
        """
        for group in _overlapping(self._files):
            streams = [file.messages(topics) for file in group]
            yield from heapq.merge(*streams, key=lambda m: m[1]) if len(streams) > 1 else streams[0]

    def messages(self, topics: Collection[str] | None = None) -> Iterator[tuple[str, int, Any]]:
        """Yield (topic, stamp_ns, message), messages as objects with the fields of their type.

        Damaged messages are left out and counted in `problems`.

        Raises
        ------
        UserError
            At a message whose type is neither standard nor defined in the bag.
        """
        yield from self._deserialized(self.raw(topics))

    def _deserialized(self, entries: Iterable[RawMessage]) -> Iterator[tuple[str, int, Any]]:
        n_bad: dict[str, int] = {}
        reasons: dict[str, str] = {}
        for topic, stamp, cdr in entries:
            try:
                message = self._types.deserialize(cdr, self.topics[topic])
            except MessageError as error:
                n_bad[topic] = n_bad.get(topic, 0) + 1
                reasons.setdefault(topic, str(error))
                continue
            except UserError as error:
                raise UserError(f"{self.path}: topic {topic}: {error}") from None
            yield topic, stamp, message
        for topic, n in n_bad.items():
            self._note(f"topic {topic}: {n} messages are damaged, left out ({reasons[topic]})")

    def metadata(self, name: str) -> dict[str, str]:
        """Return the metadata record of a name, as texts by name; empty if there is none."""
        found: dict[str, str] = {}
        for file in self._files:
            found |= file.metadata(name)
        return found

    def trajectory(self, topic: str) -> Trajectory:
        """Return the poses of a topic by header stamp; see `poses`."""
        return self.poses(topic).trajectory

    def poses(self, topic: str) -> PoseTopic:
        """Return the poses of a topic, with frames and covariances.

        The topic has type Odometry, PoseStamped, PoseWithCovarianceStamped, TransformStamped, or
        Path (its last message); or is `TOPIC:PARENT.CHILD` for frames of a TFMessage topic, chained
        through moving and fixed transforms: `/tf:map.base_link`.

        Raises
        ------
        UserError
            If the topic or a frame is not in the bag, or carries no poses.
        """
        name, colon, frames = topic.partition(":")
        kind = self._kind_of(name)
        if kind == TF_TYPE:
            found = self._of_frames(name, frames if colon else "", topic)
        elif colon:
            raise self._no_poses(name, "no TFMessage")
        else:
            found = self._read_poses([name])[name]
        return self._usable(found, topic)

    def trajectories(self, topics: Collection[str]) -> dict[str, Trajectory]:
        """Return the poses of topics, none of them of TF, as `trajectory`: in one pass over all.

        Those without a usable pose are left out and their problems noted.
        """
        found = self._read_poses(topics, has_covariances=False)
        for each in found.values():
            self._note(*each.problems)
        return {name: each.trajectory for name, each in found.items() if len(each.trajectory)}

    def _no_poses(self, topic: str, reason: str) -> UserError:
        return UserError(
            f"{self.path}: topic {topic} carries no pose ({reason}); of this bag "
            f"{', '.join(self.trajectory_topics()) or 'no topic'} does"
        )

    def _usable(self, found: PoseTopic, topic: str) -> PoseTopic:
        """Note the problems of poses; refuse them if there are none."""
        self._note(*found.problems)
        if not len(found.trajectory):
            raise UserError(f"{self.path}: topic {topic} holds no usable pose; "
                            f"{'; '.join(found.problems) or 'it has no messages'}")  # fmt: skip
        return found

    def fixed_transform(self, parent: str, child: str) -> np.ndarray | None:
        """Return T_parent_child (4, 4) from static transforms, None if none connect the two."""
        static = [t for t, kind in self.topics.items() if kind == TF_TYPE and t.endswith("static")]
        tree = TransformTree(self.messages(static))
        return tree.fixed_transform(parent.lstrip("/"), child.lstrip("/"))

    def trajectory_topics(self) -> tuple[str, ...]:
        """Return what `trajectory` accepts of this bag: topics, and the moving edges of TF."""
        names = [name for name, kind in self.topics.items() if kind in POSE_TYPES]
        for topic, kind in self.topics.items():
            if kind == TF_TYPE and not topic.endswith("static"):
                edges = TransformTree(self.messages([topic])).moving
                names += [f"{topic}:{parent}.{child}" for parent, child in edges]
        return tuple(sorted(names))

    def _read_poses(
        self, topics: Collection[str], *, has_covariances: bool = True
    ) -> dict[str, PoseTopic]:
        """Return the poses of topics that are no TFMessage; of a Path those of its last message."""
        kinds = {topic: self._kind_of(topic) for topic in topics}
        for topic, kind in kinds.items():
            if kind not in POSE_TYPES:
                raise self._no_poses(topic, f"{kind} is not of {', '.join(POSE_TYPES)}")
        rows = {topic: PoseRows(has_covariances=has_covariances) for topic in topics}
        plain = {t for t, k in kinds.items() if k in LAYOUTS and self._types.is_standard(k)}
        rest: list[RawMessage] = []
        last_paths: dict[str, RawMessage] = {}
        for entry in self.raw(rows):
            topic, recorded_ns, cdr = entry
            row = read_pose_row(cdr, kinds[topic]) if topic in plain else None
            if row is not None:
                rows[topic].add(row, recorded_ns)
            elif kinds[topic] == PATH_TYPE:
                last_paths[topic] = entry
            else:
                rest.append(entry)
        for topic, recorded_ns, message in self._deserialized([*rest, *last_paths.values()]):
            for row in rows_of_message(message):
                rows[topic].add(row, recorded_ns)
        return {topic: collect_poses(found, topic) for topic, found in rows.items()}

    def _of_frames(self, name: str, frames: str, topic: str) -> PoseTopic:
        namespace = name.rpartition("/")[0]
        static = f"{namespace}/tf_static"
        kinds = [t for t in (name, static) if self.topics.get(t) == TF_TYPE]
        tree = TransformTree(self.messages(kinds))
        where = f"{self.path}: {topic}"
        return tree.poses(*tree.split(frames, where), where)

    def _kind_of(self, name: str) -> str:
        if name not in self.topics:
            topics = listed(sorted(self.topics)) or "none"
            raise UserError(f"{self.path}: no topic {name}; the bag holds {topics}")
        return self.topics[name]

    def _open(self, file: Path) -> StorageFile:
        name, note = file.name, ""
        if file.suffix in SUFFIXES:
            file, note = decompress_file(file, self._own_folder())
        storage: StorageFile
        if file.suffix == ".mcap":
            storage = McapFile(file)
        else:
            storage = SqliteFile(file, self._own_folder)
        if note:
            self._problems.append(f"{name}: {note}")
        return storage

    def _own_folder(self) -> Path:
        """Return a folder for decompressed files, removed with this reader."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="aerotwin_bag_"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def _merge(self, storage: StorageFile, definitions: dict[str, tuple[str, str]]) -> None:
        for topic, kind in storage.topics.items():
            if self.topics.setdefault(topic, kind) != kind:
                self._note(f"topic {topic} is of two types; all is read as {self.topics[topic]}")
            self.counts[topic] = self.counts.get(topic, 0) + storage.counts.get(topic, 0)
        for kind, definition in storage.definitions.items():
            definitions.setdefault(kind, definition)

    def _check_count(self, found: BagFiles) -> None:
        n_read = sum(self.counts.values())
        if found.n_messages is not None and n_read < found.n_messages:
            self._note(f"metadata.yaml counts {found.n_messages} messages, the files hold {n_read}")
        start_ns = found.start_ns if n_read else None
        if start_ns is not None and start_ns != self.start_ns:
            self._note(
                f"metadata.yaml lets the recording begin at {start_ns} ns, its first message is of "
                f"{self.start_ns} ns, which counts"
            )

    def _note(self, *lines: str) -> None:
        for line in lines:
            if f"{self.path}: {line}" not in self._problems:
                self._problems.append(f"{self.path}: {line}")


def _overlapping(files: list[StorageFile]) -> Iterator[list[StorageFile]]:
    """Yield the files in order of time, those that overlap in time together."""
    timed = [(file.span_ns, n, file) for n, file in enumerate(files) if file.span_ns is not None]
    group: list[StorageFile] = []
    end = 0
    for (first, last), _, file in sorted(timed, key=lambda item: item[:2]):
        if group and first >= end:
            yield group
            group = []
        group.append(file)
        end = max(end, last) if len(group) > 1 else last
    if group:
        yield group
