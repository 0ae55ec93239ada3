# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An ament prefix whose programs only write down how they were started."""

import sys

import pytest

RECORDER = f"""#!{sys.executable} -ISE
import json, os, sys, time
files = [(sys.argv[i + 1], open(sys.argv[i + 1]).read())
         for i, word in enumerate(sys.argv) if word == "--params-file"]
record = dict(argv=sys.argv, environment=dict(os.environ), folder=os.getcwd(), files=files,
              pid=os.getpid(), parent=os.getppid())
name = f"{{time.time_ns()}}-{{os.getpid()}}.json"
with open(os.path.join(os.environ["RECORDER_FOLDER"], name), "w") as file:
    json.dump(record, file)
"""


def make_prefix(prefix, executables):
    """Make an ament prefix whose executables only write down how they were started."""
    for package, executable in executables:
        marker = prefix / "share/ament_index/resource_index/packages" / package
        recorder = prefix / "lib" / package / executable
        for path in (marker, recorder):
            path.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
        recorder.write_text(RECORDER)
        recorder.chmod(0o755)
    return prefix


@pytest.fixture
def prefix_of(tmp_path):
    """Make a prefix with the given (package, executable) pairs."""
    return lambda executables: make_prefix(tmp_path / "prefix", executables)
