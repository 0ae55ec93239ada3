# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags made by other writers: `mcap` and plain SQLite."""

import sqlite3

import pytest
from mcap.writer import Writer

from aerotwin_core import messages
from aerotwin_core.messages import TYPESTORE

POSE = "geometry_msgs/msg/PoseStamped"
POSE_TEXT = TYPESTORE.generate_msgdef(POSE, ros_version=2)[0]


def _pose(k: int) -> bytes:
    return messages.serialize(messages.pose_stamped_message(k, "map", [k, 0, 0], [0, 0, 0, 1]))


def _write_mcap(path, entries, *, schema=(POSE, "ros2msg", POSE_TEXT), encoding="cdr", **options):
    with path.open("wb") as stream:
        writer = Writer(stream, **options)
        writer.start(profile="ros2")
        number = writer.register_schema(schema[0], schema[1], schema[2].encode())
        channels = {}
        for topic, stamp, data in entries:
            if topic not in channels:
                channels[topic] = writer.register_channel(topic, encoding, number)
            writer.add_message(channels[topic], stamp, data, stamp)
        writer.finish()


def _write_sqlite(path, entries, *, msgtype=POSE, is_wal=False):
    base = sqlite3.connect(path)
    if is_wal:
        base.execute("PRAGMA journal_mode=WAL")
    base.executescript(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, "
        "serialization_format TEXT, offered_qos_profiles TEXT);"
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, "
        "data BLOB); CREATE INDEX timestamp_idx ON messages (timestamp ASC);"
    )
    numbers = {}
    for topic, stamp, data in entries:
        if topic not in numbers:
            numbers[topic] = len(numbers) + 1
            values = numbers[topic], topic, msgtype
            base.execute("INSERT INTO topics VALUES(?, ?, ?, 'cdr', '')", values)
        values = numbers[topic], stamp, data
        base.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, ?)", values)
    base.commit()
    return base


@pytest.fixture
def pose():
    """Return a function that gives the k-th PoseStamped as CDR."""
    return _pose


@pytest.fixture
def write_mcap():
    """Return a function that writes (topic, stamp, data) as MCAP."""
    return _write_mcap


@pytest.fixture
def write_sqlite():
    """Return a function that writes (topic, stamp, data) as SQLite and gives the open base."""
    return _write_sqlite
