# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates maps for another process: `python -m aerotwin_run_evaluation.map_worker FD`.

FD is one end of a socket, on which `MapProcess` sends the meshes of a world and then maps. It ends
when the other end is closed, whatever it computes, and so leaves nothing behind.
"""

import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any

from aerotwin_core.errors import UserError


def main() -> None:
    """Prepare for the world, then evaluate each map and send steps and result."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    connection = Connection(int(sys.argv[1]))
    received: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_receive, args=(connection, received), name="receive", daemon=True).start()
    from aerotwin_run_evaluation.run_map import MapJudge  # seconds

    judge = MapJudge(received.get())
    if received.empty():  # during a flight
        judge.prepare()
    while True:
        try:
            answer: Any = judge.judge(received.get(), connection.send)
        except UserError as error:
            answer = UserError(str(error))
        connection.send(answer)


def _receive(connection: Connection, received: "SimpleQueue[Any]") -> None:
    with suppress(EOFError, OSError):
        while True:
            received.put(connection.recv())
    os._exit(0)


if __name__ == "__main__":
    main()
