# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags of ROS 1: `recording.bag` with the topics of a bag, converted by the library `rosbags`.

Messages whose fields are the same in both come back byte for byte but for the counter of their
header, which ROS 2 does not have. ROS 1 knows no battery temperature and the like: such topics are
converted and also kept as they are.
"""

import bz2
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import lz4.frame
from rosbags.convert.converter import generate_message_converter, is_same_wireformat
from rosbags.rosbag1 import Reader, ReaderError, Writer
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, TypesysError, get_types_from_msg, get_typestore

from aerotwin_core.bag import BagWriter
from aerotwin_core.bag.compression import (
    CompressionError,
    decompress,
    most_at_once,
    most_in_all,
)
from aerotwin_core.cli import progress
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import shown
from aerotwin_core.limits import check_is_file, check_memory, file_size
from aerotwin_core.messages import TYPESTORE
from aerotwin_datasets.calibration import calibration_of
from aerotwin_datasets.manifest import write_manifest
from aerotwin_datasets.recording import Recording
from aerotwin_datasets.settings import write_settings
from aerotwin_datasets.tables import LAST_STAMP_NS

FORM, NAME = "rosbag1", "recording.bag"
_TRANSFORMS = "tf2_msgs/msg/TFMessage"
_ROS1 = get_typestore(Stores.ROS1_NOETIC)
_ROS1.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", _TRANSFORMS))
_COPIES = 4
"""Of a chunk while its messages are read."""


def write_rosbag1(recording: Recording, folder: Path) -> tuple[list[str], list[str]]:
    """Write all topics; return those that are held byte for byte, and what was left out."""
    source, cache = recording.bag, dict[str, object]()
    problems, held, converters = [], [], {}
    with Writer(folder / NAME) as bag:
        connections = {}
        for topic, kind in sorted(source.topics.items()):
            if kind not in _ROS1.types or kind not in TYPESTORE.types:
                problems.append(f"topic {topic}: ROS 1 has no {kind}; left out")
                continue
            connections[topic] = bag.add_connection(
                topic, kind, typestore=_ROS1, latching=int(topic.endswith("static"))
            )
            converters[topic] = generate_message_converter(
                TYPESTORE, _ROS1, kind, kind, cache, src_is2=True, dst_is2=False
            )
            if is_same_wireformat(TYPESTORE, _ROS1, kind, kind):
                held.append(topic)
        total = sum(recording.counts[topic] for topic in connections)
        with progress(total, "writing the data set", unit="message") as bar:
            # Readers of these bags order what has one stamp by topic.
            for stamp, group in groupby(recording.raw(list(connections)), key=itemgetter(1)):
                for topic, _, cdr in sorted(group, key=itemgetter(0)):
                    bag.write(connections[topic], stamp, converters[topic](cdr))
                    bar.update(1)
    cameras = [camera for camera in recording.cameras if not camera.is_depth]
    if cameras or recording.clouds:
        calibration = calibration_of(recording, cameras, recording.rate_hz)
        problems += write_settings(folder, calibration)
    write_manifest(folder, FORM, recording, {f"cam{k}": c for k, c in enumerate(cameras)})
    return held, problems


def read_rosbag1(path: Path, bag: BagWriter, skip: set[str]) -> tuple[dict[str, int], list[str]]:
    """Copy the messages of a bag of ROS 1; return their counts by topic, and what was left out.

    Topics of `skip` come from elsewhere.

    Raises `UserError` if it is no such bag, or damaged.
    """
    check_is_file(path)
    if not path.is_file():
        raise UserError(f"{path}: no file; give a bag of ROS 1, or the folder with {NAME}")
    cache, counts, problems = dict[str, object](), dict[str, int](), list[str]()
    try:
        n_bytes = file_size(path)
        with Reader(path) as reader:
            _limit(reader, n_bytes)
            converters = {}
            for connection in reader.connections:
                kind, topic = connection.msgtype, connection.topic
                if topic in skip:
                    continue
                if kind not in TYPESTORE.types or kind not in _ROS1.types:
                    problems.append(f"topic {topic}: {kind} is no standard type; left out")
                    continue
                digest = _ROS1.generate_msgdef(kind, ros_version=1)[1]
                if connection.digest not in (digest, "*"):
                    problems.append(
                        f"topic {topic}: its {kind} has other fields than the standard one "
                        f"({shown(connection.digest)}, not {digest}); left out"
                    )
                    continue
                bag.add_topic(topic, kind, latched=topic.endswith("static"))
                converters[connection.id] = generate_message_converter(
                    _ROS1, TYPESTORE, kind, kind, cache, src_is2=False, dst_is2=True
                )
            wanted = [each for each in reader.connections if each.id in converters]
            n_left = sum(each.msgcount for each in wanted)
            with progress(n_left, "writing the bag", unit="message") as bar:
                for connection, stamp, data in reader.messages(wanted) if wanted else ():
                    check_memory(
                        _COPIES * len(data),
                        file_bytes=n_bytes,
                        where=path,
                        what="a message's bytes",
                    )
                    if not 0 <= stamp <= LAST_STAMP_NS:
                        raise UserError(f"{path}: topic {connection.topic}: stamp {stamp} ns")
                    bag.write(connection.topic, stamp, bytes(converters[connection.id](data)))
                    counts[connection.topic] = counts.get(connection.topic, 0) + 1
                    bar.update(1)
    except UserError:
        raise
    except (ReaderError, SerdeError, TypesysError, OSError, ValueError, KeyError, IndexError,
            AssertionError, EOFError, RuntimeError) as error:  # fmt: skip
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise UserError(f"{path}: no bag of ROS 1 that can be read ({reason})") from None
    return counts, problems


def _limit(reader: Reader, n_bytes: int) -> None:
    """Let no more come out of compressed chunks than `aerotwin_core.bag.compression` allows."""
    n_left = most_in_all(n_bytes)

    def unpacked(data: bytes, kind: str) -> bytes:
        nonlocal n_left
        found = _unpack_bz2(data) if kind == "bz2" else decompress(data, kind)
        n_left -= len(found)
        if n_left < 0:
            raise CompressionError("its chunks unpack to more than is read")
        return found

    kinds = {bz2.decompress: "bz2", lz4.frame.decompress: "lz4"}
    for position, chunk in reader.chunks.items():
        kind = kinds.get(chunk.decompressor)
        if kind is not None:
            reader.chunks[position] = chunk._replace(decompressor=partial(unpacked, kind=kind))


def _unpack_bz2(data: bytes) -> bytes:
    limit = most_at_once(len(data))
    found = bz2.BZ2Decompressor().decompress(data, max_length=limit + 1)
    if len(found) > limit:
        raise CompressionError(f"more than {limit} bytes come out of {len(data)}")
    return found
