# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Launched processes can record the launch file and the arguments that started them."""

import subprocess

from aerotwin_core.child_python import python_command
from aerotwin_core.documents import read_json
from aerotwin_core.launch_record import LAUNCH_RECORD

PROGRAM = """
from pathlib import Path
from aerotwin_core.launch_record import write_launch_record
write_launch_record(Path("."))
"""
FILE = """
launch:
  - arg: {name: world, default: cliff}
  - executable: {cmd: sh run.sh, cwd: $(dirname)}
"""


def test_a_launched_process_records_what_the_launch_was_given(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "run.sh").write_text(" ".join(python_command("program.py")))
    (tmp_path / "trip.launch.yaml").write_text(FILE)
    words = [str(tmp_path / "trip.launch.yaml"), "world:=a b"]
    command = python_command("-m", "aerotwin_core.cli", "launch", *words)
    subprocess.run(command, check=True, timeout=60.0)
    record = read_json(tmp_path / LAUNCH_RECORD, max_bytes=1000)
    assert record == {"launch_file": "trip", "arguments": {"world": "a b"}}
