# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write rosbag2 MCAP folders from serialised messages."""

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import yaml

from aerotwin_core.bag.compression import COMPRESSIONS
from aerotwin_core.bag.mcap_writer import McapWriter
from aerotwin_core.documents import PlainDumper
from aerotwin_core.errors import UserError
from aerotwin_core.messages import TYPESTORE

if TYPE_CHECKING:  # readers of bags do not wait for a compiler
    import numpy as np

    from aerotwin_core.fixed_layout import FixedLayout
    from aerotwin_core.message_rows import Values

CHUNK_SIZE_BYTES = 64 * 1024
"""Small enough that 250 Hz inertial topics close a chunk several times a second."""
FLUSH_PERIOD_S = 1.0
_QOS = {
    "history": "keep_last",
    "depth": 10,
    "reliability": "reliable",
    "durability": "volatile",
    "deadline": {"sec": 9223372036, "nsec": 854775807},
    "lifespan": {"sec": 9223372036, "nsec": 854775807},
    "liveliness": "automatic",
    "liveliness_lease_duration": {"sec": 9223372036, "nsec": 854775807},
    "avoid_ros_namespace_conventions": False,
}
"""rosbag2 metadata version 9; the periods are RMW_DURATION_INFINITE (rmw/types.h)."""


class BagWriter:
    """The only writer of one bag folder; not thread-safe.

    With `overwrite` an existing bag is replaced; otherwise an existing folder is an error. A bag
    that is not `is_live` is read after its end only: the same messages give the same bytes, however
    long they take. With `compression` "zstd" its chunks are compressed, without loss.

    Raises
    ------
    UserError
        If the folder exists or cannot be made, or the disk is full.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        is_live: bool = True,
        compression: str = "none",
    ) -> None:
        if compression not in COMPRESSIONS:
            raise ValueError(f"compression must be one of {COMPRESSIONS}, got '{compression}'")
        self.path = Path(path)
        if self.path.exists():
            if not overwrite:
                raise UserError(f"{self.path}: exists already; name another folder or remove it")
            if not (self.path / "metadata.yaml").is_file():
                raise UserError(f"{self.path}: exists and is not a bag; name another folder")
            shutil.rmtree(self.path)
        self._file_name = f"{self.path.name}_0.mcap"
        self._topics: dict[str, tuple[int, str, bool]] = {}
        self._has_new_topics, self._is_live = False, is_live
        self._last_flush_s = time.monotonic()
        try:
            self.path.mkdir(parents=True)
            self._stream = open(self.path / self._file_name, "wb")  # noqa: SIM115
        except OSError as error:
            raise _disk_error(self.path, error) from error
        self._file = McapWriter(
            self._stream,
            chunk_size=CHUNK_SIZE_BYTES,
            profile="ros2",
            library="aerotwin",
            is_compressed=compression != "none",
        )
        self._is_open = True
        self._write_metadata()

    def __enter__(self) -> "BagWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def add_topic(self, name: str, msgtype: str, *, latched: bool = False) -> None:
        """Declare a topic; repeating the same declaration is harmless.

        Raises
        ------
        ValueError
            If the topic is declared with another type.
        """
        if name in self._topics:
            if self._topics[name][1] != msgtype:
                raise ValueError(f"topic {name} is {self._topics[name][1]}, got {msgtype}")
            return
        assert self._is_open, "the bag is closed"
        schema = self._file.add_schema(msgtype, "ros2msg", _definition(msgtype))
        metadata = {
            "offered_qos_profiles": _qos_text(latched),
            "topic_type_hash": _digest(msgtype),
        }
        channel = self._file.add_channel(name, "cdr", schema, metadata)
        self._topics[name] = (channel, msgtype, latched)
        self._has_new_topics = True

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Write an MCAP metadata record about the whole recording: texts by name.

        Raises
        ------
        UserError
            If the disk is full.
        """
        assert self._is_open, "the bag is closed"
        try:
            self._file.add_metadata(name, values)
        except OSError as error:
            self._abandon()
            raise _disk_error(self.path, error) from error

    def write(self, topic: str, stamp_ns: int, cdr: bytes) -> None:
        """Append one serialised message received at stamp_ns [ns, simulated].

        Raises
        ------
        KeyError
            If the topic was not declared.
        UserError
            If the disk is full.
        """
        assert self._is_open, "the bag is closed"
        try:
            self._file.add_message(self._topics[topic][0], stamp_ns, cdr)
            if self._is_live and time.monotonic() - self._last_flush_s > FLUSH_PERIOD_S:
                self.flush()
        except OSError as error:
            self._abandon()
            raise _disk_error(self.path, error) from error

    def outlet(self, topic: str, layout: "FixedLayout") -> "Callable[[int, int, Values], None]":
        """Return what appends a message of fixed layout: when it was received, stamp [ns], numbers.

        They are copied. Messages are flushed with those that are written whole.

        Raises
        ------
        KeyError
            If the topic was not declared.
        UserError
            From the returned function: if the disk is full.
        """
        return self._guarded(self._file.outlet(self._topics[topic][0], layout))

    def block_outlet(
        self, topics: Sequence[str], layouts: "Sequence[FixedLayout]"
    ) -> "Callable[[int, int, np.ndarray], None]":
        """Return what appends a message to each of several topics, as `outlet`.

        A row of the numbers (n, k) is for each.
        """
        channels = [self._topics[topic][0] for topic in topics]
        return self._guarded(self._file.block_outlet(channels, layouts))

    def _guarded(self, add: "Callable[[int, int, Any], None]") -> "Callable[[int, int, Any], None]":
        def write(received_ns: int, stamp_ns: int, values: Any) -> None:
            assert self._is_open, "the bag is closed"
            try:
                add(received_ns, stamp_ns, values)
            except OSError as error:
                self._abandon()
                raise _disk_error(self.path, error) from error

        return write

    def flush(self) -> None:
        """Close the open chunk and pass everything to the operating system."""
        self._last_flush_s = time.monotonic()
        if self._is_open:
            self._file.flush()
            if self._has_new_topics:  # once for a whole fleet, not for each vehicle
                self._write_metadata()

    def close(self) -> None:
        """Write the index and the final metadata; a second call does nothing.

        Raises
        ------
        UserError
            If the disk is full; what was flushed before stays readable.
        """
        if not self._is_open:
            return
        self._is_open = False
        try:
            self._file.finish()
            self._stream.close()
            self._write_metadata()
        except OSError as error:
            self._abandon()
            raise _disk_error(self.path, error) from error
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Close a file that can no longer be written; what was flushed stays readable."""
        self._is_open = False
        with contextlib.suppress(OSError):
            self._stream.close()

    def _write_metadata(self) -> None:
        start, end = self._file.span_ns or (0, 0)
        n_messages = sum(self._file.counts.values())
        span = {
            "duration": {"nanoseconds": end - start},
            "starting_time": {"nanoseconds_since_epoch": start},
            "message_count": n_messages,
        }
        information: dict[str, Any] = {
            "version": 9,
            "storage_identifier": "mcap",
            "relative_file_paths": [self._file_name],
            **span,
            "topics_with_message_count": [self._topic_entry(name) for name in self._topics],
            "compression_format": "",
            "compression_mode": "",
            "files": [{"path": self._file_name, **span}],
            "custom_data": None,
            "ros_distro": "jazzy",
        }
        content = {"rosbag2_bagfile_information": information}
        text = yaml.dump(content, Dumper=PlainDumper, sort_keys=False)
        temporary = self.path / "metadata.yaml.tmp"
        try:
            temporary.write_text(text, encoding="utf-8")
            os.replace(temporary, self.path / "metadata.yaml")
        except OSError as error:
            raise _disk_error(self.path, error) from error
        self._has_new_topics = False

    def _topic_entry(self, name: str) -> dict[str, Any]:
        channel, msgtype, latched = self._topics[name]
        return {
            "topic_metadata": {
                "name": name,
                "type": msgtype,
                "serialization_format": "cdr",
                "offered_qos_profiles": [_qos(latched)],
                "type_description_hash": _digest(msgtype),
            },
            "message_count": self._file.counts.get(channel, 0),
        }


def _qos(latched: bool) -> dict[str, Any]:
    durability = "transient_local" if latched else "volatile"
    return {**_QOS, "durability": durability}


@cache
def _qos_text(latched: bool) -> str:
    return yaml.safe_dump([_qos(latched)])


@cache
def _definition(msgtype: str) -> bytes:
    return TYPESTORE.generate_msgdef(msgtype, ros_version=2)[0].encode()


@cache
def _digest(msgtype: str) -> str:
    return TYPESTORE.hash_rihs01(msgtype)


def _disk_error(path: Path, error: OSError) -> UserError:
    reason = error.strerror or str(error)
    return UserError(
        f"{path}: the bag cannot be written ({reason}); free space or name another place"
    )
