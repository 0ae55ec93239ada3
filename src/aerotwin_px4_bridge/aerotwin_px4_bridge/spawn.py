# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Become another program that dies with its parent: `python -I spawn.py PARENT CPU COMMAND …`.

Run in the child between fork and exec, as a program of its own, because code between fork and exec
of a threaded process (`preexec_fn`) may deadlock. CPU is a number or `-` for any.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
NOT_FOUND = 127


def main(arguments: list[str]) -> int:
    """Tie this process to its parent, pin it and exec the command; return only on failure."""
    parent, cpu, *command = arguments
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):  # it died before the line above
        return 1
    if cpu != "-":
        os.sched_setaffinity(0, {int(cpu)})
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
    return NOT_FOUND


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
