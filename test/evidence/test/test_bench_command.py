# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`evidence bench` when it is asked to end."""

import signal
import subprocess

import psutil
import pytest

from aerotwin_core.child_python import python_command
from evidence.child import environment


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.flying
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_launched_flight_ends_with_it_and_one_line_says_so(number, code):
    command = python_command("-m", "evidence", "bench", "flight")
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        shown = ""
        for line in process.stdout:
            shown += line
            if "waiting until it can arm" in line:
                break
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        output, _ = process.communicate(timeout=60.0)
    assert process.returncode == code, shown + output
    word = "interrupted" if number == signal.SIGINT else "terminated"
    assert output.splitlines()[-1] == f"evidence bench: {word}"
    assert "Traceback" not in output
    assert children and not any(child.is_running() for child in children)
