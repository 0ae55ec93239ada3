# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An autopilot process: started in its own group, pinned, logged, and always stopped."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge import spawn

_STOP_SIGNALS = ((signal.SIGINT, 2.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 2.0))
_LOG_TAIL_BYTES = 4096
_LOG_TAIL_LINES = 3


class AutopilotProcess:
    """One autopilot program.

    It runs in a process group of its own (Ctrl-C in the terminal does not reach it), is killed by
    the kernel when this process dies, and writes to a log file. The kernel ties a process to the
    thread that started it: start it from a thread that lives as long as the flight, best the main
    thread.

    A missing working directory `cwd` is created, `environment` is added to that of this process,
    `cpu` is the one core it may use (None for any), `inherited` are sockets that stay open in it,
    and `name` is its name in messages.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log_path: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        cpu: int | None = None,
        inherited: Sequence[socket.socket] = (),
        name: str = "autopilot",
    ) -> None:
        self.command = list(command)
        self.log_path = Path(log_path)
        self.cwd = None if cwd is None else Path(cwd)
        self.environment = dict(environment or {})
        self.cpu = cpu
        self.inherited = inherited
        self.name = name
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Process id, None before the start."""
        return None if self._process is None else self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the program.

        Raises
        ------
        UserError
            If the program does not exist.
        """
        program = self.command[0]
        if shutil.which(program) is None:
            raise UserError(f"{self.name}: program {program} not found; build or install it")
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        if self.cwd is not None:
            self.cwd.mkdir(parents=True, exist_ok=True)
        cpu = "-" if self.cpu is None else str(self.cpu)
        become = [sys.executable, "-I", "-S", spawn.__file__, str(os.getpid()), cpu]
        with self.log_path.open("wb") as log:
            self._process = subprocess.Popen(
                [*become, *self.command],
                cwd=self.cwd,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
                pass_fds=[each.fileno() for each in self.inherited],
            )

    def stop(self) -> None:
        """End it and every process of its group, within five seconds."""
        process = self._process
        if process is None:
            return
        for number, patience_s in _STOP_SIGNALS:
            if process.poll() is not None:
                break
            self._signal(number)
            self._signal(signal.SIGCONT)  # a stopped process must run to end
            try:
                process.wait(patience_s)
            except subprocess.TimeoutExpired:
                continue
        self._signal(signal.SIGKILL)  # remaining processes of the group

    def describe_end(self) -> str:
        """Return how it ended, as text, with the last lines of its log."""
        if self._process is None:
            return f"{self.name} was never started"
        status = self._process.poll()
        if status is None:
            return f"{self.name} is running"
        if status < 0:
            end = f"was killed by {signal.Signals(-status).name}"
        else:
            end = f"exited with code {status}"
        return f"{self.name} {end}; its log {self.log_path} ends: {self._log_tail()}"

    def check(self) -> None:
        """Raise UserError when it has ended.

        Meant as `on_wait` of `HilLink.accept`: a failed start is reported at once.
        """
        if self._process is not None and self._process.poll() is not None:
            raise UserError(self.describe_end())

    def __enter__(self) -> "AutopilotProcess":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                return

    def _log_tail(self) -> str:
        try:
            with self.log_path.open("rb") as log:
                log.seek(max(self.log_path.stat().st_size - _LOG_TAIL_BYTES, 0))
                lines = log.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return "(no log)"
        said = [line.strip() for line in lines if line.strip()]
        return " | ".join(said[-_LOG_TAIL_LINES:]) or "(empty)"
