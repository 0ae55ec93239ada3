# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ULog files against what pyulog's own tests expect of them."""

import re

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.ulog import read_ulog

SAMPLE = "px4/pyulog/sample.ulg"


@pytest.fixture(scope="module")
def log(shared_data):
    return read_ulog(shared_data(SAMPLE))


def test_topics_messages_and_dropouts_are_those_of_the_published_listing(log, shared_data):
    listing = shared_data("px4/pyulog/sample_info.txt").read_text(encoding="utf-8")
    rows = re.findall(r"^ (\w+) \((\d+), +\d+\) +(\d+)", listing, re.M)
    expected = {name: int(count) for name, instance, count in rows if instance == "0"}
    assert expected
    found = {name: len(fields["timestamp"]) for name, fields in log.topics.items()}
    assert {name: found[name] for name in expected} == expected
    assert log.n_dropouts == 4
    assert len(log.parameters) == 493


def test_messages_are_plain_text(log):
    assert log.messages
    assert not any("\x1b" in m.text or "\t" in m.text for m in log.messages)
    assert [m.time_us for m in log.messages] == sorted(m.time_us for m in log.messages)


def test_only_the_requested_topics_are_read(shared_data):
    topics = read_ulog(shared_data(SAMPLE), ["vehicle_attitude"]).topics
    assert set(topics) == {"vehicle_attitude"}
    q = np.array([topics["vehicle_attitude"][f"q[{i}]"] for i in range(4)])
    assert np.linalg.norm(q, axis=0) == pytest.approx(1.0, abs=1e-5)  # float32


def test_what_is_no_ulog_is_reported(tmp_path):
    path = tmp_path / "a.ulg"
    path.write_bytes(b"not a log")
    with pytest.raises(UserError, match=r"a\.ulg: expected a ULog file"):
        read_ulog(path)
    with pytest.raises(UserError, match="there is no such file"):
        read_ulog(tmp_path / "none.ulg")
