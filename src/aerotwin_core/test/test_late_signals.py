# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A stop signal that does not interrupt what the main thread waits for ends it all the same."""

import signal
import subprocess
import sys

import pytest

from aerotwin_core.child_python import python_command

# Another thread receives the signal: as when it arrives just before the main thread waits, nothing
# interrupts the wait.
PROGRAM = """
import signal, sys, threading
from aerotwin_core.stop_request import Terminated, deliver_lost_interrupts, raising_on_sigterm

deliver_lost_interrupts()
threading.Thread(target=signal.pause, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
with raising_on_sigterm():
    try:
        print("waiting", flush=True)
        threading.Event().wait()
    except Terminated:
        sys.exit(143)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_wait_that_misses_the_signal_is_ended(number, code):
    command = python_command("-c", PROGRAM)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(number)
        try:
            assert process.wait(timeout=60.0) == code
        finally:
            process.kill()
