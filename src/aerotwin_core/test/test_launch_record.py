# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A run folder says by which launch it was made, if it was."""

from aerotwin_core.documents import read_json
from aerotwin_core.launch_record import LAUNCH_RECORD, record_environment, write_launch_record


def test_a_launch_is_recorded_and_nothing_is_without_one(tmp_path):
    write_launch_record(tmp_path, {})
    assert [*tmp_path.iterdir()] == []
    write_launch_record(tmp_path, record_environment("sitl_flight", {"name": "a b"}))
    record = read_json(tmp_path / LAUNCH_RECORD, max_bytes=1000)
    assert record == {"launch_file": "sitl_flight", "arguments": {"name": "a b"}}
