# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A call in a thread of its own: its result, its exception, and a process that ends meanwhile."""

import subprocess
import sys
import threading

import pytest

from aerotwin_core.child_python import python_command
from aerotwin_core.threads import in_background

ENDS_MEANWHILE = """
import threading
from aerotwin_core.threads import in_background
in_background(threading.Event().wait)
"""


def test_the_call_runs_beside_its_caller():
    begun = threading.Event()

    def call() -> str:
        assert begun.wait(10.0)
        return threading.current_thread().name

    result = in_background(call)
    begun.set()
    assert result() == result() == "background"


def test_an_exception_is_raised_where_the_result_is_asked_for():
    result = in_background(lambda: [].pop())
    for _ in range(2):
        with pytest.raises(IndexError, match="pop from empty list"):
            result()


def test_a_time_out_of_the_call_is_no_wait_of_its_caller():
    def call() -> None:
        raise TimeoutError("the server is silent")

    with pytest.raises(TimeoutError, match="silent"):
        in_background(call)()


def test_the_end_of_the_process_does_not_wait():
    command = python_command("-c", ENDS_MEANWHILE)
    assert command[0] == sys.executable
    assert subprocess.run(command, timeout=30.0, check=False).returncode == 0
